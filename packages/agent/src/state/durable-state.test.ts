import { inspect } from 'node:util';
import { encodeBase64url, encodeHex } from '@rollcall/core/bytes';
import { isRollcallError } from '@rollcall/core/errors';
import type { JsonObject, JsonValue } from '@rollcall/core/json';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assignment, durableState, enrolment, heartbeatKey, random, wrapKey } from '../fleet.fixture.ts';
import { encodeDurableState, parseDurableState } from './durable-state.ts';

function completeState() {
  return durableState({
    assignments: new Map([['master', assignment({ versions: [1, 2] })]]),
    statements: new Map([['tls-spki', { epoch: 1, timeMs: 1_000 }]]),
    redeemed: ['a'.repeat(64)],
    enrolment: {
      token: enrolment().digest,
      hubs: ['https://hub.example'],
      spki: [random(32)],
      instance: random(16),
      proof: random(32),
    },
  });
}

describe('the durable state', () => {
  it('reads back as what was written', () => {
    const encoded = encodeDurableState(completeState());
    expect(encodeDurableState(parseDurableState(encoded))).toEqual(encoded);
    expect(parseDurableState(encoded).wrapKeys[0]?.public.fingerprint).toBe(wrapKey.public.fingerprint);
    expect(parseDurableState(encoded).assignments.get('master')?.accept).toHaveLength(2);
  });

  it('reads back without its optional parts', () => {
    const { life: _life, enrolment: _enrolment, ...rest } = completeState();
    const parsed = parseDurableState(encodeDurableState(rest));
    expect(parsed).not.toHaveProperty('life');
    expect(parsed).not.toHaveProperty('enrolment');
  });

  it('is not written in a form that could not be read again', () => {
    const redeemed = Array.from({ length: 65 }, () => 'a'.repeat(64));
    expect(() => encodeDurableState(durableState({ redeemed }))).toThrow(
      expect.objectContaining({ name: 'RollcallError' }),
    );
    expect(encodeDurableState(durableState({ redeemed: redeemed.slice(1) }))['redeemed']).toHaveLength(64);
    const longest = `https://hub.example/${'x'.repeat(280)}`;
    expect(parseDurableState(encodeDurableState(durableState({ hubs: [longest] }))).hubs).toEqual([longest]);
  });

  it('shows no secret when it is printed', () => {
    const secrets = [wrapKey.private.reveal(), heartbeatKey(1), heartbeatKey(2)];
    const shown = `${inspect(completeState(), { depth: 9 })} ${JSON.stringify([...completeState().assignments])}`;
    for (const secret of secrets) {
      for (const form of [encodeHex(secret), encodeBase64url(secret), [...secret].join(', ')])
        expect(shown).not.toContain(form);
    }
    expect(shown).toContain('[redacted');
  });

  it.each<readonly [string, (state: JsonObject) => JsonObject]>([
    ['no host', ({ host: _host, ...rest }) => rest],
    ['another kind of host', (state) => ({ ...state, host: 'a b' })],
    ['a short hub root', (state) => ({ ...state, hubRoot: 'AAAA' })],
    ['no wrap key', (state) => ({ ...state, wrapKeys: [] })],
    ['an unknown suite', (state) => ({ ...state, wrapKeys: [{ suite: 'xwing', private: 'A'.repeat(43) }] })],
    ['a life of zero', (state) => ({ ...state, life: 0 })],
    [
      'two assignments of one secret',
      (state) => ({
        ...state,
        assignments: [...(state['assignments'] as JsonValue[]), ...(state['assignments'] as JsonValue[])],
      }),
    ],
    ['a redeemed token that is no digest', (state) => ({ ...state, redeemed: ['x'] })],
    ['a negative serial', (state) => ({ ...state, hubKeySerial: -1 })],
  ])('is refused with %s', (_what, change) => {
    expect(() => parseDurableState(change(encodeDurableState(completeState())))).toThrow(
      expect.objectContaining({ name: 'RollcallError' }),
    );
  });

  it('refuses whatever is put in the place of a member with an error of ours, and never takes it for absent', () => {
    const encoded = encodeDurableState(completeState());
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(encoded)), fc.jsonValue({ maxDepth: 4 }), (name, value) => {
        try {
          parseDurableState({ ...encoded, [name]: value as JsonValue });
        } catch (error) {
          expect(isRollcallError(error)).toBe(true);
        }
      }),
    );
  });
});
