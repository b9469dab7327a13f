/**
 * What the key-encryption key is used for: secrets are encrypted at rest, bound to their table and row; rows that trust
 * rests on carry a MAC (design 3, "Where the master lives"). A mismatch is *unreadable*, never *absent* (I10).
 */
import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto';
import { concatBytes, encodeHex, joinNul, utf8 } from '@rollcall/core/bytes';
import { RollcallError } from '@rollcall/core/errors';
import { canonicalJson, type JsonValue } from '@rollcall/core/json';
import type { SecretBytes } from '@rollcall/core/keys';
import type { Random } from '@rollcall/core/ports';

/** A value's place: a ciphertext moved to any other place does not open. */
export interface Place {
  readonly table: string;
  readonly row: string;
  readonly column: string;
}

/** A row as it is stored, without its MAC. */
export type MacFields = Readonly<Record<string, string | number | null | Uint8Array>>;

export interface Vault {
  /** Hex; names the key without telling anything about it. */
  readonly fingerprint: string;
  encrypt(place: Place, plaintext: Uint8Array): Uint8Array;
  /** Throws `store_unreadable` for anything that this key did not encrypt for this place. */
  decrypt(place: Place, ciphertext: Uint8Array): Uint8Array;
  /** Of a token, for a column that is looked up by it. */
  digest(token: Uint8Array): Uint8Array;
  mac(table: string, row: MacFields): Uint8Array;
  /** Throws `store_unreadable` when the MAC is not this row's. */
  assertMac(table: string, row: MacFields, mac: Uint8Array): void;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export function createVault(kek: SecretBytes<'kek'>, random: Random): Vault {
  const subkey = (label: string) =>
    createHmac('sha256', kek.reveal()).update(joinNul('rollcall/kek/v1', label)).digest();
  const encryptionKey = subkey('encrypt');
  const macKey = subkey('mac');
  const digestKey = subkey('digest');

  const mac = (table: string, row: MacFields) =>
    Uint8Array.from(
      createHmac('sha256', macKey)
        .update(utf8(canonicalJson([table, macJson(row)])))
        .digest(),
    );

  /** What was written past this hub may have no canonical form either: a number that is not whole, half a surrogate pair. */
  const macOfStored = (table: string, row: MacFields, id: string) => {
    try {
      return mac(table, row);
    } catch (cause) {
      throw unreadable(table, id, cause);
    }
  };

  return {
    fingerprint: encodeHex(subkey('fingerprint')),

    encrypt(place, plaintext) {
      const nonce = random(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', encryptionKey, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(placeBytes(place));
      return concatBytes(nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag());
    },

    decrypt(place, ciphertext) {
      if (ciphertext.length < NONCE_BYTES + TAG_BYTES) throw unreadable(place.table, place.row);
      const decipher = createDecipheriv('aes-256-gcm', encryptionKey, ciphertext.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(placeBytes(place));
      decipher.setAuthTag(ciphertext.subarray(ciphertext.length - TAG_BYTES));
      try {
        const body = decipher.update(ciphertext.subarray(NONCE_BYTES, ciphertext.length - TAG_BYTES));
        return concatBytes(body, decipher.final());
      } catch (cause) {
        throw unreadable(place.table, place.row, cause);
      }
    },

    digest: (token) => Uint8Array.from(createHmac('sha256', digestKey).update(token).digest()),

    mac,

    assertMac(table, row, presented) {
      const id = String(Object.values(row)[0] ?? '');
      const expected = macOfStored(table, row, id);
      if (presented.length !== expected.length || !timingSafeEqual(presented, expected)) throw unreadable(table, id);
    },
  };
}

function unreadable(table: string, row: string, cause?: unknown): RollcallError {
  return new RollcallError('store_unreadable', { table, row }, { cause });
}

function placeBytes({ table, row, column }: Place): Uint8Array {
  return joinNul('rollcall/at-rest/v1', table, row, column);
}

function macJson(row: MacFields): JsonValue {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) => [
      column,
      value instanceof Uint8Array ? { hex: encodeHex(value) } : value,
    ]),
  );
}
