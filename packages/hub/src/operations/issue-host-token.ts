/** `host token` and `host drop-token`: what a host without an agent presents (design 3, rung `host-token`). */
import { encodeHex, utf8 } from '@rollcall/core/bytes';
import { RollcallError } from '@rollcall/core/errors';
import { encodeToken } from '@rollcall/core/keys';
import { limits } from '@rollcall/core/limits';
import { assertTimeTrusted } from '@rollcall/core/rotation';
import type { HostTokenAnswer, HostTokenRow } from '@rollcall/wire';
import type { Hub } from '../hub.ts';
import { refresh } from '../refresh.ts';
import { type Actor, appendAudit } from '../store/audit.ts';
import {
  deleteHostToken,
  findHostTokens,
  type HostTokenRecord,
  type StoredHostToken,
  writeHostToken,
} from '../store/host-tokens.ts';
import { type HostRecord, readHost } from '../store/hosts.ts';
import type { Tx } from '../store/schema.ts';

/** A further token, shown this once. The one before goes on being good until this one was seen. */
export async function issueHostToken(hub: Hub, id: string, actor: Actor): Promise<HostTokenAnswer> {
  assertTimeTrusted(hub.clock.read());
  const answer = await hub.db.transaction().execute(async (tx) => {
    const host = await readHost(tx, hub.vault, id);
    assertLetIn(host);
    return giveHostToken(hub, tx, host, actor);
  });
  await refresh(hub);
  return answer;
}

/** In the transaction that put the host on the roll, or that found it there. */
export async function giveHostToken(hub: Hub, tx: Tx, host: HostRecord, actor: Actor): Promise<HostTokenAnswer> {
  const { present, past } = await readOwn(hub, tx, host);
  const live = present.filter(({ isLive }) => isLive);
  if (live.length >= limits.hostTokensPerHost) {
    throw new RollcallError('host_tokens_full', { host: host.id, tokens: live.map(({ id }) => id) });
  }
  for (const { id } of past) await deleteHostToken(tx, host.id, id);
  const text = encodeToken('rch', hub.random(32));
  const token: HostTokenRecord = {
    id: encodeHex(hub.random(4)),
    host: host.id,
    life: host.life,
    digest: hub.vault.digest(utf8(text)),
    // After every other of the host: which of two is the older one must never be a question.
    issuedAtMs: Math.max(hub.clock.now(), ...present.map(({ issuedAtMs }) => issuedAtMs + 1)),
    seenAtMs: null,
    isLive: true,
  };
  await writeHostToken(tx, hub.vault, token);
  await record(hub, tx, { action: 'host.token_issued', host, token: token.id, actor });
  return { host: host.id, life: host.life, id: token.id, token: text };
}

/** Ends a token at once. One that cannot be read lets nobody in, and goes with `host reenrol`. */
export async function dropHostToken(hub: Hub, id: string, tokenId: string, actor: Actor): Promise<HostTokenRow> {
  const dropped = await hub.db.transaction().execute(async (tx) => {
    const host = await readHost(tx, hub.vault, id);
    const stored = await findHostTokens(tx, hub.vault, id);
    const token = stored.flatMap((one) => (one.token === 'unreadable' ? [] : [one.token])).find(isNamed(tokenId));
    if (token === undefined) throw new RollcallError('host_token_unknown', { host: id });
    // One that was seen is kept as ended: what had a credential of its own is not spoken for with less (design 3).
    if (token.seenAtMs === null || token.life !== host.life) await deleteHostToken(tx, id, tokenId);
    else await writeHostToken(tx, hub.vault, { ...token, isLive: false });
    await record(hub, tx, { action: 'host.token_ended', host, token: tokenId, actor });
    return token;
  });
  await refresh(hub);
  return toHostTokenRow(dropped);
}

export function toHostTokenRow({ id, issuedAtMs, seenAtMs }: HostTokenRecord): HostTokenRow {
  return {
    id,
    issuedAt: new Date(issuedAtMs).toISOString(),
    seenAt: seenAtMs === null ? null : new Date(seenAtMs).toISOString(),
  };
}

/** Those that let it in now. */
export function liveTokensOf(host: HostRecord, stored: readonly StoredHostToken[]): HostTokenRecord[] {
  return stored.flatMap(({ token }) =>
    token !== 'unreadable' && token.isLive && token.life === host.life ? [token] : [],
  );
}

/** What is not let in would hold a token that opens nothing: an invited host enrols first, or is added with `--token`. */
function assertLetIn({ id: host, status }: HostRecord): void {
  if (status === 'suspended') throw new RollcallError('host_suspended', { host });
  if (status !== 'active') throw new RollcallError('host_not_enrolled', { host });
}

/** Of its present life, and of lives that have ended. A row that cannot be read is `store_unreadable`. */
async function readOwn(
  hub: Hub,
  tx: Tx,
  host: HostRecord,
): Promise<{ readonly present: readonly HostTokenRecord[]; readonly past: readonly HostTokenRecord[] }> {
  const tokens = (await findHostTokens(tx, hub.vault, host.id)).map(({ token }) => {
    if (token === 'unreadable') throw new RollcallError('store_unreadable', { table: 'host_tokens', row: host.id });
    return token;
  });
  return {
    present: tokens.filter(({ life }) => life === host.life),
    past: tokens.filter(({ life }) => life !== host.life),
  };
}

function isNamed(tokenId: string): (token: HostTokenRecord) => boolean {
  return ({ id, isLive }) => id === tokenId && isLive;
}

async function record(
  hub: Hub,
  tx: Tx,
  act: { readonly action: string; readonly host: HostRecord; readonly token: string; readonly actor: Actor },
): Promise<void> {
  const { action, host, token, actor } = act;
  const details = { token, life: host.life };
  await appendAudit(tx, { at: hub.clock.now(), actor, action, target: host.id, outcome: 'done', details });
}
