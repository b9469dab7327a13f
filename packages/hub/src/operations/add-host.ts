/** Putting a host on the roll, and issuing the token that it enrols with (design 3, Enrolment). */
import { encodeHex } from '@rollcall/core/bytes';
import { RollcallError } from '@rollcall/core/errors';
import { encodeEnrolmentToken, enrolmentKey, parseHostId, SecretBytes } from '@rollcall/core/keys';
import { limits } from '@rollcall/core/limits';
import { assertTimeTrusted } from '@rollcall/core/rotation';
import type { AddHostAnswer, AddHostBody } from '@rollcall/wire';
import type { Hub } from '../hub.ts';
import { MASTER } from '../live-generations.ts';
import { type Actor, appendAudit } from '../store/audit.ts';
import { insertEnrolmentToken, killEnrolmentTokens } from '../store/enrolment-tokens.ts';
import { listUndestroyed } from '../store/generations.ts';
import { findFolded, findHost, type HostRecord, insertHost, readHost, updateHost } from '../store/hosts.ts';
import type { Tx } from '../store/schema.ts';
import { issueMasterStep } from './issue-master-step.ts';
import { versionKnownByFleet } from './known-master.ts';

export async function addHost(hub: Hub, body: AddHostBody, actor: Actor): Promise<AddHostAnswer> {
  const answer = await hub.db.transaction().execute(async (tx) => {
    const { id: host, life } = await putOnRoll(hub, tx, body, actor);
    if (body.existing === true) return { host, life };
    return { host, life, ...(await issueToken(hub, tx, host, body.tokenLifeMs)) };
  });
  await hub.roll.reload(answer.host);
  return answer;
}

/** The host's row, its first step and the record of both. Errors: `malformed_host_id`, `host_exists`, `master_missing`. */
export async function putOnRoll(hub: Hub, tx: Tx, body: AddHostBody, actor: Actor): Promise<HostRecord> {
  const id = parseHostId(body.host);
  assertTimeTrusted(hub.clock.read());
  const now = hub.clock.now();
  const taken = await findFolded(tx, id.toLowerCase());
  if (taken !== undefined) throw new RollcallError('host_exists', { host: taken.id });
  const former = await findHost(tx, hub.vault, id);
  const host: HostRecord = {
    id,
    folded: id.toLowerCase(),
    // A host of an older fleet is here already; it is accepted by the rungs that policy allows (design 3).
    status: body.existing === true ? 'active' : 'invited',
    reach: body.reach ?? 'pull',
    address: body.address ?? null,
    life: former === undefined ? 1 : former.life + 1,
    former_life_until: null,
    banned: 0,
    approved_fingerprint: null,
    first_use_fingerprint: null,
    first_use_until: null,
    proven_version: null,
    added_at: now,
    // Taking it off the roll took nothing from its memory.
    knows_master: body.existing === true ? await knownVersion(hub, tx) : (former?.knows_master ?? null),
  };
  await (former === undefined ? insertHost : updateHost)(tx, hub.vault, host);
  await issueMasterStep(hub, tx, id, false);
  await appendAudit(tx, {
    at: now,
    actor,
    action: 'host.added',
    target: id,
    outcome: 'done',
    details: { life: host.life, existing: body.existing === true, reach: host.reach },
  });
  return host;
}

async function knownVersion(hub: Hub, tx: Tx): Promise<number | null> {
  return versionKnownByFleet(await listUndestroyed(tx, hub.vault, MASTER));
}

/** `host reenrol`: redeeming the token replaces the pin, because an operator said so. */
export async function reenrolHost(
  hub: Hub,
  id: string,
  tokenLifeMs: number | undefined,
  actor: Actor,
): Promise<AddHostAnswer> {
  assertTimeTrusted(hub.clock.read());
  return hub.db.transaction().execute(async (tx) => {
    const host = await readHost(tx, hub.vault, id);
    if (host.status === 'suspended') throw new RollcallError('host_suspended', { host: id });
    if (host.banned === 1) throw new RollcallError('host_banned', { host: id });
    const token = await issueToken(hub, tx, id, tokenLifeMs);
    await appendAudit(tx, {
      at: hub.clock.now(),
      actor,
      action: 'host.reenrolment_offered',
      target: id,
      outcome: 'done',
      details: { expiresAt: token.expiresAt },
    });
    return { host: id, life: host.life, ...token };
  });
}

/** One live token per host: issuing another kills the earlier ones. */
async function issueToken(
  hub: Hub,
  tx: Tx,
  host: string,
  lifeMs: number = limits.enrolmentTokenDefaultMs,
): Promise<{ token: string; expiresAt: string }> {
  if (lifeMs > limits.enrolmentTokenMaxMs) {
    throw new RollcallError('window_out_of_bounds', { maxMs: limits.enrolmentTokenMaxMs });
  }
  await killEnrolmentTokens(tx, hub.vault, host);
  const expiresAtMs = hub.clock.now() + lifeMs;
  const secret = new SecretBytes('enrolment', hub.random(32));
  await insertEnrolmentToken(tx, hub.vault, {
    id: encodeHex(hub.random(16)),
    host,
    key: enrolmentKey(secret),
    expires_at: expiresAtMs,
    state: 'live',
    used_at: null,
    used_by: null,
  });
  const token = encodeEnrolmentToken({ ...hub.identity.hubTrust, host, secret, expiresAtMs });
  return { token, expiresAt: new Date(expiresAtMs).toISOString() };
}
