import { inspect } from 'node:util';
import { encodeBase64url, encodeHex } from '@rollcall/core/bytes';
import { isRollcallError } from '@rollcall/core/errors';
import type { JsonObject, JsonValue } from '@rollcall/core/json';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { durableState } from '../fleet.fixture.ts';
import { certified, newRequest } from '../listener.fixture.ts';
import { makeAuthority } from '../tls-hub.fixture.ts';
import { encodeDurableState, parseDurableState } from './durable-state.ts';
import { encodeListenerKeys, parseListenerKeys } from './listener-keys.ts';

const authority = makeAuthority();
const keys = { current: certified(authority, Date.now()), asked: newRequest() };

describe('the keys of a listener', () => {
  it('read back as what was written, each part with the other or alone', () => {
    for (const some of [keys, { current: keys.current }, { asked: keys.asked }, {}]) {
      const encoded = encodeListenerKeys(some);
      expect(encodeListenerKeys(parseListenerKeys(encoded))).toEqual(encoded);
      expect(Object.keys(parseListenerKeys(encoded))).toEqual(Object.keys(some));
    }
    const { current } = parseListenerKeys(encodeListenerKeys(keys));
    expect(current?.privateKey.reveal()).toEqual(keys.current.privateKey.reveal());
    expect(current).toMatchObject({
      notBeforeMs: keys.current.notBeforeMs,
      notAfterMs: keys.current.notAfterMs,
      life: 1,
    });
  });

  it('are part of the state, and a state from before there were any is read as before', () => {
    const state = durableState({ listener: keys });
    expect(parseDurableState(encodeDurableState(state)).listener?.asked?.csr).toEqual(keys.asked.csr);
    expect(parseDurableState(encodeDurableState(durableState()))).not.toHaveProperty('listener');
  });

  it('remember of which life a certificate is, or that nobody has told', () => {
    const unknown = certified(authority, Date.now(), null);
    expect(parseListenerKeys(encodeListenerKeys({ current: unknown })).current?.life).toBeNull();
  });

  it('show no private half when they are printed', () => {
    const shown = `${inspect(keys, { depth: 9 })} ${JSON.stringify(keys)}`;
    for (const { privateKey } of [keys.current, keys.asked])
      for (const form of [encodeHex(privateKey.reveal()), encodeBase64url(privateKey.reveal())])
        expect(shown).not.toContain(form);
    expect(shown).toContain('[redacted listener-private]');
  });

  it('are refused where key and certificate do not belong together', () => {
    const { current } = encodeListenerKeys(keys) as { current: JsonObject };
    const privateKey = encodeBase64url(keys.asked.privateKey.reveal());
    expect(() => parseListenerKeys({ current: { ...current, privateKey } })).toThrow(
      expect.objectContaining({ code: 'malformed_json', details: { what: 'listener.privateKey' } }),
    );
    expect(() => parseListenerKeys({ current: { ...current, chain: [] } })).toThrow(
      expect.objectContaining({ code: 'malformed_json', details: { what: 'listener.chain' } }),
    );
    expect(parseListenerKeys({ current }).current?.chain).toEqual(keys.current.chain);
  });

  it('refuse whatever is put in the place of a member with an error of ours', () => {
    const encoded = encodeListenerKeys(keys) as Record<'current' | 'asked', JsonObject>;
    const places = [
      ['current', 'privateKey'],
      ['current', 'chain'],
      ['current', 'life'],
      ['asked', 'privateKey'],
      ['asked', 'csr'],
    ] as const;
    fc.assert(
      fc.property(fc.constantFrom(...places), fc.jsonValue({ maxDepth: 3 }), ([part, name], value) => {
        try {
          parseListenerKeys({ ...encoded, [part]: { ...encoded[part], [name]: value as JsonValue } });
        } catch (error) {
          expect(isRollcallError(error)).toBe(true);
        }
      }),
    );
  });
});
