/** For tests: a hub root, a hub key, a host with its state, and what the hub would deliver to it. Seeded, so that a failure repeats. */
import { createHash } from 'node:crypto';
import { encodeBase64url } from '@rollcall/core/bytes';
import type { JsonValue } from '@rollcall/core/json';
import {
  deriveHostKeys,
  type EnrolmentToken,
  encodeEnrolmentToken,
  parseEnrolmentToken,
  SecretBytes,
} from '@rollcall/core/keys';
import type { Random } from '@rollcall/core/ports';
import {
  type Assignment,
  createHubKey,
  createHubRoot,
  generateWrapKey,
  type HubKey,
  sealDelivery,
  signStatement,
} from '@rollcall/core/seal';
import { type Given, tokenDigest } from './start.ts';
import type { DurableState } from './state/durable-state.ts';

export function seededRandom(seed: string): Random {
  let count = 0;
  return (n) => {
    const parts: Buffer[] = [];
    for (let length = 0; length < n; length += 32) {
      count += 1;
      parts.push(createHash('sha256').update(`${seed} ${count}`).digest());
    }
    return Uint8Array.from(Buffer.concat(parts).subarray(0, n));
  };
}

export const random = seededRandom('fleet');
export const host = 'agent-7';
export const trustDomain = 'fleet.example';
export const hubRoot = createHubRoot(random);
export const hubKey = createHubKey(random, hubRoot, 3);
/** What follows the hub key. */
export const nextHubKey = createHubKey(random, hubRoot, 4);
export const strangerKey = createHubKey(random, createHubRoot(random), 3);
export const wrapKey = generateWrapKey(random);
export const masters: Readonly<Record<number, Uint8Array>> = { 1: random(32), 2: random(32), 3: random(32) };
export const spki = random(32);
export const hubs = ['https://hub.example:7443', 'https://hub-b.example:7443'] as const;

export function assignment(changes: Partial<Assignment> & { readonly versions?: readonly number[] } = {}): Assignment {
  const { versions = [1], ...rest } = changes;
  return {
    secret: 'master',
    epoch: 1,
    step: 1,
    present: versions[0] as number,
    accept: versions.map((version) => ({ version, value: { life: 1, keys: hostKeys(version) } })),
    issuedAt: '2026-03-01T12:00:00Z',
    ...rest,
  };
}

export function heartbeatKey(version: number): Uint8Array {
  return (hostKeys(version)['heartbeat'] as SecretBytes).reveal();
}

export function durableState(changes: Partial<DurableState> = {}): DurableState {
  return {
    host,
    hubRoot: hubRoot.public,
    trustDomain,
    hubs,
    knownSpki: [spki],
    roots: [Uint8Array.of(1, 2, 3)],
    life: 1,
    wrapKeys: [wrapKey],
    assignments: new Map([['master', assignment()]]),
    hubKeySerial: 3,
    statements: new Map(),
    redeemed: [],
    ...changes,
  };
}

export function delivery(of: Assignment, changes: Partial<Parameters<typeof sealDelivery>[0]> = {}): JsonValue {
  return sealDelivery({
    host,
    assignment: of,
    recipient: wrapKey.public,
    hubKey,
    random,
    ...changes,
  }) as unknown as JsonValue;
}

export function tlsSpkiStatement(
  time: string,
  current: Uint8Array,
  changes: { readonly epoch?: number; readonly next?: Uint8Array; readonly signer?: HubKey } = {},
): JsonValue {
  const { epoch = 1, next, signer = hubKey } = changes;
  const body = { current: encodeBase64url(current), ...(next === undefined ? {} : { next: encodeBase64url(next) }) };
  return signStatement({ kind: 'tls-spki', epoch, time, body, hubKey: signer });
}

export function enrolment(
  changes: Partial<EnrolmentToken> = {},
): NonNullable<Given['enrolment']> & { readonly text: string } {
  const text = encodeEnrolmentToken({
    trustDomain,
    host,
    hubs,
    spki: [spki],
    root: hubRoot.public,
    secret: new SecretBytes('enrolment', random(32)),
    expiresAtMs: Date.parse('2026-03-01T13:00:00Z'),
    ...changes,
  });
  return { token: parseEnrolmentToken(text), digest: tokenDigest(text), text };
}

function hostKeys(version: number): Readonly<Record<string, SecretBytes<'host-key'>>> {
  const generation = { version, master: masters[version] as Uint8Array };
  const keys = deriveHostKeys(generation, host, 1);
  return Object.fromEntries(Object.entries(keys).map(([purpose, key]) => [purpose, new SecretBytes('host-key', key)]));
}
