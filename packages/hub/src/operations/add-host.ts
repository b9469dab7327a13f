/** Putting a host on the roll, and issuing the token that it enrols with (design 3, Enrolment). */

import { encodeHex } from '@rollcall/core/bytes';
import { RollcallError } from '@rollcall/core/errors';
import { encodeEnrolmentToken, enrolmentKey, SecretBytes } from '@rollcall/core/keys';
import { limits } from '@rollcall/core/limits';
import { assertTimeTrusted } from '@rollcall/core/rotation';
import type { AddHostAnswer, AddHostBody } from '@rollcall/wire';
import type { Hub } from '../hub.ts';
import { refresh } from '../refresh.ts';
import { type Actor, appendAudit } from '../store/audit.ts';
import { insertEnrolmentToken, killEnrolmentTokens } from '../store/enrolment-tokens.ts';
import type { Tx } from '../store/schema.ts';
import { mendRows } from './begin-anew.ts';
import { giveHostToken } from './issue-host-token.ts';
import { prepareJudge, putOnRoll } from './put-on-roll.ts';

export async function addHost(hub: Hub, body: AddHostBody, actor: Actor): Promise<AddHostAnswer> {
  const answer = await hub.db.transaction().execute(async (tx) => {
    const judge = await prepareJudge(hub, tx, [body.host]);
    const host = judge(body);
    await putOnRoll(hub, tx, [host], actor);
    const added = { host: host.id, life: host.life };
    // One shape of answer: whoever prints a token prints it once, whatever lets the host in.
    if (body.token === true) return { ...added, token: (await giveHostToken(hub, tx, host, actor)).token };
    return body.existing === true ? added : { ...added, ...(await issueToken(hub, tx, host.id, body.tokenLifeMs)) };
  });
  await refresh(hub);
  return answer;
}

/**
 * `host reenrol`: redeeming the token replaces the pin, because an operator said so. Also what mends a host of which something
 * cannot be read. The life in the answer is the one that the token begins (docs/decisions/006).
 */
export async function reenrolHost(
  hub: Hub,
  id: string,
  tokenLifeMs: number | undefined,
  actor: Actor,
): Promise<AddHostAnswer> {
  assertTimeTrusted(hub.clock.read());
  const answer = await hub.db.transaction().execute(async (tx) => {
    const { host, mended } = await mendRows(hub, tx, id);
    if (host.status === 'suspended') throw new RollcallError('host_suspended', { host: id });
    if (host.banned === 1) throw new RollcallError('host_banned', { host: id });
    const token = await issueToken(hub, tx, id, tokenLifeMs);
    await appendAudit(tx, {
      at: hub.clock.now(),
      actor,
      action: 'host.reenrolment_offered',
      target: id,
      outcome: 'done',
      details: { expiresAt: token.expiresAt, mended },
    });
    return { host: id, life: host.status === 'invited' ? host.life : host.life + 1, ...token };
  });
  await refresh(hub);
  return answer;
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
  await killEnrolmentTokens(tx, host);
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
