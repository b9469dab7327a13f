/** Challenges that were answered: an answer counts once (design 3). Kept until they expire, and no longer. */
import type { Tx } from './schema.ts';

/** Whether this is the first answer. `id`: SHA-256 of the challenge's id, in hex. */
export async function spendChallenge(
  tx: Tx,
  challenge: { readonly id: string; readonly expiresAtMs: number },
  nowMs: number,
): Promise<boolean> {
  await tx.deleteFrom('spent_challenges').where('expires_at', '<=', nowMs).execute();
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('spent_challenges')
    .values({ id: challenge.id, expires_at: challenge.expiresAtMs })
    .onConflict((c) => c.column('id').doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}
