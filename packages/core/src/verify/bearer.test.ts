import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeBase64url, joinNul } from '../bytes.ts';
import { deriveHostKeys, type MasterGeneration } from '../keys/derivation.ts';
import { hmacSha256 } from '../keys/sha256.ts';
import { encodeToken } from '../keys/token.ts';
import { refusalOf } from '../refusal.fixture.ts';
import { seededRandom } from '../testing/seeded-random.ts';
import { createBearerVerifier, verifyBearer } from './bearer.ts';

const random = seededRandom('bearer');
const old: MasterGeneration = {
  version: 3,
  master: random(100),
  scheme: { name: 'hmac-sha256', info: { heartbeat: 'fleet beat', command: 'fleet command' } },
};
const current: MasterGeneration = { version: 4, master: random(32) };
const next: MasterGeneration = { version: 5, master: random(48) };

function bearerOf(generation: MasterGeneration, host: string, life: number, purpose = 'heartbeat'): string {
  return encodeToken('rcb', deriveHostKeys(generation, host, life, [purpose])[purpose] as Uint8Array);
}

const hostId = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9]([A-Za-z0-9._-]{0,60}[A-Za-z0-9])?$/),
  fc.constant('h'.repeat(128)),
);
const life = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.constant(Number.MAX_SAFE_INTEGER));

describe('a bearer', () => {
  test.each([[[old, current]], [[current, next]], [[next, current]], [[current]]])(
    'is verified under each live generation: %#',
    (generations) => {
      const verify = createBearerVerifier(generations);
      fc.assert(
        fc.property(hostId, life, (host, hostLife) => {
          for (const generation of generations) {
            const bearer = bearerOf(generation, host, hostLife);
            expect(verify(host, hostLife, bearer)).toEqual({ version: generation.version });
            expect(verifyBearer(generations, host, hostLife, bearer)).toEqual({ version: generation.version });
          }
        }),
      );
    },
  );

  test('is trimmed', () => {
    expect(verifyBearer([current], 'agent-7', 1, ` ${bearerOf(current, 'agent-7', 1)}\r\n`)).toEqual({ version: 4 });
  });

  test('of the second scheme knows no life', () => {
    expect(verifyBearer([old], 'agent-7', 9, bearerOf(old, 'agent-7', 1))).toEqual({ version: 3 });
  });
});

describe('everything else gets the one refusal', () => {
  const verify = createBearerVerifier([current, next]);
  const good = bearerOf(current, 'agent-7', 2);
  const key = deriveHostKeys(current, 'agent-7', 2)['heartbeat'] as Uint8Array;

  test.each<[string, unknown, unknown, unknown]>([
    ['another host', 'agent-8', 2, good],
    ['the host in another case', 'Agent-7', 2, good],
    ['a host that is none', 'agent 7', 2, good],
    ['a host that is too long', 'a'.repeat(129), 2, good],
    ['no host', '', 2, good],
    ['an undefined host', undefined, 2, good],
    ['a former life', 'agent-7', 3, good],
    ['a life to come', 'agent-7', 1, good],
    ['life 0', 'agent-7', 0, good],
    ['half a life', 'agent-7', 2.5, good],
    ['a retired generation', 'agent-7', 2, bearerOf(old, 'agent-7', 2)],
    ['another purpose', 'agent-7', 2, bearerOf(current, 'agent-7', 2, 'command')],
    ['the command prefix', 'agent-7', 2, encodeToken('rcc', key)],
    ['the key in bare base64url', 'agent-7', 2, encodeBase64url(key)],
    ['a wrong checksum', 'agent-7', 2, `rcb_${encodeBase64url(new Uint8Array([...key, 0, 0, 0, 0]))}`],
    ['a key cut short', 'agent-7', 2, encodeToken('rcb', key.subarray(1))],
    ['a key with more after it', 'agent-7', 2, encodeToken('rcb', new Uint8Array([...key, 0]))],
    ['32 zero bytes', 'agent-7', 2, encodeToken('rcb', new Uint8Array(32))],
    ['nothing', 'agent-7', 2, ''],
    ['an undefined bearer', 'agent-7', 2, undefined],
    ['two bearers', 'agent-7', 2, [good, good]],
    ['one bearer after the other', 'agent-7', 2, `${good}${good}`],
    ['a bearer with one character more', 'agent-7', 2, `${good}A`],
    ['a bearer behind four other characters', 'agent-7', 2, `rcc_${good.slice(4)}${good}`],
    ['the scheme word', 'agent-7', 2, `Bearer ${good}`],
  ])('%s', (_, host, hostLife, presented) => {
    expect(refusalOf(() => verify(host as string, hostLife as number, presented as string))).toBe('unauthenticated');
    expect(verify('agent-7', 2, good)).toEqual({ version: 4 });
  });

  test('the bearer of the host that stands in for malformed ones', () => {
    const decoy = bearerOf(current, '0', 1);
    for (const host of ['', 'agent 7', '-']) {
      expect(refusalOf(() => verify(host, 1, decoy))).toBe('unauthenticated');
    }
    expect(refusalOf(() => verify('0', 0, decoy))).toBe('unauthenticated');
    expect(verify('0', 1, decoy)).toEqual({ version: 4 });
  });

  test('what is rightly derived for a life before the first', () => {
    const derive = (hostLife: number) =>
      encodeToken(
        'rcb',
        hmacSha256(current.master, joinNul('rollcall/derive/v1', 'heartbeat', 'agent-7', hostLife), Uint8Array.of(1)),
      );
    for (const hostLife of [0, -1]) {
      expect(refusalOf(() => verify('agent-7', hostLife, derive(hostLife)))).toBe('unauthenticated');
    }
    expect(verify('agent-7', 1, derive(1))).toEqual({ version: 4 });
  });

  test('each character changed', () => {
    for (let at = 0; at < good.length; at += 1) {
      const changed = `${good.slice(0, at)}${good[at] === 'A' ? 'B' : 'A'}${good.slice(at + 1)}`;
      expect(refusalOf(() => verify('agent-7', 2, changed))).toBe('unauthenticated');
    }
  });

  test('the bearer of one host right after that of another: the buffers keep nothing', () => {
    const short = bearerOf(current, 'a', 2);
    expect(verify('a', 2, short)).toEqual({ version: 4 });
    expect(refusalOf(() => verify('a', 2, 'none'))).toBe('unauthenticated');
    expect(refusalOf(() => verify('agent-7', 2, short))).toBe('unauthenticated');
    expect(verify('agent-7', 2, good)).toEqual({ version: 4 });
  });
});

test('without a generation nobody is let in, neither with zeros', () => {
  const verify = createBearerVerifier([]);
  expect(refusalOf(() => verify('agent-7', 1, bearerOf(current, 'agent-7', 1)))).toBe('unauthenticated');
  expect(refusalOf(() => verify('agent-7', 1, encodeToken('rcb', new Uint8Array(32))))).toBe('unauthenticated');
});

test.each<[string, readonly MasterGeneration[]]>([
  ['three generations (I14)', [old, current, next]],
  ['one version twice', [current, { ...next, version: 4 }]],
  ['a short master', [{ version: 1, master: new Uint8Array(31) }]],
  ['version 0', [{ ...current, version: 0 }]],
  ['a scheme without heartbeats', [{ ...old, scheme: { name: 'hmac-sha256', info: { command: 'x' } } }]],
])('a verifier of %s is not made', (_, generations) => {
  expect(() => createBearerVerifier(generations)).toThrow(TypeError);
});
