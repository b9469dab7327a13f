/** First use: measured, bounded, and off by default (design 3). */

import { decideFirstUse, type Exposure, measureExposure } from '@rollcall/core/pins';
import { assertTimeTrusted } from '@rollcall/core/rotation';
import type { AcceptFirstUseAnswer, AcceptFirstUseBody, ExposureAnswer } from '@rollcall/wire';
import type { Hub } from '../hub.ts';
import { refresh } from '../refresh.ts';
import { type Actor, appendAudit } from '../store/audit.ts';
import { type HostRecord, listRoll, putHosts } from '../store/hosts.ts';
import type { Db, Tx } from '../store/schema.ts';
import { observeFirstUse } from './observe-roll.ts';

export async function showExposure(hub: Hub): Promise<ExposureAnswer> {
  const exposure = await measure(hub, hub.db);
  const now = hub.clock.now();
  const open = (await listReadable(hub, hub.db)).filter((host) => isOpenFor(host, now));
  return {
    exposed: exposure.exposed.length,
    hosts: exposure.exposed.map(({ id, why, fingerprint, address, firstSeenAtMs }) => ({
      id,
      why,
      fingerprint,
      address,
      firstSeenAt: firstSeenAtMs === null ? null : new Date(firstSeenAtMs).toISOString(),
    })),
    eligible: [...exposure.eligible],
    examined: exposure.examined,
    firstUse: {
      until:
        open.length === 0 ? null : new Date(Math.max(...open.map((host) => host.first_use_until ?? 0))).toISOString(),
      hosts: open.length,
    },
  };
}

export async function acceptFirstUse(hub: Hub, body: AcceptFirstUseBody, actor: Actor): Promise<AcceptFirstUseAnswer> {
  const answer = await hub.db
    .transaction()
    .execute((tx) => (body.on ? turnOn(hub, tx, body, actor) : turnOff(hub, tx, actor)));
  await refresh(hub);
  return answer;
}

async function turnOn(
  hub: Hub,
  tx: Tx,
  body: Extract<AcceptFirstUseBody, { on: true }>,
  actor: Actor,
): Promise<AcceptFirstUseAnswer> {
  assertTimeTrusted(hub.clock.read());
  const exposure = await measure(hub, tx);
  const request = { exposedAcknowledged: body.exposed, untilMs: Date.parse(body.until) };
  const grant = decideFirstUse(exposure, request, hub.clock.now());
  await close(hub, tx);
  const accepted = new Map(grant.accepted.map(({ id, fingerprint }) => [id, fingerprint]));
  const granted = (await listReadable(hub, tx)).flatMap((host) => {
    const fingerprint = accepted.get(host.id);
    return fingerprint === undefined
      ? []
      : [{ ...host, first_use_fingerprint: fingerprint, first_use_until: grant.untilMs }];
  });
  await putHosts(tx, hub.vault, granted);
  await hub.clock.save(tx);
  const until = new Date(grant.untilMs).toISOString();
  await appendAudit(tx, {
    at: hub.clock.now(),
    actor,
    action: 'first_use.accepted',
    target: 'roll',
    outcome: 'done',
    details: {
      until,
      accepted: grant.accepted.map(({ id, fingerprint }) => `${id} ${fingerprint}`),
      exposed: exposure.exposed.map(({ id, why }) => `${id} ${why}`),
    },
  });
  return { until, accepted: [...grant.accepted], exposed: exposure.exposed.length };
}

async function turnOff(hub: Hub, tx: Tx, actor: Actor): Promise<AcceptFirstUseAnswer> {
  const closed = await close(hub, tx);
  await appendAudit(tx, {
    at: hub.clock.now(),
    actor,
    action: 'first_use.closed',
    target: 'roll',
    outcome: 'done',
    details: { hosts: closed },
  });
  return { until: null, accepted: [], exposed: (await measure(hub, tx)).exposed.length };
}

async function close(hub: Hub, tx: Tx): Promise<number> {
  const open = (await listReadable(hub, tx)).filter((host) => host.first_use_fingerprint !== null);
  await putHosts(
    tx,
    hub.vault,
    open.map((host) => ({ ...host, first_use_fingerprint: null, first_use_until: null })),
  );
  return open.length;
}

async function listReadable(hub: Hub, db: Db): Promise<HostRecord[]> {
  return (await listRoll(db, hub.vault)).filter((host) => host.status !== 'unreadable');
}

async function measure(hub: Hub, db: Db): Promise<Exposure> {
  const policy = { minAgeMs: hub.settings.firstUseMinAgeMs };
  return measureExposure(await observeFirstUse(hub, db), policy, hub.clock.now());
}

function isOpenFor(host: HostRecord, now: number): boolean {
  return host.first_use_fingerprint !== null && host.first_use_until !== null && now < host.first_use_until;
}
