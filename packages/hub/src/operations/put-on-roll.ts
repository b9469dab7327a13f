/** Hosts that come onto the roll: each is judged by itself, and what is the same for all of them is read once. */
import { RollcallError } from '@rollcall/core/errors';
import { parseHostId } from '@rollcall/core/keys';
import { assertTimeTrusted } from '@rollcall/core/rotation';
import { closings } from '@rollcall/core/rungs';
import type { AddHostBody } from '@rollcall/wire';
import type { Hub } from '../hub.ts';
import { MASTER } from '../live-generations.ts';
import { type Actor, appendAudits } from '../store/audit.ts';
import { listUndestroyed } from '../store/generations.ts';
import { type HostRecord, listNamesakes, putHosts } from '../store/hosts.ts';
import type { Tx } from '../store/schema.ts';
import { EVERY_MEMBER, listHeldTokens } from '../store/tokens.ts';
import { issueMasterSteps } from './issue-master-step.ts';
import { versionKnownByFleet } from './known-master.ts';
import { takeBack } from './rotation/take-back.ts';
import { issueTokenSteps } from './token/issue-token-steps.ts';

/** One after the other, so that two of the same id are told. Throws `malformed_host_id`, `address_missing`, `host_exists`, `master_missing`. */
export type JudgeNewHost = (body: AddHostBody) => HostRecord;

/** `ids`: of all that will be judged; what is no id is found out then. */
export async function prepareJudge(hub: Hub, tx: Tx, ids: readonly string[]): Promise<JudgeNewHost> {
  const known = versionKnownByFleet(await listUndestroyed(tx, hub.vault, MASTER));
  const formers = new Map<string, HostRecord>();
  const taken = new Map<string, string>();
  for (const { id, host } of await listNamesakes(tx, hub.vault, ids)) {
    // A row that cannot be read takes nobody off the roll (I10).
    if (host === 'unreadable' || host.status !== 'removed') taken.set(id.toLowerCase(), id);
    else formers.set(id, host);
  }
  return (body) => {
    const id = parseHostId(body.host);
    // It would be a verifier that nobody can ask, and hold each rotation of a shared token closed; no verb gives it one later.
    if (body.reach === 'push' && body.address === undefined) throw new RollcallError('address_missing');
    assertTimeTrusted(hub.clock.read());
    const namesake = taken.get(id.toLowerCase());
    if (namesake !== undefined) throw new RollcallError('host_exists', { host: namesake });
    if (known === null) throw new RollcallError('master_missing');
    taken.set(id.toLowerCase(), id);
    return newHost(body, id, { former: formers.get(id), known, nowMs: hub.clock.now() });
  };
}

/** Their rows, the first step of each, and the record of both. */
export async function putOnRoll(hub: Hub, tx: Tx, hosts: readonly HostRecord[], actor: Actor): Promise<void> {
  await putHosts(tx, hub.vault, hosts);
  await issueMasterSteps(
    hub,
    tx,
    hosts.map(({ id }) => id),
    false,
  );
  // A token that every host holds is held by those to come.
  const secrets = await listHeldTokens(tx, hub.vault, EVERY_MEMBER);
  const ids = hosts.map(({ id }) => id);
  await takeBack(hub, tx, [MASTER, ...secrets, ...closings], ids);
  for (const secret of secrets) {
    await issueTokenSteps(hub, tx, secret, ids);
  }
  await appendAudits(
    tx,
    hosts.map(({ id, life, status, reach, added_at: at }) => {
      const details = { life, existing: status === 'active', reach };
      return { at, actor, action: 'host.added', target: id, outcome: 'done', details };
    }),
  );
}

function newHost(
  body: AddHostBody,
  id: string,
  { former, known, nowMs }: { readonly former: HostRecord | undefined; readonly known: number; readonly nowMs: number },
): HostRecord {
  return {
    id,
    folded: id.toLowerCase(),
    // A host of an older fleet is here already; one with a token of its own has no agent that could enrol (design 3).
    status: body.existing === true || body.token === true ? 'active' : 'invited',
    reach: body.reach ?? 'pull',
    address: body.address ?? null,
    life: former === undefined ? 1 : former.life + 1,
    former_life_until: null,
    banned: 0,
    approved_fingerprint: null,
    first_use_fingerprint: null,
    first_use_until: null,
    proven_version: null,
    added_at: nowMs,
    // Taking it off the roll took nothing from its memory.
    knows_master: body.existing === true ? known : (former?.knows_master ?? null),
  };
}
