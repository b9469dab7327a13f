/** What is derived from a master: one key per purpose, host and life (design 3, Derivation). */
import { joinNul } from '../bytes.ts';
import { limits } from '../limits.ts';
import { hkdfExpand } from './hkdf-sha256.ts';
import { parseHostId, parsePurpose } from './names.ts';
import { hmacSha256, SHA256_BYTES } from './sha256.ts';

/** What every fleet needs; an operator may add more. `command` is hub to agent, the others host to hub. */
export const purposes = ['heartbeat', 'command', 'session', 'terminal', 'invite'] as const;

/** How a generation derives. `hmac-sha256` is for fleets whose hosts already derive for themselves; it knows no life. */
export type MasterScheme =
  | { readonly name: 'hkdf' }
  | { readonly name: 'hmac-sha256'; readonly info: Readonly<Record<string, string>> };

/** One version of the fleet's master. Without a scheme it is `hkdf`, as every new generation is (design 11). */
export interface MasterGeneration {
  readonly version: number;
  readonly master: Uint8Array;
  readonly scheme?: MasterScheme;
}

/** HKDF-Expand(master, "rollcall/derive/v1" 0 purpose 0 host 0 life, 32). */
export function deriveHostKey(master: Uint8Array, purpose: string, host: string, life: number): Uint8Array {
  assertMaster(master);
  assertLife(life);
  const info = joinNul('rollcall/derive/v1', parsePurpose(purpose), parseHostId(host), life);
  return hkdfExpand(master, SHA256_BYTES, info);
}

/** HMAC-SHA256(master, info 0 host): the second scheme. */
export function deriveHostKeyHmacSha256(master: Uint8Array, info: string, host: string): Uint8Array {
  assertMaster(master);
  if (info === '') throw new TypeError('deriveHostKeyHmacSha256: info is empty');
  return hmacSha256(master, joinNul(info, parseHostId(host)));
}

/** The seed of the fleet's Ed25519 single sign-on key. Hosts get its public half only: `ed25519PublicKey(seed)`. */
export function deriveSsoSeed(master: Uint8Array): Uint8Array {
  assertMaster(master);
  return hkdfExpand(master, SHA256_BYTES, joinNul('rollcall/derive-fleet/v1', 'sso'));
}

/** The keys of one host under one generation: those named, or all that the scheme knows by itself. */
export function deriveHostKeys(
  generation: MasterGeneration,
  host: string,
  life: number,
  wanted: readonly string[] = ownPurposes(generation),
): Record<string, Uint8Array> {
  assertGeneration(generation);
  return Object.fromEntries(wanted.map((purpose) => [purpose, deriveByScheme(generation, purpose, host, life)]));
}

/** Throws on a generation that no code may go on with: a programmer's error, or a store that was not read properly. */
export function assertGeneration({ version, master, scheme }: MasterGeneration): void {
  if (!Number.isSafeInteger(version) || version < 1) throw new TypeError('generation: version must be 1 or more');
  assertMaster(master);
  if (scheme?.name !== 'hmac-sha256') return;
  const infos = Object.values(scheme.info);
  if (infos.includes('')) throw new TypeError('generation: an info string is empty');
  // One info for two purposes would make a command bearer out of a heartbeat bearer.
  if (new Set(infos).size !== infos.length) throw new TypeError('generation: info strings must differ');
}

function deriveByScheme({ master, scheme }: MasterGeneration, purpose: string, host: string, life: number): Uint8Array {
  if (scheme?.name !== 'hmac-sha256') return deriveHostKey(master, purpose, host, life);
  const info = Object.hasOwn(scheme.info, purpose) ? scheme.info[purpose] : undefined;
  if (info === undefined) throw new TypeError('generation: its scheme has no info for this purpose');
  return deriveHostKeyHmacSha256(master, info, host);
}

function ownPurposes({ scheme }: MasterGeneration): readonly string[] {
  return scheme?.name === 'hmac-sha256' ? Object.keys(scheme.info) : purposes;
}

function assertMaster(master: Uint8Array): void {
  // A shorter one is a missing, cut or wrongly decoded one: it must never derive anything (I10).
  if (master.length < limits.masterMinBytes) throw new TypeError('master: too short');
}

function assertLife(life: number): void {
  if (!Number.isSafeInteger(life) || life < 1) throw new TypeError('life must be 1 or more');
}
