/** Secrets; of the master the first generation: made here, or imported from the fleet as it is (design 11, Master). */
import { decodeBase64url } from '@rollcall/core/bytes';
import { RollcallError } from '@rollcall/core/errors';
import { assertGeneration, type MasterScheme, SecretBytes } from '@rollcall/core/keys';
import { limits } from '@rollcall/core/limits';
import { assertTimeTrusted } from '@rollcall/core/rotation';
import type { CreateSecretBody, SecretRow } from '@rollcall/wire';
import type { Hub } from '../hub.ts';
import { MASTER } from '../live-generations.ts';
import { refresh } from '../refresh.ts';
import { type Actor, appendAudit } from '../store/audit.ts';
import { type GenerationRecord, insertGeneration, listGenerations } from '../store/generations.ts';
import type { Db } from '../store/schema.ts';
import { listTokenNames } from '../store/tokens.ts';
import { createToken, showToken } from './token/create-token.ts';

export async function createSecret(hub: Hub, body: CreateSecretBody, actor: Actor): Promise<SecretRow> {
  if (body.name !== MASTER) return createToken(hub, body, actor);
  assertTimeTrusted(hub.clock.read());
  const scheme: MasterScheme = body.scheme ?? { name: 'hkdf' };
  const value = body.value === undefined ? hub.random(32) : readImported(body.value, scheme);
  const created = await hub.db.transaction().execute(async (tx) => {
    const now = hub.clock.now();
    if ((await listGenerations(tx, hub.vault, MASTER)).length > 0) {
      throw new RollcallError('secret_exists', { secret: MASTER });
    }
    await insertGeneration(tx, hub.vault, {
      secret: MASTER,
      version: 1,
      scheme,
      state: 'current',
      value: new SecretBytes('master', value),
      createdAtMs: now,
      verifyUntilMs: null,
      leaked: false,
    });
    await appendAudit(tx, {
      at: now,
      actor,
      action: body.value === undefined ? 'secret.created' : 'secret.imported',
      target: MASTER,
      outcome: 'done',
      details: { version: 1, scheme: scheme.name },
    });
    return showSecret(hub, tx, MASTER);
  });
  await refresh(hub);
  return created;
}

/** What is known of a secret, never a value. */
export async function showSecret(hub: Pick<Hub, 'vault'>, db: Db, name: string): Promise<SecretRow> {
  if (name !== MASTER) return showToken(hub, db, name);
  const generations = await listGenerations(db, hub.vault, MASTER);
  if (generations.length === 0) throw new RollcallError('secret_unknown', { secret: name });
  return { name: MASTER, versions: generations.map(toRow) };
}

export async function listSecretRows({ vault, db }: Pick<Hub, 'vault' | 'db'>): Promise<SecretRow[]> {
  const rows: SecretRow[] = [];
  if ((await listGenerations(db, vault, MASTER)).length > 0) rows.push(await showSecret({ vault }, db, MASTER));
  for (const name of await listTokenNames(db)) rows.push(await showToken({ vault }, db, name));
  return rows;
}

function toRow(generation: GenerationRecord): SecretRow['versions'][number] {
  return {
    version: generation.version,
    scheme: generation.scheme.name,
    state: generation.state,
    createdAt: new Date(generation.createdAtMs).toISOString(),
    verifyUntil: generation.verifyUntilMs === null ? null : new Date(generation.verifyUntilMs).toISOString(),
  };
}

function readImported(text: string, scheme: MasterScheme): Uint8Array {
  const master = decodeBase64url(text);
  if (master === undefined || master.length > limits.masterMaxBytes) throw new RollcallError('malformed_request');
  if (master.length < limits.masterMinBytes) throw new RollcallError('weak_secret');
  try {
    assertGeneration({ version: 1, master, scheme });
  } catch (cause) {
    throw new RollcallError('malformed_request', { what: 'scheme' }, { cause });
  }
  return master;
}
