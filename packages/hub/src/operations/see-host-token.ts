/**
 * A token of a host was seen for the first time. It is known to be in use from now on, so the older one goes (design 3); and the host
 * has a credential of its own, so that nobody speaks for it with less. Durable before the answer.
 */
import type { AuthenticatedHost } from '../authenticate.ts';
import type { Hub } from '../hub.ts';
import { appendAudit } from '../store/audit.ts';
import { deleteHostToken, findHostTokens, writeHostToken } from '../store/host-tokens.ts';
import { readHost } from '../store/hosts.ts';

export async function seeHostToken(hub: Hub, { entry, hostToken, life }: AuthenticatedHost): Promise<void> {
  if (hostToken === null || hostToken.seenAtMs !== null) return;
  await hub.db.transaction().execute(async (tx) => {
    const now = hub.clock.now();
    const host = await readHost(tx, hub.vault, entry.id);
    const stored = (await findHostTokens(tx, hub.vault, host.id)).flatMap(({ token }) =>
      token === 'unreadable' || token.life !== life ? [] : [token],
    );
    const seen = stored.find(({ id }) => id === hostToken.id);
    // Between the verification and this transaction it may have been ended: then it proved nothing.
    if (host.life !== life || host.status !== 'active' || seen?.isLive !== true || seen.seenAtMs !== null) return;
    await writeHostToken(tx, hub.vault, { ...seen, seenAtMs: now });
    const older = stored.filter(({ issuedAtMs }) => issuedAtMs < seen.issuedAtMs);
    for (const { id } of older) await deleteHostToken(tx, host.id, id);
    await appendAudit(tx, {
      at: now,
      actor: { id: host.id, kind: 'host', rung: 'host-token', verified: true },
      action: 'host.token_seen',
      target: host.id,
      outcome: 'done',
      details: { token: seen.id, ended: older.filter(({ isLive }) => isLive).map(({ id }) => id) },
    });
  });
  await hub.roll.reload(entry.id);
}
