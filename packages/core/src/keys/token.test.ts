import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RollcallError } from '../errors.ts';
import { limits } from '../limits.ts';
import { refusalOf } from '../refusal.fixture.ts';
import { encodeToken, parseToken, type TokenPrefix, tokenPrefixes } from './token.ts';

const prefixes = Object.keys(tokenPrefixes) as TokenPrefix[];
const value = fc.uint8Array({ minLength: 1, maxLength: 200 });

describe('tokens', () => {
  test('round-trip under every prefix, and under no other', () => {
    fc.assert(
      fc.property(fc.constantFrom(...prefixes), value, (prefix, bytes) => {
        const text = encodeToken(prefix, bytes);
        expect(text).toMatch(/^rc[fhbcoe]_[A-Za-z0-9_-]+$/);
        expect(parseToken(prefix, text)).toEqual(bytes);
        for (const other of prefixes) {
          if (other === prefix) continue;
          expect(refusalOf(() => parseToken(other, text))).toBe('malformed_token');
          // Relabelled by hand: the checksum holds the prefix too.
          expect(refusalOf(() => parseToken(other, text.replace(prefix, other)))).toBe('malformed_token');
          expect(refusalOf(() => parseToken(prefix, text.replace(prefix, other)))).toBe('malformed_token');
        }
      }),
    );
  });

  test('with one character changed, left out, doubled or added are refused', () => {
    fc.assert(
      fc.property(value, fc.nat(), fc.constantFrom(...Array.from('AZaz09-_ =+/.')), (bytes, seed, character) => {
        const text = encodeToken('rch', bytes);
        const at = 4 + (seed % (text.length - 4));
        const spoiled = [
          text.slice(0, at) + text.slice(at + 1),
          text.slice(0, at) + text[at] + text.slice(at),
          `${text}${character}`,
          ` ${text}`,
          `${text}\n`,
        ];
        if (text[at] !== character) spoiled.push(text.slice(0, at) + character + text.slice(at + 1));
        for (const bad of spoiled) expect(refusalOf(() => parseToken('rch', bad))).toBe('malformed_token');
        expect(parseToken('rch', text)).toEqual(bytes);
      }),
    );
  });

  test.each<unknown>(['', 'rch_', 'rch_AAAA', 'rch', 'RCH_', undefined, null, 7, {}, ['rch_'], 'x'.repeat(10_000)])(
    '%j is none',
    (text) => {
      expect(refusalOf(() => parseToken('rch', text))).toBe('malformed_token');
    },
  );

  test('with a checksum of nothing, and nothing before it, are refused', () => {
    const checksum = createHash('sha256').update('rch_').digest().subarray(0, 4);
    expect(refusalOf(() => parseToken('rch', `rch_${checksum.toString('base64url')}`))).toBe('malformed_token');
  });

  test('are refused by the name of what was expected', () => {
    const expected = (prefix: TokenPrefix) => {
      try {
        return parseToken(prefix, 'x');
      } catch (error) {
        return (error as RollcallError).details;
      }
    };
    expect(prefixes.map(expected)).toEqual(prefixes.map((prefix) => ({ expected: tokenPrefixes[prefix] })));
    expect(new Set(Object.values(tokenPrefixes)).size).toBe(prefixes.length);
    expect(tokenPrefixes.rce).toBe('enrolment token');
  });

  test('of the longest text are made and read', () => {
    const longest = new Uint8Array(Math.floor(((limits.tokenTextMaxCharacters - 'rch_'.length) * 3) / 4) - 4);
    const text = encodeToken('rch', longest);
    expect(text.length).toBe(limits.tokenTextMaxCharacters);
    expect(parseToken('rch', text)).toEqual(longest);
    const longer = Buffer.alloc(longest.length + 1);
    const checksum = createHash('sha256').update('rch_').update(longer).digest().subarray(0, 4);
    const tooLong = `rch_${Buffer.concat([longer, checksum]).toString('base64url')}`;
    expect(refusalOf(() => parseToken('rch', tooLong))).toBe('malformed_token');
  });

  test('are not made of nothing, nor of more than can be read', () => {
    expect(refusalOf(() => encodeToken('rch', new Uint8Array()))).toBe('TypeError');
    expect(refusalOf(() => encodeToken('rch', new Uint8Array(limits.tokenTextMaxCharacters)))).toBe('RangeError');
  });
});
