/** Suspension: a host that is refused for a while, and keeps its place on the roll (design 3, States of a host). */

import { RollcallError } from '@rollcall/core/errors';
import type { HostChangeAnswer } from '@rollcall/wire';
import type { Hub } from '../hub.ts';
import { refresh } from '../refresh.ts';
import { type Actor, appendAudit } from '../store/audit.ts';
import { killEnrolmentTokens } from '../store/enrolment-tokens.ts';
import { type HostRecord, readHost, updateHost } from '../store/hosts.ts';
import type { Tx } from '../store/schema.ts';
import { issueMasterStep } from './issue-master-step.ts';
import { issueHeldTokens } from './token/issue-token-steps.ts';

export function suspendHost(hub: Hub, id: string, actor: Actor): Promise<HostChangeAnswer> {
  return change(hub, id, { action: 'host.suspended', actor }, async (tx, host) => {
    if (host.status !== 'active') throw new RollcallError('host_not_active', { host: id, status: host.status });
    await killEnrolmentTokens(tx, id);
    return { ...host, status: 'suspended' };
  });
}

/** It gets the assignment of this moment, whatever happened while it was away. */
export function resumeHost(hub: Hub, id: string, actor: Actor): Promise<HostChangeAnswer> {
  return change(hub, id, { action: 'host.resumed', actor }, async (tx, host) => {
    if (host.status !== 'suspended') throw new RollcallError('host_not_suspended', { host: id, status: host.status });
    await issueMasterStep(hub, tx, id);
    await issueHeldTokens(hub, tx, id);
    return { ...host, status: 'active' };
  });
}

/** It stays evicted; it may enrol again. */
export function unbanHost(hub: Hub, id: string, actor: Actor): Promise<HostChangeAnswer> {
  return change(hub, id, { action: 'host.unbanned', actor }, async (_tx, host) => {
    if (host.banned !== 1) throw new RollcallError('host_not_banned', { host: id });
    return { ...host, banned: 0 };
  });
}

async function change(
  hub: Hub,
  id: string,
  { action, actor }: { readonly action: string; readonly actor: Actor },
  decide: (tx: Tx, host: HostRecord) => Promise<HostRecord>,
): Promise<HostChangeAnswer> {
  const after = await hub.db.transaction().execute(async (tx) => {
    const changed = await decide(tx, await readHost(tx, hub.vault, id));
    await updateHost(tx, hub.vault, changed);
    await appendAudit(tx, { at: hub.clock.now(), actor, action, target: id, outcome: 'done' });
    return changed;
  });
  await refresh(hub);
  hub.nudgeRotation();
  return { host: id, status: after.status, life: after.life, heldSecrets: [] };
}
