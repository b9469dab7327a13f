/**
 * What a host takes of its callers, read off its assignments: the versions of each shared token, and the command keys of its master
 * (design 4, Commands). Digests are prepared once; each presented text is compared with all of them, whatever came before (I13).
 */
import { hash, timingSafeEqual } from 'node:crypto';
import { decodeUtf8 } from '@rollcall/core/bytes';
import { RollcallError } from '@rollcall/core/errors';
import { encodeToken } from '@rollcall/core/keys';
import type { Assignment } from '@rollcall/core/seal';
import type { TokenRole } from '@rollcall/core/verify';

export interface AcceptedToken {
  readonly secret: string;
  readonly version: number;
  /** By the host's own assignment: what it presents is current. */
  readonly role: TokenRole;
}

export interface Acceptance {
  /** Nothing is held, so nobody is let in: never everybody. */
  readonly isEmpty: boolean;
  readonly tokens: readonly AcceptedToken[];
  /** Throws `unauthenticated`, as both. */
  verifyToken(presented: string): AcceptedToken;
  /** `presented`: the text of a command bearer, `rcc_…`. */
  verifyCommand(presented: string): { readonly version: number };
}

export const MASTER = 'master';

export function createAcceptance(assignments: ReadonlyMap<string, Assignment>): Acceptance {
  const tokens = [...assignments.values()].filter(({ secret }) => secret !== MASTER).flatMap(tokenSlots);
  const commands = commandSlots(assignments.get(MASTER));
  const presented = Buffer.alloc(DIGEST_BYTES);
  const find = <Of>(slots: readonly Slot<Of>[], text: string): Of => {
    writeDigest(presented, text.trim());
    let found = -1;
    for (let index = 0; index < slots.length; index += 1) {
      const isEqual = timingSafeEqual(presented, (slots[index] as Slot<Of>).digest);
      found = Math.max(found, Number(isEqual) * (index + 1) - 1);
    }
    const slot = slots[found];
    if (slot === undefined) throw new RollcallError('unauthenticated');
    return slot.of;
  };
  return {
    isEmpty: tokens.length + commands.length === 0,
    tokens: tokens.map(({ of }) => of),
    verifyToken: (text) => find(tokens, text),
    verifyCommand: (text) => find(commands, text),
  };
}

/** The text that a host presents of a shared token; `undefined` where the assignment is of none. */
export function presentedToken({ secret, accept, present }: Assignment): string | undefined {
  if (secret === MASTER) return undefined;
  const value = accept.find(({ version }) => version === present)?.value;
  return value === undefined || 'keys' in value ? undefined : decodeUtf8(value.reveal());
}

export function roleOf(version: number, present: number): TokenRole {
  if (version === present) return 'current';
  return version > present ? 'next' : 'retiring';
}

const DIGEST_BYTES = 32;

interface Slot<Of> {
  readonly digest: Buffer;
  readonly of: Of;
}

/** A value that is not the text of a token is no slot: an empty one would be what a caller without a token presents. */
function tokenSlots({ secret, accept, present }: Assignment): readonly Slot<AcceptedToken>[] {
  return accept.flatMap(({ version, value }) => {
    const text = 'keys' in value ? '' : (decodeUtf8(value.reveal()) ?? '').trim();
    if (text === '') return [];
    return [{ digest: digestOf(text), of: Object.freeze({ secret, version, role: roleOf(version, present) }) }];
  });
}

/** A bearer has one text for one key, so its text can be compared: no prefix or checksum of a wrong one is looked at first. */
function commandSlots(master: Assignment | undefined): readonly Slot<{ readonly version: number }>[] {
  return (master?.accept ?? []).flatMap(({ version, value }) => {
    const key = 'keys' in value ? value.keys['command'] : undefined;
    return key === undefined ? [] : [{ digest: digestOf(encodeToken('rcc', key.reveal())), of: { version } }];
  });
}

function digestOf(text: string): Buffer {
  const digest = Buffer.alloc(DIGEST_BYTES);
  writeDigest(digest, text);
  return digest;
}

function writeDigest(target: Buffer, text: string): void {
  target.write(hash('sha256', text, 'binary'), 0, 'latin1');
}
