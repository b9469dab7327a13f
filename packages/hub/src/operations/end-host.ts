/** Eviction and removal: the two ends of a host (design 3, States of a host). */

import { RollcallError } from '@rollcall/core/errors';
import type { HostChangeAnswer } from '@rollcall/wire';
import type { Hub } from '../hub.ts';
import { MASTER } from '../live-generations.ts';
import { refresh } from '../refresh.ts';
import { type Actor, type AuditEntry, appendAudit } from '../store/audit.ts';
import { deleteCertificates } from '../store/certificates.ts';
import { killEnrolmentTokens } from '../store/enrolment-tokens.ts';
import { listUndestroyed } from '../store/generations.ts';
import { deleteHostTokens } from '../store/host-tokens.ts';
import { type HostRecord, updateHost } from '../store/hosts.ts';
import { deleteObserved, deletePendings, deletePin } from '../store/pins.ts';
import { findRunning, updateRotation } from '../store/rotations.ts';
import { deleteRungRules } from '../store/rung-rules.ts';
import type { Tx } from '../store/schema.ts';
import { listHeldTokens, removeHolder } from '../store/tokens.ts';
import { type MendedHost, mendRows } from './begin-anew.ts';
import { heldSecrets } from './known-master.ts';
import { dropUnheld } from './token/issue-token-steps.ts';

/** All credentials of the host die; with `ban` it may not enrol again either. */
export function evictHost(hub: Hub, id: string, ban: boolean, actor: Actor): Promise<HostChangeAnswer> {
  return end(hub, id, async (tx, { host, mended }) => {
    if (host.status === 'evicted' && (host.banned === 1 || !ban)) throw new RollcallError('host_evicted', { host: id });
    await record(hub, tx, { action: 'host.evicted', host, actor, details: { ban, mended } });
    // Its derived keys die with its life; so they stay dead if it is ever enrolled again.
    return { ...host, status: 'evicted', banned: ban ? 1 : host.banned, life: host.life + 1 };
  });
}

/** The host leaves the roll. Its life counts on, should the id be added again. */
export function removeHost(hub: Hub, id: string, actor: Actor): Promise<HostChangeAnswer> {
  return end(hub, id, async (tx, { host, mended }) => {
    const rotation = await findRunning(tx, hub.vault, MASTER);
    // Removing during a rotation is leaving someone behind, and recorded as that.
    const isLeft = rotation !== undefined && !rotation.left.includes(id) && (host.proven_version ?? 0) < rotation.to;
    if (isLeft) {
      await updateRotation(tx, hub.vault, { ...rotation, left: [...rotation.left, id].sort() }, rotation.phase);
    }
    const leftTokens = await leaveTokens(hub, tx, id);
    const details = { leftInRotation: isLeft, leftInTokens: leftTokens, mended };
    // What was decided for this host alone is not decided for whoever is added under its id.
    await deleteRungRules(tx, id);
    await record(hub, tx, { action: 'host.removed', host, actor, details });
    return { ...host, status: 'removed', banned: 0 };
  });
}

async function end(
  hub: Hub,
  id: string,
  decide: (tx: Tx, found: MendedHost) => Promise<HostRecord>,
): Promise<HostChangeAnswer> {
  const { after, held } = await hub.db.transaction().execute(async (tx) => {
    const tokens = await listHeldTokens(tx, hub.vault, id);
    // Rows that cannot be read are no reason to keep a host: this is how one gets rid of them.
    const host = await decide(tx, await mendRows(hub, tx, id));
    const ended: HostRecord = {
      ...host,
      former_life_until: null,
      approved_fingerprint: null,
      first_use_fingerprint: null,
      first_use_until: null,
      proven_version: null,
    };
    await updateHost(tx, hub.vault, ended);
    await killEnrolmentTokens(tx, id);
    await deletePin(tx, id);
    await deleteCertificates(tx, id);
    await deleteHostTokens(tx, id);
    await deletePendings(tx, id);
    await deleteObserved(tx, id);
    const generations = await listUndestroyed(tx, hub.vault, MASTER);
    return { after: ended, held: [...heldSecrets(ended, generations, hub.clock.now()), ...tokens] };
  });
  hub.tokenReports.forget(id);
  await refresh(hub);
  hub.nudgeRotation();
  // Derived keys are the host's own, and dead with its life; what it knows beside them is listed.
  return { host: id, status: after.status, life: after.life, heldSecrets: held };
}

/** It holds them no more, and counts as left in each walk that it is taken out of. Returns the secrets of those. */
async function leaveTokens(hub: Hub, tx: Tx, id: string): Promise<readonly string[]> {
  const left: string[] = [];
  for (const secret of await listHeldTokens(tx, hub.vault, id)) {
    if (await removeHolder(tx, secret, id)) await dropUnheld(hub, tx, secret, [id]);
    const rotation = await findRunning(tx, hub.vault, secret);
    if (rotation === undefined || rotation.left.includes(id)) continue;
    await updateRotation(tx, hub.vault, { ...rotation, left: [...rotation.left, id].sort() }, rotation.phase);
    left.push(secret);
  }
  return left;
}

async function record(
  hub: Hub,
  tx: Tx,
  change: { action: string; host: HostRecord; actor: Actor; details: NonNullable<AuditEntry['details']> },
): Promise<void> {
  const { action, host, actor, details } = change;
  await appendAudit(tx, {
    at: hub.clock.now(),
    actor,
    action,
    target: host.id,
    outcome: 'done',
    details: { formerStatus: host.status, formerLife: host.life, ...details },
  });
}
