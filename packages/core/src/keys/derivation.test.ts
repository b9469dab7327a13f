import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeHex } from '../bytes.ts';
import { refusalOf } from '../refusal.fixture.ts';
import { deriveHostKey, deriveHostKeyHmacSha256, deriveHostKeys, deriveSsoSeed, purposes } from './derivation.ts';
import { ed25519PublicKey } from './ed25519.ts';

const master = new Uint8Array(32).fill(7);

test('is one HMAC over the label, purpose, host and life, and the block counter', () => {
  const expected = createHmac('sha256', master).update('rollcall/derive/v1\0heartbeat\0agent-7\x003\x01').digest('hex');
  expect(encodeHex(deriveHostKey(master, 'heartbeat', 'agent-7', 3))).toBe(expected);
});

test('the second scheme is HMAC(master, info 0 host), without a life', () => {
  const expected = createHmac('sha256', master).update('fleet heartbeat\0agent-7').digest('hex');
  expect(encodeHex(deriveHostKeyHmacSha256(master, 'fleet heartbeat', 'agent-7'))).toBe(expected);
});

test('the SSO seed is a fleet derivation, of which hosts get the public half', () => {
  const expected = createHmac('sha256', master).update('rollcall/derive-fleet/v1\0sso\x01').digest('hex');
  expect(encodeHex(deriveSsoSeed(master))).toBe(expected);
  expect(ed25519PublicKey(deriveSsoSeed(master))).toHaveLength(32);
});

test('no two of master, purpose, host and life give one key', () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9]{0,3}$/);
  const tuple = fc.tuple(name, name, fc.integer({ min: 1, max: 120 }));
  fc.assert(
    fc.property(tuple, tuple, (a, b) => {
      const same = a.join('\0') === b.join('\0');
      expect(encodeHex(deriveHostKey(master, ...a)) === encodeHex(deriveHostKey(master, ...b))).toBe(same);
    }),
  );
});

describe('deriveHostKeys', () => {
  test('gives every purpose of the scheme', () => {
    const keys = deriveHostKeys({ version: 1, master }, 'agent-7', 2);
    expect(Object.keys(keys)).toEqual([...purposes]);
    expect(keys['command']).toEqual(deriveHostKey(master, 'command', 'agent-7', 2));
    expect(new Set(Object.values(keys).map(encodeHex)).size).toBe(purposes.length);
  });

  test('gives those that are asked for', () => {
    expect(Object.keys(deriveHostKeys({ version: 1, master }, 'a', 1, ['heartbeat', 'metrics']))).toEqual([
      'heartbeat',
      'metrics',
    ]);
  });

  test('follows the scheme of the generation', () => {
    const info = { heartbeat: 'old beat', command: 'old command' };
    const keys = deriveHostKeys({ version: 1, master, scheme: { name: 'hmac-sha256', info } }, 'agent-7', 5);
    expect(keys).toEqual({
      heartbeat: deriveHostKeyHmacSha256(master, 'old beat', 'agent-7'),
      command: deriveHostKeyHmacSha256(master, 'old command', 'agent-7'),
    });
  });
});

test('the shortest master is enough', () => {
  expect(deriveHostKey(new Uint8Array(32), 'heartbeat', 'a', 1)).toHaveLength(32);
  expect(refusalOf(() => deriveHostKey(new Uint8Array(31), 'heartbeat', 'a', 1))).toBe('TypeError');
});

test.each<[string, () => unknown, string]>([
  ['a short master in the second scheme', () => deriveHostKeyHmacSha256(new Uint8Array(31), 'info', 'a'), 'TypeError'],
  [
    'a short master of a generation',
    () => deriveHostKeys({ version: 1, master: new Uint8Array(31) }, 'a', 1, []),
    'TypeError',
  ],
  [
    'an empty info of a generation',
    () => deriveHostKeys({ version: 1, master, scheme: { name: 'hmac-sha256', info: { heartbeat: '' } } }, 'a', 1, []),
    'TypeError',
  ],
  ['a short master', () => deriveHostKey(new Uint8Array(31), 'heartbeat', 'a', 1), 'TypeError'],
  ['an empty master', () => deriveSsoSeed(new Uint8Array()), 'TypeError'],
  ['no host', () => deriveHostKey(master, 'heartbeat', '', 1), 'malformed_host_id'],
  ['no host in the second scheme', () => deriveHostKeyHmacSha256(master, 'info', ''), 'malformed_host_id'],
  ['a host with a separator', () => deriveHostKey(master, 'heartbeat', 'a\x001', 1), 'malformed_host_id'],
  ['no purpose', () => deriveHostKey(master, '', 'a', 1), 'malformed_secret_name'],
  ['life 0', () => deriveHostKey(master, 'heartbeat', 'a', 0), 'TypeError'],
  ['half a life', () => deriveHostKey(master, 'heartbeat', 'a', 1.5), 'TypeError'],
  ['no info', () => deriveHostKeyHmacSha256(master, '', 'a'), 'TypeError'],
  ['an info with a separator', () => deriveHostKeyHmacSha256(master, 'a\0b', 'a'), 'TypeError'],
  ['half a version', () => deriveHostKeys({ version: 1.5, master }, 'a', 1), 'TypeError'],
  ['version 0', () => deriveHostKeys({ version: 0, master }, 'a', 1), 'TypeError'],
  [
    'one info for two purposes',
    () =>
      deriveHostKeys(
        { version: 1, master, scheme: { name: 'hmac-sha256', info: { heartbeat: 'x', command: 'x' } } },
        'a',
        1,
      ),
    'TypeError',
  ],
  [
    'a purpose that the scheme does not know',
    () =>
      deriveHostKeys({ version: 1, master, scheme: { name: 'hmac-sha256', info: { heartbeat: 'x' } } }, 'a', 1, [
        'constructor',
      ]),
    'TypeError',
  ],
])('refuses %s', (_, derive, code) => {
  expect(refusalOf(derive)).toBe(code);
});
