import { expect, it } from 'vitest';
import { codeOf, createTestVault } from '../hub.fixture.ts';
import type { PinsTable } from './schema.ts';
import { openRow, readOrUnreadable, sealRow } from './trust-row.ts';

const vault = createTestVault('kek');
const pin = {
  host: 'agent-7',
  suite: 'x25519',
  public: Uint8Array.of(7),
  fingerprint: 'ab',
  anchor: 'operator',
  since: 1,
} as const;
const row = sealRow<PinsTable>(vault, 'pins', pin);

it('a sealed row opens to what was sealed, also when the database gives Buffers', () => {
  expect(openRow<PinsTable>(vault, 'pins', row)).toEqual(pin);
  const asRead = { ...row, public: Buffer.from(row.public), mac: Buffer.from(row.mac) };
  expect(openRow<PinsTable>(vault, 'pins', asRead)).toEqual(pin);
});

it.each<[string, Partial<PinsTable>]>([
  ['host', { host: 'agent-8' }],
  ['anchor', { anchor: 'enrolment' }],
  ['key', { public: Uint8Array.of(8) }],
  ['time', { since: 2 }],
  ['MAC', { mac: new Uint8Array(32) }],
  ['MAC to a text', { mac: 'x' as unknown as Uint8Array }],
])('a row whose %s was changed does not open', async (_what, change) => {
  expect(await codeOf(() => openRow<PinsTable>(vault, 'pins', { ...row, ...change }))).toBe('store_unreadable');
  const { mac: _mac, ...changed } = { ...row, ...change };
  expect(openRow<PinsTable>(vault, 'pins', sealRow<PinsTable>(vault, 'pins', changed))).toEqual(changed);
});

it.each([
  ['a number that is not whole', { since: 1.5 }],
  ['half of a surrogate pair', { fingerprint: '\ud800' }],
])('a row with %s, which has no canonical form, is unreadable and no fault of whoever asked', async (_what, change) => {
  expect(await codeOf(() => openRow<PinsTable>(vault, 'pins', { ...row, ...change }))).toBe('store_unreadable');
  expect(openRow<PinsTable>(vault, 'pins', row)).toEqual(pin);
});

it('in a list a row that does not open is `unreadable`, and no other error is taken for that', async () => {
  const open = (stored: PinsTable) => readOrUnreadable(() => openRow<PinsTable>(vault, 'pins', stored));
  expect([open(row), open({ ...row, since: 2 })]).toEqual([pin, 'unreadable']);
  const fail = () => {
    throw new TypeError('a mistake');
  };
  expect(() => readOrUnreadable(fail)).toThrow(TypeError);
});

it('a row moved to another table, or sealed under another key, does not open', async () => {
  expect(await codeOf(() => openRow<PinsTable>(vault, 'hosts', row))).toBe('store_unreadable');
  expect(await codeOf(() => openRow<PinsTable>(createTestVault('another kek'), 'pins', row))).toBe('store_unreadable');
});
