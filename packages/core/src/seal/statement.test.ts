import { describe, expect, test } from 'vitest';
import { encodeBase64url } from '../bytes.ts';
import { canonicalJson, type JsonObject, type JsonValue } from '../json.ts';
import { limits } from '../limits.ts';
import { faultOf, refusalOf } from '../refusal.fixture.ts';
import { seededRandom } from '../testing/seeded-random.ts';
import { createHubKey, createHubRoot } from './hub-key.ts';
import { signStatement, verifyStatement } from './statement.ts';
import { generateWrapKey } from './wrap-key.ts';

const random = seededRandom('statement');
const root = createHubRoot(random);
const hubKey = createHubKey(random, root, 2);
const statement = {
  kind: 'tls-spki',
  body: {
    next: encodeBase64url(new Uint8Array(32).fill(2)),
    current: encodeBase64url(new Uint8Array(32).fill(1)),
    note: 'ä\0',
  },
  epoch: 3,
  time: '2026-11-29T12:00:00.250Z',
};
const context = { hubRoot: root.public, highestSerial: 2 };
const good = JSON.parse(JSON.stringify(signStatement({ ...statement, hubKey }))) as JsonObject;
const verdict = (json: JsonValue) => refusalOf(() => verifyStatement(json, context));

test('a statement is verified, whatever the order of its members, and returned', () => {
  const reordered = Object.fromEntries(Object.entries(good).reverse());
  for (const json of [good, reordered, { ...good, later: 1 }]) {
    expect(verifyStatement(json, context)).toEqual({
      ...statement,
      timeMs: Date.UTC(2026, 10, 29, 12, 0, 0, 250),
      hubKeySerial: 2,
    });
  }
});

describe('refuses', () => {
  test.each<[string, JsonValue, string]>([
    ['another kind', { ...good, kind: 'wrap-key-forget' }, 'bad_signature'],
    ['another body', { ...good, body: { ...statement.body, note: 'x' } }, 'bad_signature'],
    ['a body with more in it', { ...good, body: { ...statement.body, more: 1 } }, 'bad_signature'],
    ['another epoch', { ...good, epoch: 4 }, 'bad_signature'],
    ['another time', { ...good, time: '2026-11-29T12:00:00.251Z' }, 'bad_signature'],
    ['the same time, said differently', { ...good, time: '2026-11-29T12:00:00.25Z' }, 'bad_signature'],
    ['another signature', { ...good, sig: encodeBase64url(new Uint8Array(64)) }, 'bad_signature'],
    ['a valid hub key that did not sign', { ...good, hubKey: createHubKey(random, root, 3).record }, 'bad_signature'],
    ['an older hub key', signStatement({ ...statement, hubKey: createHubKey(random, root, 1) }), 'unknown_hub_key'],
    [
      'a hub key of another root',
      signStatement({ ...statement, hubKey: createHubKey(random, createHubRoot(random), 2) }),
      'unknown_hub_key',
    ],
    ['no time', { ...good, time: null }, 'statement_malformed'],
    ['a time that is none', { ...good, time: 'now' }, 'statement_malformed'],
    ['a kind with a separator', { ...good, kind: 'a\0b' }, 'statement_malformed'],
    ['a body that is no object', { ...good, body: [] }, 'statement_malformed'],
    ['a fraction in the body', { ...good, body: { x: 1.5 } }, 'statement_malformed'],
    ['a body beyond its bound', { ...good, body: { x: 'x'.repeat(limits.statementMaxBytes) } }, 'statement_malformed'],
    ['another format', { ...good, v: 2 }, 'statement_malformed'],
    ['no object', 'statement', 'statement_malformed'],
  ])('%s', (_, json, code) => {
    expect(verdict(json)).toBe(code);
    expect(verdict(good)).toBe('accepted');
  });

  test.each<[string, JsonValue]>([
    ['statement', 'statement'],
    ['v', { ...good, v: 2 }],
    ['v', { ...good, v: '1' }],
    ['hubKey', { ...good, hubKey: null }],
    ['purpose', { ...good, kind: '' }],
    ['body', { ...good, body: [] }],
    ['epoch', { ...good, epoch: 0 }],
    ['time', { ...good, time: null }],
    ['sig', { ...good, sig: 'AA' }],
    ['size', { ...good, body: { x: 'x'.repeat(limits.statementMaxBytes) } }],
  ])('and says that %s is at fault', (what, json) => {
    expect(faultOf(() => verifyStatement(json, context))).toBe(what);
  });

  test('what is larger than its bound, by one byte', () => {
    const empty = canonicalJson({ body: { x: '' }, epoch: statement.epoch, time: statement.time });
    const body = { x: 'x'.repeat(limits.statementMaxBytes - empty.length) };
    expect(verifyStatement(signStatement({ ...statement, body, hubKey }), context).body).toEqual(body);
    expect(refusalOf(() => signStatement({ ...statement, body: { x: `${body.x}x` }, hubKey }))).toBe('malformed_json');
  });

  test('to sign with a key of another kind, or what could not be verified', () => {
    // @ts-expect-error a wrap key does not sign
    expect(() => signStatement({ ...statement, hubKey: generateWrapKey(random) })).toThrow(TypeError);
    const lookalike = Object.assign({}, hubKey, { sign: (message: Uint8Array) => hubKey.sign(message) });
    expect(() => signStatement({ ...statement, hubKey: lookalike })).toThrow(TypeError);
    expect(refusalOf(() => signStatement({ ...statement, time: '', hubKey }))).toBe('malformed_time');
  });
});
