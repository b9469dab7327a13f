import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { encodeBase64url, utf8 } from '../bytes.ts';
import { canonicalJson, type JsonObject, type JsonValue } from '../json.ts';
import { ed25519PublicKey } from '../keys/ed25519.ts';
import { SecretBytes } from '../keys/secret-bytes.ts';
import { limits } from '../limits.ts';
import { faultOf, refusalOf } from '../refusal.fixture.ts';
import { type Assignment, encodeAssignment, isDrop, NOTHING, parseAssignment } from './assignment.ts';

const key = (fill: number) => new SecretBytes('host-key', new Uint8Array(32).fill(fill));
const sso = ed25519PublicKey(new Uint8Array(32).fill(9));
const common = { epoch: 1, step: 9, present: 4, issuedAt: '2026-11-29T12:00:00Z' };
const master: Assignment = {
  ...common,
  secret: 'master',
  accept: [
    { version: 4, value: { life: 2, keys: { heartbeat: key(1), command: key(2) } } },
    {
      version: 5,
      value: {
        life: 2,
        keys: { heartbeat: key(3) },
        sso: [sso],
        master: new SecretBytes('master', new Uint8Array(40).fill(4)),
      },
    },
  ],
};
const token: Assignment = {
  ...common,
  secret: 'fleet-token',
  accept: [{ version: 4, value: new SecretBytes('token', utf8('old token, as it was')) }],
};

const narrowing: Assignment = {
  ...token,
  refuse: [{ version: 3, value: new SecretBytes('token', utf8('older token')) }],
};

const dropped: Assignment = { ...token, accept: [], present: NOTHING };

/** All that is in it, secrets too: `toEqual` cannot look into them. */
const whole = (assignment: Assignment) => canonicalJson(encodeAssignment(assignment));

test.each([
  ['master', master],
  ['a token', token],
  ['a token of which it drops a version', narrowing],
  ['a token that is dropped', dropped],
])('an assignment of %s round-trips through its durable form', (_, assignment) => {
  const json = JSON.parse(JSON.stringify(encodeAssignment(assignment))) as JsonValue;
  expect(whole(parseAssignment(json))).toBe(whole(assignment));
  expect(parseAssignment(json)).toEqual(assignment);
});

test('the form is the one of design 4 and 11: bytes in base64url, tokens as they are', () => {
  expect(encodeAssignment(token)).toEqual({
    ...common,
    secret: 'fleet-token',
    accept: [{ version: 4, value: 'old token, as it was' }],
  });
  expect(encodeAssignment(narrowing)).toEqual({
    ...encodeAssignment(token),
    refuse: [{ version: 3, value: 'older token' }],
  });
  expect(encodeAssignment({ ...token, refuse: [] })).not.toHaveProperty('refuse');
  const [, second] = encodeAssignment(master)['accept'] as JsonObject[];
  expect(second).toEqual({
    version: 5,
    value: {
      life: 2,
      keys: { heartbeat: encodeBase64url(new Uint8Array(32).fill(3)) },
      sso: [encodeBase64url(sso)],
      master: encodeBase64url(new Uint8Array(40).fill(4)),
    },
  });
});

test('a drop accepts nothing and presents nothing', () => {
  expect(encodeAssignment(dropped)).toEqual({ ...common, secret: 'fleet-token', accept: [], present: 0 });
  expect([dropped, token, narrowing, master].map(isDrop)).toEqual([true, false, false, false]);
});

test('an assignment does not show its values', () => {
  const shown =
    inspect(master, { depth: 9 }) +
    JSON.stringify(master) +
    inspect(narrowing, { depth: 9 }) +
    JSON.stringify(narrowing);
  expect(shown).not.toContain(encodeBase64url(new Uint8Array(32).fill(1)));
  expect(shown).not.toContain('old token');
  expect(shown).not.toContain('older token');
});

