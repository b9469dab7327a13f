import { describe, expect, test } from 'vitest';
import { limits } from '../limits.ts';
import { faultOf, refusalOf } from '../refusal.fixture.ts';
import { parseMasterFile, parseTokenFile } from './secret-files.ts';

const text = 'bWFzdGVyIG1hc3RlciBtYXN0ZXIgbWFzdGVyIQ==';
const bytes = new Uint8Array(Buffer.from(text));
const mark = Uint8Array.of(0xef, 0xbb, 0xbf);

describe('a master file', () => {
  test.each(['', '\n', '\r\n', ' \t\n\n', '\v\f'])('has %j at its end trimmed, and is never decoded', (end) => {
    expect(parseMasterFile(Buffer.from(text + end)).reveal()).toEqual(bytes);
    expect(parseMasterFile(Buffer.from(text + end)).kind).toBe('master');
  });

  test('may be any bytes, and keeps white space at its start', () => {
    const raw = new Uint8Array(40).fill(0xff);
    raw[0] = 0x20;
    expect(parseMasterFile(raw).reveal()).toEqual(raw);
  });

  test.each<[string, Uint8Array, string]>([
    ['31 bytes', new Uint8Array(31).fill(65), 'weak_secret'],
    ['31 bytes and white space', Buffer.from(`${'a'.repeat(31)}\n\n`), 'weak_secret'],
    ['nothing', new Uint8Array(), 'weak_secret'],
    ['only white space', Buffer.from(' '.repeat(64)), 'weak_secret'],
    ['4,097 bytes', new Uint8Array(4_097).fill(65), 'malformed_file'],
    ['a byte-order mark', Buffer.concat([mark, bytes]), 'byte_order_mark'],
  ])('with %s is refused', (_, source, code) => {
    expect(refusalOf(() => parseMasterFile(source))).toBe(code);
    expect(faultOf(() => parseMasterFile(source))).toBe(code === 'malformed_file' ? 'length' : undefined);
  });

  test('of 32 to 4,096 bytes is taken', () => {
    expect(parseMasterFile(new Uint8Array(32).fill(65))).toHaveLength(32);
    expect(parseMasterFile(new Uint8Array(4_096).fill(65))).toHaveLength(4_096);
  });

  test('ends with what only looks like white space, or begins as a byte-order mark does', () => {
    for (const last of [0x00, 0x08, 0x0e, 0x1f, 0x21, 0x85, 0xa0]) {
      const whole = new Uint8Array([...bytes, last]);
      expect(parseMasterFile(whole).reveal()).toEqual(whole);
    }
    for (const first of [[0xef], [0xef, 0xbb], [0xef, 0xbb, 0xbe], [0xee, 0xbb, 0xbf], [0xef, 0xba, 0xbf]]) {
      const whole = new Uint8Array([...first, ...bytes]);
      expect(parseMasterFile(whole).reveal()).toEqual(whole);
    }
  });
});

describe('a token file', () => {
  test('may hold the longest token', () => {
    const longest = 'a'.repeat(limits.tokenTextMaxCharacters);
    expect(parseTokenFile(Buffer.from(`${longest}\n`))).toBe(longest);
  });

  test.each(['rch_abc', 'rch_abc\n', 'rch_abc\r\n', '  rch_abc \n\n'])('%j holds one token', (source) => {
    expect(parseTokenFile(Buffer.from(source))).toBe('rch_abc');
  });

  test.each<[string, Uint8Array, string]>([
    ['two tokens', Buffer.from('rch_a\nrch_b\n'), 'malformed_file'],
    ['nothing', new Uint8Array(), 'malformed_file'],
    ['a control character', Buffer.from('rch_\x07a'), 'malformed_file'],
    ['bytes above ASCII', Buffer.from('rch_ä'), 'malformed_file'],
    ['a byte-order mark', Buffer.concat([mark, Buffer.from('rch_abc')]), 'byte_order_mark'],
    ['more characters than a token has', Buffer.from('a'.repeat(limits.tokenTextMaxCharacters + 1)), 'malformed_file'],
    ['UTF-16', Buffer.from('rch_abc', 'utf16le'), 'malformed_file'],
  ])('with %s is refused', (_, source, code) => {
    expect(refusalOf(() => parseTokenFile(source))).toBe(code);
  });
});
