import { generateKeyPairSync } from 'node:crypto';
import { utf8 } from '@rollcall/core/bytes';
import { isRollcallError } from '@rollcall/core/errors';
import { createAuthority } from '@rollcall/x509';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { random, trustDomain } from './fleet.fixture.ts';
import { parseEnrolAnswer, parseHeartbeatAnswer, parseTrustBundle } from './hub-answers.ts';

const authority = createAuthority({
  trustDomain,
  commonName: 'Fleet root',
  generateKeyPair: () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' }),
  random,
  nowMs: Date.parse('2026-03-01T12:00:00Z'),
  lifeMs: 86_400_000,
});
const x5c = [Buffer.from(authority.certificateDer).toString('base64')];
const bundle = {
  keys: [{ kty: 'EC', crv: 'P-256', x: '', y: '', use: 'x509-svid', x5c }],
  spiffe_sequence: 1,
  spiffe_refresh_hint: 60,
};
const beat = {
  time: '2026-03-01T12:00:00Z',
  nextBeatMs: 5_000,
  pin: { state: 'pinned' },
  deliveries: [],
  statements: [],
};
const enrolled = { trustDomain, bundle, deliveries: [{}] };

const bytes = (value: unknown) => utf8(JSON.stringify(value));

describe('the answers of the hub', () => {
  it('are read', () => {
    expect(parseHeartbeatAnswer(bytes(beat))).toEqual({
      nextBeatMs: 5_000,
      pin: 'pinned',
      deliveries: [],
      statements: [],
    });
    expect(parseEnrolAnswer(bytes(enrolled))).toEqual({
      trustDomain,
      roots: [authority.certificateDer],
      deliveries: [{}],
    });
    expect(parseTrustBundle(bytes(bundle))).toEqual([authority.certificateDer]);
  });

  it('may carry what a later hub adds', () => {
    expect(parseHeartbeatAnswer(bytes({ ...beat, challenge: {}, checkpoint: 'x' })).pin).toBe('pinned');
  });

  it.each([
    [1, 100],
    [99_999_999, 60_000],
  ])('ask for a beat in %s ms, and get it within bounds: %s', (asked, taken) => {
    expect(parseHeartbeatAnswer(bytes({ ...beat, nextBeatMs: asked })).nextBeatMs).toBe(taken);
  });

  const { deliveries: _deliveries, ...withoutDeliveries } = beat;
  it.each<readonly [string, () => unknown]>([
    ['no deliveries', () => parseHeartbeatAnswer(bytes(withoutDeliveries))],
    ['a beat of zero', () => parseHeartbeatAnswer(bytes({ ...beat, nextBeatMs: 0 }))],
    ['a beat of text', () => parseHeartbeatAnswer(bytes({ ...beat, nextBeatMs: '5s' }))],
    ['an unknown pin state', () => parseHeartbeatAnswer(bytes({ ...beat, pin: { state: 'toString' } }))],
    [
      'more deliveries than a host has secrets',
      () => parseHeartbeatAnswer(bytes({ ...beat, deliveries: Array(65).fill({}) })),
    ],
    [
      'a doubled member',
      () => parseHeartbeatAnswer(utf8(JSON.stringify(beat).replace('"time"', '"pin":{"state":"none"},"time"'))),
    ],
    ['no bundle', () => parseEnrolAnswer(bytes({ trustDomain, deliveries: [] }))],
    ['no authority', () => parseTrustBundle(bytes({ ...bundle, keys: [] }))],
    ['a bundle for another use', () => parseTrustBundle(bytes({ keys: [{ use: 'jwt-svid', x5c }] }))],
    ['a certificate that is none', () => parseTrustBundle(bytes({ keys: [{ use: 'x509-svid', x5c: ['AAAA'] }] }))],
    [
      'a certificate in another base64',
      () => parseTrustBundle(bytes({ keys: [{ use: 'x509-svid', x5c: [`${x5c[0]} `] }] })),
    ],
    ['two certificates in one', () => parseTrustBundle(bytes({ keys: [{ use: 'x509-svid', x5c: [...x5c, ...x5c] }] }))],
    ['no JSON', () => parseHeartbeatAnswer(utf8('<html>'))],
  ])('are unusable with %s', (_what, parse) => {
    expect(parse).toThrow(expect.objectContaining({ code: 'hub_answer_unusable' }));
  });

  it('are read or unusable, whatever stands in them', () => {
    const member = fc.record({
      name: fc.constantFrom(...Object.keys(beat), ...Object.keys(enrolled), 'keys'),
      value: fc.jsonValue({ maxDepth: 5 }),
    });
    fc.assert(
      fc.property(fc.array(member, { maxLength: 4 }), (members) => {
        const changes = Object.fromEntries(members.map(({ name, value }) => [name, value]));
        for (const [parse, answer] of [
          [parseHeartbeatAnswer, beat],
          [parseEnrolAnswer, enrolled],
          [parseTrustBundle, bundle],
        ] as const) {
          try {
            parse(bytes({ ...answer, ...changes }));
          } catch (error) {
            expect(isRollcallError(error, 'hub_answer_unusable')).toBe(true);
          }
        }
      }),
    );
  });

  it('cut at any place are unusable', () => {
    const whole = bytes(enrolled);
    for (let length = 0; length < whole.length; length += 13) {
      expect(() => parseEnrolAnswer(whole.subarray(0, length))).toThrow(
        expect.objectContaining({ code: 'hub_answer_unusable' }),
      );
    }
  });
});