describe('refuses', () => {
  const good = encodeAssignment(master);
  const [first, second] = good['accept'] as [JsonObject, JsonObject];
  const value = first['value'] as JsonObject;
  const refused = (version: number, text = 'older token'): JsonValue[] => [{ version, value: text }];

  test.each<[string, JsonValue, string]>([
    ['no object', [], 'malformed_json'],
    ['no secret', { ...good, secret: null }, 'malformed_secret_name'],
    ['an empty accept set', { ...good, accept: [] }, 'malformed_json'],
    ['three accepted versions', { ...good, accept: [first, second, { ...second, version: 6 }] }, 'malformed_json'],
    ['one version twice', { ...good, accept: [first, first] }, 'malformed_json'],
    ['a presented version that is not accepted', { ...good, present: 6 }, 'malformed_json'],
    ['version 0', { ...good, present: 0, accept: [{ ...first, version: 0 }] }, 'malformed_json'],
    ['epoch 0', { ...good, epoch: 0 }, 'malformed_json'],
    ['a step in a text', { ...good, step: '9' }, 'malformed_json'],
    ['half a step', { ...good, step: 1.5 }, 'malformed_json'],
    ['no time of issue', { ...good, issuedAt: '' }, 'malformed_time'],
    ['a token as master', { ...good, accept: [{ version: 4, value: 'token' }] }, 'malformed_json'],
    ['no life', { ...good, accept: [{ version: 4, value: { keys: value['keys'] as JsonObject } }] }, 'malformed_json'],
    ['no key', { ...good, accept: [{ version: 4, value: { life: 2, keys: {} } }] }, 'malformed_json'],
    [
      'a short key',
      { ...good, accept: [{ version: 4, value: { life: 2, keys: { heartbeat: 'AAAA' } } }] },
      'malformed_json',
    ],
    [
      'a malformed purpose',
      { ...good, accept: [{ version: 4, value: { life: 2, keys: { 'a b': encodeBase64url(sso) } } }] },
      'malformed_secret_name',
    ],
    [
      'too many keys',
      {
        ...good,
        accept: [
          {
            version: 4,
            value: {
              life: 2,
              keys: Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`p${n}`, encodeBase64url(sso)])),
            },
          },
        ],
      },
      'malformed_json',
    ],
    [
      'a short master',
      { ...good, accept: [{ version: 4, value: { ...value, master: encodeBase64url(new Uint8Array(31)) } }] },
      'malformed_json',
    ],
    [
      'an SSO key of small order',
      { ...good, accept: [{ version: 4, value: { ...value, sso: [encodeBase64url(new Uint8Array(32))] } }] },
      'malformed_key',
    ],
    ['keys as a token', { ...good, secret: 'fleet-token' }, 'malformed_json'],
    ['an empty accept set of a token', { ...encodeAssignment(token), accept: [] }, 'malformed_json'],
    ['nothing to present beside what is accepted', { ...encodeAssignment(token), present: 0 }, 'malformed_json'],
    ['a drop without its empty accept set', { ...encodeAssignment(dropped), accept: null }, 'malformed_json'],
    ['a drop that says no version', { ...encodeAssignment(dropped), present: null }, 'malformed_json'],
    ['a drop of what is less than nothing', { ...encodeAssignment(dropped), present: -1 }, 'malformed_json'],
    ['a drop of the master', { ...good, accept: [], present: 0 }, 'malformed_json'],
    ['a drop that names what it refuses', { ...encodeAssignment(dropped), refuse: refused(3) }, 'malformed_json'],
    ['nothing that is refused', { ...encodeAssignment(narrowing), refuse: [] }, 'malformed_json'],
    ['a refused version that is accepted', { ...encodeAssignment(narrowing), refuse: refused(4) }, 'malformed_json'],
    [
      'two refused versions',
      { ...encodeAssignment(narrowing), refuse: [...refused(3), ...refused(2)] },
      'malformed_json',
    ],
    ['a refused version 0', { ...encodeAssignment(narrowing), refuse: refused(0) }, 'malformed_json'],
    ['an empty refused token', { ...encodeAssignment(narrowing), refuse: refused(3, '') }, 'malformed_json'],
    [
      'a refused version without a value',
      { ...encodeAssignment(narrowing), refuse: [{ version: 3 }] },
      'malformed_json',
    ],
    ['a refused version as an object', { ...encodeAssignment(narrowing), refuse: { version: 3 } }, 'malformed_json'],
    ['no list of what is refused', { ...encodeAssignment(narrowing), refuse: null }, 'malformed_json'],
    ['a refused generation of the master', { ...good, refuse: [first] }, 'malformed_json'],
    ['a refused token for the master', { ...good, refuse: refused(3) }, 'malformed_json'],
    ['an empty token', { ...encodeAssignment(token), accept: [{ version: 4, value: '' }] }, 'malformed_json'],
  ])('%s', (_, json, code) => {
    expect(refusalOf(() => parseAssignment(json))).toBe(code);
  });

  const only = (change: JsonObject) => ({ ...good, accept: [{ version: 4, value: { ...value, ...change } }] });
  test.each<[string, JsonValue]>([
    ['assignment', []],
    ['accept', { ...good, accept: {} }],
    ['accept', { ...good, accept: ['x'] }],
    ['accept', { ...good, accept: [first, first] }],
    ['version', { ...good, accept: [{ ...first, version: 0 }] }],
    ['present', { ...good, present: '4' }],
    ['present', { ...good, present: 6 }],
    ['epoch', { ...good, epoch: 0 }],
    ['step', { ...good, step: 0 }],
    ['issuedAt', { ...good, issuedAt: 7 }],
    ['value', { ...good, accept: [{ version: 4, value: 'token' }] }],
    ['value', { ...encodeAssignment(token), accept: [{ version: 4, value: 7 }] }],
    ['value', { ...encodeAssignment(token), accept: [{ version: 4, value: '' }] }],
    ['refuse', { ...encodeAssignment(narrowing), refuse: refused(4) }],
    ['life', only({ life: 0 })],
    ['keys', only({ keys: [] })],
    ['keys', only({ keys: {} })],
    ['keys', only({ keys: { heartbeat: 'AAAA' } })],
    ['purpose', only({ keys: { 'a b': encodeBase64url(sso) } })],
    ['sso', only({ sso: {} })],
    ['sso', only({ sso: ['AAAA'] })],
    ['master', only({ master: 7 })],
    ['master', only({ master: encodeBase64url(new Uint8Array(31)) })],
  ])('and says that %s is at fault: %#', (what, json) => {
    expect(faultOf(() => parseAssignment(json))).toBe(what);
  });

  test('not what just fits', () => {
    const keys = Object.fromEntries(Array.from({ length: 32 }, (_, n) => [`p${n}`, encodeBase64url(sso)]));
    const masterOf = (length: number) => only({ keys, master: encodeBase64url(new Uint8Array(length)) });
    expect(refusalOf(() => parseAssignment(masterOf(32)))).toBe('accepted');
    expect(refusalOf(() => parseAssignment(masterOf(limits.masterMaxBytes)))).toBe('accepted');
    expect(refusalOf(() => parseAssignment(masterOf(limits.masterMaxBytes + 1)))).toBe('malformed_json');
  });

  test('to issue or store what could not be read again', () => {
    expect(refusalOf(() => encodeAssignment({ ...master, present: 6 }))).toBe('malformed_json');
    expect(refusalOf(() => encodeAssignment({ ...token, secret: 'master' }))).toBe('malformed_json');
    const binary = new SecretBytes('token', Uint8Array.of(0xff));
    expect(refusalOf(() => encodeAssignment({ ...token, accept: [{ version: 4, value: binary }] }))).toBe('TypeError');
    const other = new SecretBytes('host-key', utf8('a text')) as SecretBytes as SecretBytes<'token'>;
    expect(refusalOf(() => encodeAssignment({ ...token, accept: [{ version: 4, value: other }] }))).toBe('TypeError');
  });
});
