import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { encodeBase64url, encodeHex } from '../bytes.ts';
import type { JsonValue } from '../json.ts';
import { ed25519PublicKey } from '../keys/ed25519.ts';
import { faultOf, refusalOf } from '../refusal.fixture.ts';
import { seededRandom } from '../testing/seeded-random.ts';
import {
  certifyHubKey,
  createHubKey,
  createHubRoot,
  HubKey,
  restoreHubKey,
  restoreHubRoot,
  verifyHubKeyRecord,
} from './hub-key.ts';

const random = seededRandom('hub key');
const root = createHubRoot(random);
const hubKey = createHubKey(random, root, 2);

describe('a hub key record', () => {
  test('is verified under the root, and returned', () => {
    const record = JSON.parse(JSON.stringify(hubKey.record)) as JsonValue;
    for (const least of [0, 1, 2]) {
      expect(verifyHubKeyRecord(record, root.public, least)).toEqual({
        kid: hubKey.kid,
        public: hubKey.public,
        serial: 2,
      });
    }
  });

  test('may be of a key that the root never saw', () => {
    const seed = random(32);
    const record = certifyHubKey(root, ed25519PublicKey(seed), 3);
    expect(restoreHubKey(seed, record).serial).toBe(3);
    expect(verifyHubKeyRecord(record, root.public, 3).serial).toBe(3);
  });

  const other = createHubKey(random, createHubRoot(random), 2);
  const smallOrder = new Uint8Array(32);
  test.each<[string, JsonValue]>([
    ['serial', createHubKey(random, root, 1).record],
    ['serial', { ...hubKey.record, serial: 0 }],
    ['kid', { ...hubKey.record, kid: 7 }],
    ['kid', { ...hubKey.record, kid: 'f'.repeat(64) }],
    ['public', { ...hubKey.record, public: 'AA' }],
    ['rootSig', { ...hubKey.record, rootSig: 'AA' }],
    ['hubKey', 'record'],
  ])('says that its %s is at fault', (what, record) => {
    expect(faultOf(() => verifyHubKeyRecord(record, root.public, 2))).toBe(what);
  });

  test.each<[string, JsonValue]>([
    ['of a serial below the highest known', createHubKey(random, root, 1).record],
    ['under another root', other.record],
    ['with a higher serial than was signed', { ...hubKey.record, serial: 3 }],
    ['with another public key', { ...hubKey.record, public: other.record.public, kid: other.kid }],
    ['with the id of another key', { ...hubKey.record, kid: other.kid }],
    ['with a flipped signature', { ...hubKey.record, rootSig: other.record.rootSig }],
    ['with a public key of small order', { ...hubKey.record, public: encodeBase64url(smallOrder) }],
    ['without a serial', { kid: hubKey.kid, public: hubKey.record.public, rootSig: hubKey.record.rootSig }],
    ['with serial 0', { ...hubKey.record, serial: 0 }],
    ['that is no object', 'record'],
  ])('%s is refused', (_, record) => {
    expect(refusalOf(() => verifyHubKeyRecord(record, root.public, 2))).toBe('unknown_hub_key');
  });

  test('is refused under a root of small order', () => {
    expect(refusalOf(() => verifyHubKeyRecord(hubKey.record, smallOrder, 0))).toBe('unknown_hub_key');
  });
});

test('root and key are restored from their seeds', () => {
  expect(restoreHubRoot(root.private.reveal()).public).toEqual(root.public);
  expect(restoreHubRoot(root.private).public).toEqual(root.public);
  expect(restoreHubKey(hubKey.private.reveal(), hubKey.record).record).toEqual(hubKey.record);
  expect(restoreHubKey(hubKey.private, hubKey.record).record).toEqual(hubKey.record);
  expect(refusalOf(() => restoreHubKey(random(32), hubKey.record))).toBe('malformed_key');
  expect(faultOf(() => restoreHubKey(random(32), hubKey.record))).toBe('public');
});

test('a key of another kind is stopped, by the compiler and at run time', () => {
  // @ts-expect-error a root is not a hub key
  expect(() => restoreHubKey(root.private, hubKey.record)).toThrow(TypeError);
  // @ts-expect-error a hub key cannot appoint its successor
  expect(() => certifyHubKey(hubKey, hubKey.public, 3)).toThrow(TypeError);
  expect(() => certifyHubKey(root, hubKey.public, 0)).toThrow(TypeError);
  expect(refusalOf(() => certifyHubKey(root, new Uint8Array(32), 1))).toBe('malformed_key');
});

test('nothing shows a seed', () => {
  for (const [shown, seed] of [
    [root, root.private.reveal()],
    [hubKey, hubKey.private.reveal()],
  ] as const) {
    const text =
      inspect(shown, { depth: 9, showHidden: true }) +
      JSON.stringify(shown) +
      inspect(Object.assign({}, shown), { depth: 9 });
    expect(text).toContain('[redacted hub-');
    for (const form of [
      encodeHex(seed),
      encodeBase64url(seed),
      Buffer.from(seed).toString('base64'),
      seed.slice(0, 4).join(', '),
    ]) {
      expect(text).not.toContain(form);
    }
  }
  expect(hubKey).toBeInstanceOf(HubKey);
});
