/**
 * The hub's database, from outside: what it really holds, and faults that come from below it. With the key-encryption
 * key the generations are read back, so that a test knows every master, also those that nobody was ever shown.
 */
import { createDecipheriv, createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { joinNul } from '@rollcall/core/bytes';
import { root } from './child.ts';

export interface Store {
  rows<Row = Record<string, unknown>>(sql: string, ...parameters: readonly unknown[]): readonly Row[];
  run(sql: string, ...parameters: readonly unknown[]): void;
  /** Master of each generation whose value is still there, by version. */
  masters(): ReadonlyMap<number, Uint8Array>;
  /** Secrets of the hub itself, in clear. */
  hubSecrets(): readonly { readonly name: string; readonly bytes: Uint8Array }[];
  close(): void;
}

export function openStore(database: string, kekFile: string): Store {
  const db = new Sqlite(database, { fileMustExist: true, timeout: 5_000 });
  const encryptionKey = createHmac('sha256', Buffer.from(readFileSync(kekFile, 'utf8').trim(), 'base64url'))
    .update(joinNul('rollcall/kek/v1', 'encrypt'))
    .digest();
  const rows: Store['rows'] = <Row>(sql: string, ...parameters: readonly unknown[]) =>
    db.prepare(sql).all(...parameters) as Row[];
  const decrypt = (place: readonly string[], sealed: Buffer): Uint8Array => {
    const decipher = createDecipheriv('aes-256-gcm', encryptionKey, sealed.subarray(0, 12), { authTagLength: 16 });
    decipher.setAAD(joinNul('rollcall/at-rest/v1', ...place));
    decipher.setAuthTag(sealed.subarray(-16));
    return Uint8Array.from(Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]));
  };
  return {
    rows,
    run: (sql, ...parameters) => void db.prepare(sql).run(...parameters),
    masters: () => {
      const held = rows<{ version: number; value_ciphertext: Buffer }>(
        'select version, value_ciphertext from generations where value_ciphertext is not null order by version',
      );
      return new Map(
        held.map(({ version, value_ciphertext: sealed }) => [
          version,
          decrypt(['generations', `master/${version}`, 'value'], sealed),
        ]),
      );
    },
    hubSecrets: () => [
      ...rows<{ kid: string; private_ciphertext: Buffer }>('select kid, private_ciphertext from hub_keys').map(
        (row) => ({
          name: 'hub key',
          bytes: decrypt(['hub_keys', row.kid, 'private'], row.private_ciphertext),
        }),
      ),
      ...rows<{ id: string; key_ciphertext: Buffer; server_key_ciphertext: Buffer }>(
        'select id, key_ciphertext, server_key_ciphertext from authorities',
      ).flatMap((row) => [
        { name: 'authority key', bytes: decrypt(['authorities', row.id, 'key'], row.key_ciphertext) },
        { name: 'TLS key', bytes: decrypt(['authorities', row.id, 'server_key'], row.server_key_ciphertext) },
      ]),
    ],
    close: () => db.close(),
  };
}

interface SqliteHandle {
  prepare(sql: string): {
    all(...parameters: readonly unknown[]): unknown[];
    run(...parameters: readonly unknown[]): unknown;
  };
  close(): void;
}

/** The very SQLite that the hub runs on. */
const Sqlite = createRequire(join(root, 'packages', 'hub', 'package.json'))('better-sqlite3') as new (
  file: string,
  options: { readonly fileMustExist: boolean; readonly timeout: number },
) => SqliteHandle;
