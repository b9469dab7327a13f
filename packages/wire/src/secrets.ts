/** Secrets: metadata out, values only in (design 3, 11). */

import { limits } from '@rollcall/core/limits';
import { type Static, Type } from 'typebox';
import { count } from './heartbeat.ts';
import { nullable } from './hosts.ts';
import { member, name, secretIn, time, word } from './text-kinds.ts';

export const versionRow = Type.Object({
  version: count(1),
  scheme: word(),
  /** `next`: taken already, and sent by nobody yet. */
  state: Type.Union([
    Type.Literal('current'),
    Type.Literal('next'),
    Type.Literal('previous'),
    Type.Literal('destroyed'),
  ]),
  createdAt: time(),
  verifyUntil: nullable(time()),
});
export type VersionRow = Static<typeof versionRow>;

export const secretRow = Type.Object({
  name: name(),
  versions: Type.Array(versionRow),
  /** Of a shared token. */
  holders: Type.Optional(Type.Array(member())),
  /** It is short enough to be guessed. */
  weak: Type.Optional(Type.Boolean()),
});
export type SecretRow = Static<typeof secretRow>;

export const listSecretsAnswer = Type.Object({ secrets: Type.Array(secretRow) });

/** Without `value` the hub makes one. `value` is base64url of the bytes; `scheme` is of the master, `weak` and `holders` of a token. */
export const createSecretBody = Type.Object({
  name: name(),
  value: Type.Optional(secretIn(Math.ceil((limits.masterMaxBytes * 4) / 3))),
  scheme: Type.Optional(
    Type.Union([
      Type.Object({ name: Type.Literal('hkdf') }),
      Type.Object({
        name: Type.Literal('hmac-sha256'),
        info: Type.Record(name(), Type.String({ maxLength: 128, kind: 'word' })),
      }),
    ]),
  ),
  weak: Type.Optional(Type.Boolean()),
  holders: Type.Optional(Type.Array(member(), { maxItems: limits.importedHosts })),
});
export type CreateSecretBody = Static<typeof createSecretBody>;

export const holdersBody = Type.Object({
  add: Type.Optional(Type.Array(member(), { maxItems: limits.importedHosts })),
  remove: Type.Optional(Type.Array(member(), { maxItems: limits.importedHosts })),
});
export type HoldersBody = Static<typeof holdersBody>;
