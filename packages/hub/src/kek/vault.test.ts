import { seededRandom } from '@rollcall/core/testing';
import { describe, expect, it } from 'vitest';
import { codeOf, createTestVault } from '../hub.fixture.ts';
import type { MacFields, Place } from './vault.ts';

const vault = createTestVault('kek');
const stranger = createTestVault('another kek');
const place: Place = { table: 'generations', row: 'master/1', column: 'value' };
const plaintext = seededRandom('vault')(32);

describe('what is encrypted', () => {
  it('opens at its place, differs each time, and shows nothing of itself', () => {
    const first = vault.encrypt(place, plaintext);
    const second = vault.encrypt(place, plaintext);
    expect([vault.decrypt(place, first), vault.decrypt(place, second)]).toEqual([plaintext, plaintext]);
    expect(second).not.toEqual(first);
    expect(Buffer.from(first).includes(Buffer.from(plaintext.subarray(0, 4)))).toBe(false);
    expect(vault.decrypt(place, vault.encrypt(place, new Uint8Array()))).toEqual(new Uint8Array());
  });

  it.each<[string, Place]>([
    ['table', { ...place, table: 'enrolment_tokens' }],
    ['row', { ...place, row: 'master/2' }],
    ['column', { ...place, column: 'key' }],
    ['place, cut elsewhere', { table: 'generations', row: 'master', column: '1/value' }],
  ])('does not open in another %s', async (_what, elsewhere) => {
    const sealed = vault.encrypt(place, plaintext);
    expect(await codeOf(() => vault.decrypt(elsewhere, sealed))).toBe('store_unreadable');
    expect(vault.decrypt(elsewhere, vault.encrypt(elsewhere, plaintext))).toEqual(plaintext);
  });

  it('does not open with one bit flipped anywhere, cut short, made longer, or under another key', async () => {
    const sealed = vault.encrypt(place, plaintext);
    for (let at = 0; at < sealed.length; at += 1) {
      const flipped = Uint8Array.from(sealed);
      flipped[at] = (flipped[at] as number) ^ 1;
      expect(await codeOf(() => vault.decrypt(place, flipped))).toBe('store_unreadable');
      expect(await codeOf(() => vault.decrypt(place, sealed.subarray(0, at)))).toBe('store_unreadable');
    }
    expect(await codeOf(() => vault.decrypt(place, Uint8Array.of(...sealed, 0)))).toBe('store_unreadable');
    expect(await codeOf(() => stranger.decrypt(place, sealed))).toBe('store_unreadable');
    expect(vault.decrypt(place, sealed)).toEqual(plaintext);
  });

  it('is refused without a word of it', () => {
    const sealed = vault.encrypt(place, plaintext);
    try {
      stranger.decrypt(place, sealed);
      expect.unreachable();
    } catch (error) {
      expect(JSON.stringify(error)).not.toContain(Buffer.from(plaintext).toString('hex'));
      expect((error as { details: unknown }).details).toEqual({ table: 'generations', row: 'master/1' });
    }
  });
});

describe('the MAC of a row', () => {
  const row: MacFields = { host: 'agent-7', life: 2, public: Uint8Array.of(1, 2), since: null };
  const mac = vault.mac('pins', row);

  it('is that of the row, in whatever order its columns come', () => {
    expect(() => vault.assertMac('pins', row, mac)).not.toThrow();
    expect(() =>
      vault.assertMac('pins', { since: null, public: Uint8Array.of(1, 2), life: 2, host: 'agent-7' }, mac),
    ).not.toThrow();
  });

  it.each<[string, string, MacFields]>([
    ['table', 'hosts', row],
    ['text', 'pins', { ...row, host: 'agent-8' }],
    ['number', 'pins', { ...row, life: 3 }],
    ['number that became a text', 'pins', { ...row, life: '2' }],
    ['byte', 'pins', { ...row, public: Uint8Array.of(1, 3) }],
    ['byte less', 'pins', { ...row, public: Uint8Array.of(1) }],
    ['null that became 0', 'pins', { ...row, since: 0 }],
    ['column more', 'pins', { ...row, extra: 1 }],
    ['column less', 'pins', { host: 'agent-7', life: 2, public: Uint8Array.of(1, 2) }],
  ])('is not that of another %s', async (_what, table, other) => {
    expect(await codeOf(() => vault.assertMac(table, other, mac))).toBe('store_unreadable');
    expect(await codeOf(() => vault.assertMac(table, other, vault.mac(table, other)))).toBe('done');
  });

  it('is not cut, not empty, not of another key', async () => {
    for (const other of [mac.subarray(0, 31), new Uint8Array(), stranger.mac('pins', row)]) {
      expect(await codeOf(() => vault.assertMac('pins', row, other))).toBe('store_unreadable');
    }
    expect(await codeOf(() => vault.assertMac('pins', row, mac))).toBe('done');
  });
});

it('a key has one fingerprint, and another key another', () => {
  expect(createTestVault('kek').fingerprint).toBe(vault.fingerprint);
  expect(vault.fingerprint).toMatch(/^[0-9a-f]{64}$/);
  expect(stranger.fingerprint).not.toBe(vault.fingerprint);
});
