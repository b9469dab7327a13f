/** Two machines with one identity: alert with what was seen, and not at every beat (design 3, Clones and replays). */

import { limits } from '@rollcall/core/limits';
import type { Hub } from '../hub.ts';
import { appendAudit } from '../store/audit.ts';
import type { Beat } from './receive-heartbeat.ts';

export async function recordClone(hub: Hub, { who, body, from }: Beat): Promise<void> {
  const { entry } = who;
  const other = entry.behind?.address ?? entry.address;
  entry.behind = null;
  const now = hub.clock.monotonic();
  if (entry.cloneAlertedAt !== null && now - entry.cloneAlertedAt < limits.cloneAlertMs) return;
  entry.cloneAlertedAt = now;
  hub.log.warn('two instances of one host alternate', { host: entry.id, addressBefore: other, addressNow: from });
  await hub.db.transaction().execute((tx) =>
    appendAudit(tx, {
      at: hub.clock.now(),
      actor: { id: entry.id, kind: 'host', rung: who.rung, verified: true },
      action: 'host.cloned',
      target: entry.id,
      outcome: 'refused',
      details: { instance: body.instance, addressBefore: other, addressNow: from },
    }),
  );
}
