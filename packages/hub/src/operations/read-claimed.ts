/**
 * The host and the token that an enrolment claims. For a claim of nothing the same work is done on rows of nobody, so that the time of
 * a refusal does not tell who is on the roll, nor who waits to be enrolled (I13).
 */
import { encodeHex } from '@rollcall/core/bytes';
import type { Hub } from '../hub.ts';
import { type EnrolmentTokenRecord, findEnrolmentToken } from '../store/enrolment-tokens.ts';
import { findHost, type HostRecord } from '../store/hosts.ts';
import type { Db } from '../store/schema.ts';

export interface Claimed {
  readonly host: HostRecord | undefined;
  readonly token: EnrolmentTokenRecord | undefined;
}

export async function readClaimed(hub: Pick<Hub, 'vault'>, db: Db, id: string): Promise<Claimed> {
  const host = await findHost(db, hub.vault, id);
  const token = await findEnrolmentToken(db, hub.vault, id);
  if (host === undefined) hub.vault.mac('hosts', hostOfNobody(id));
  if (token === undefined) readTokenOfNobody(hub, id);
  return { host, token };
}

function hostOfNobody(id: string): HostRecord {
  return {
    id,
    folded: id.toLowerCase(),
    status: 'invited',
    reach: 'pull',
    address: null,
    life: 1,
    former_life_until: null,
    banned: 0,
    approved_fingerprint: null,
    first_use_fingerprint: null,
    first_use_until: null,
    proven_version: null,
    added_at: SOME_TIME_MS,
    knows_master: null,
  };
}

/** One MAC, and one AES-GCM of 32 bytes: encrypting costs what decrypting does. */
function readTokenOfNobody({ vault }: Pick<Hub, 'vault'>, host: string): void {
  const id = encodeHex(NOBODY.subarray(0, 16));
  const key_ciphertext = vault.encrypt({ table: 'enrolment_tokens', row: id, column: 'key' }, NOBODY);
  const rest = { id, host, expires_at: SOME_TIME_MS, state: 'live', used_at: null, used_by: null };
  vault.mac('enrolment_tokens', { ...rest, key_ciphertext });
}

/** As many digits as a time has. */
const SOME_TIME_MS = 1_700_000_000_000;
const NOBODY = new Uint8Array(32);
