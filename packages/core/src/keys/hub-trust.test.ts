import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { utf8 } from '../bytes.ts';
import { isRollcallError } from '../errors.ts';
import { limits } from '../limits.ts';
import { faultOf, refusalOf } from '../refusal.fixture.ts';
import { ed25519PublicKey } from './ed25519.ts';
import {
  type EnrolmentToken,
  encodeEnrolmentToken,
  encodeHubRootFile,
  parseEnrolmentToken,
  parseHubRootFile,
} from './hub-trust.ts';
import { SecretBytes } from './secret-bytes.ts';
import { encodeToken, parseToken } from './token.ts';

const file = {
  trustDomain: 'fleet.example',
  root: ed25519PublicKey(new Uint8Array(32).fill(1)),
  spki: [new Uint8Array(32).fill(2), new Uint8Array(32).fill(3)],
  hubs: ['https://hub.example:7443', 'https://[::1]:7443'],
};
const token: EnrolmentToken = {
  ...file,
  host: 'agent-7',
  secret: new SecretBytes('enrolment', new Uint8Array(32).fill(4)),
  expiresAtMs: Date.UTC(2026, 11, 1, 12, 0, 0, 250),
};
const json = JSON.parse(new TextDecoder().decode(parseToken('rce', encodeEnrolmentToken(token)))) as Record<
  string,
  unknown
>;
const reencode = (change: Record<string, unknown>) => encodeToken('rce', utf8(JSON.stringify({ ...json, ...change })));

test('an enrolment token round-trips', () => {
  const { secret, ...rest } = parseEnrolmentToken(encodeEnrolmentToken(token));
  const { secret: given, ...expected } = token;
  expect(rest).toEqual(expected);
  expect(secret.reveal()).toEqual(given.reveal());
  expect(secret.kind).toBe('enrolment');
});

test('a hub-root file round-trips, as text and as bytes', () => {
  expect(parseHubRootFile(encodeHubRootFile(file))).toEqual(file);
  expect(parseHubRootFile(utf8(encodeHubRootFile(file)))).toEqual(file);
});

test('a hub-root file is text that a person can read, with its format first', () => {
  const lines = encodeHubRootFile(file).split('\n');
  expect(lines.slice(0, 3)).toEqual(['{', '  "v": 1,', '  "trustDomain": "fleet.example",']);
  expect(lines.slice(-2)).toEqual(['}', '']);
});

test('unknown fields are ignored, and a file is no token', () => {
  expect(parseEnrolmentToken(reencode({ later: { x: 1 } })).host).toBe('agent-7');
  expect(refusalOf(() => parseEnrolmentToken(encodeToken('rce', utf8(encodeHubRootFile(file)))))).toBe(
    'malformed_token',
  );
});

test('what is cut or of another kind is told by what was expected, and not by the name of the refusal', () => {
  const detailsOf = (text: string) => {
    try {
      return parseEnrolmentToken(text).host;
    } catch (error) {
      return isRollcallError(error) ? error.details : error;
    }
  };
  const text = encodeEnrolmentToken(token);
  expect(detailsOf(text)).toBe('agent-7');
  expect(detailsOf(text.slice(0, -1))).toEqual({ expected: 'enrolment token' });
  expect(detailsOf(encodeToken('rcf', new Uint8Array(32)))).toEqual({ expected: 'enrolment token' });
  expect(detailsOf(reencode({ v: 2 }))).toEqual({ what: 'v' });
});

const smallOrder = Buffer.from(`01${'00'.repeat(31)}`, 'hex').toString('base64url');
const spoiled: readonly [string, Record<string, unknown>][] = [
  ['another format', { v: 2 }],
  ['no format', { v: undefined }],
  ['a trust domain in capitals', { trustDomain: 'Fleet' }],
  ['an empty trust domain', { trustDomain: '' }],
  ['no root', { root: undefined }],
  ['a short root', { root: 'AAAA' }],
  ['a root of small order', { root: smallOrder }],
  ['no SPKI hash', { spki: [] }],
  ['a short SPKI hash', { spki: ['AAAA'] }],
  ['a text for the SPKI hashes', { spki: 'AAAA' }],
  ['no address', { hubs: [] }],
  ['a plaintext address', { hubs: ['http://hub.example'] }],
  ['an address with a password', { hubs: ['https://u:p@hub.example'] }],
  ['an address with a user', { hubs: ['https://u@hub.example'] }],
  ['an address with a password alone', { hubs: ['https://:p@hub.example'] }],
  ['an address with a query', { hubs: ['https://hub.example/?x'] }],
  ['an address with a fragment', { hubs: ['https://hub.example/#x'] }],
  ['an address with white space around it', { hubs: [' https://hub.example\n'] }],
  ['an address of a name alone', { hubs: ['https:'] }],
  ['an address that is too long', { hubs: [`https://hub.example/${'x'.repeat(limits.hubAddressCharacters)}`] }],
  ['too many addresses', { hubs: Array.from({ length: limits.hubAddresses + 1 }, () => 'https://hub.example') }],
  ['a trust domain that is too long', { trustDomain: 'a'.repeat(256) }],
  ['a trust domain with a separator before it', { trustDomain: '/a' }],
  ['a trust domain with a separator behind it', { trustDomain: 'a/' }],
  ['an address that is none', { hubs: ['hub.example'] }],
  ['a number as an address', { hubs: [1] }],
];

describe('spoiled', () => {
  test.each(spoiled)('with %s a hub-root file is refused, and so is a token', (_, change) => {
    expect(refusalOf(() => parseHubRootFile(JSON.stringify({ ...json, ...change })))).toBe('malformed_file');
    expect(refusalOf(() => parseEnrolmentToken(reencode(change)))).toBe('malformed_token');
  });

  test.each<[string, Record<string, unknown>]>([
    ['no host', { host: undefined }],
    ['a malformed host', { host: 'a b' }],
    ['a short secret', { secret: 'AAAA' }],
    ['no expiry', { expiresAt: undefined }],
    ['a number as expiry', { expiresAt: 1 }],
    ['a day that does not exist', { expiresAt: '2026-02-30T00:00:00Z' }],
  ])('with %s a token is refused', (_, change) => {
    expect(refusalOf(() => parseEnrolmentToken(reencode(change)))).toBe('malformed_token');
  });

  test.each<[string, Record<string, unknown>]>([
    ['v', { v: 2 }],
    ['v', { v: '1' }],
    ['trustDomain', { trustDomain: 7 }],
    ['trustDomain', { trustDomain: '' }],
    ['root', { root: 'AAAA' }],
    ['spki', { spki: 'AAAA' }],
    ['spki', { spki: [] }],
    ['spki', { spki: ['AAAA'] }],
    ['hubs', { hubs: [] }],
    ['hubs', { hubs: [1] }],
    ['hubs', { hubs: ['hub.example'] }],
    ['secret', { secret: 'AAAA' }],
    ['expiresAt', { expiresAt: 1 }],
  ])('says that %s is at fault', (what, change) => {
    expect(faultOf(() => parseEnrolmentToken(reencode(change)))).toBe(what);
  });

  test('says that the whole is at fault where it is no object', () => {
    expect(faultOf(() => parseEnrolmentToken(encodeToken('rce', utf8('[]'))))).toBe('token');
    expect(faultOf(() => parseHubRootFile('[]'))).toBe('file');
  });

  test('but not what just fits', () => {
    const longest = `https://hub.example/${'x'.repeat(limits.hubAddressCharacters - 'https://hub.example/'.length)}`;
    const hubs = Array.from({ length: limits.hubAddresses }, () => longest);
    const trustDomain = 'a'.repeat(255);
    expect(parseHubRootFile(encodeHubRootFile({ ...file, hubs, trustDomain }))).toEqual({ ...file, hubs, trustDomain });
  });

  test('cut short or extended anywhere, a token is refused', () => {
    const text = encodeEnrolmentToken(token);
    fc.assert(
      fc.property(fc.nat({ max: text.length - 1 }), (at) => {
        expect(refusalOf(() => parseEnrolmentToken(text.slice(0, at)))).toBe('malformed_token');
        expect(refusalOf(() => parseEnrolmentToken(`${text.slice(0, at)}A${text.slice(at)}`))).toBe('malformed_token');
      }),
    );
  });

  test.each<[string, string | Uint8Array, string]>([
    ['a byte-order mark', `\ufeff${encodeHubRootFile(file)}`, 'byte_order_mark'],
    ['a byte-order mark in bytes', utf8(`\ufeff${encodeHubRootFile(file)}`), 'byte_order_mark'],
    ['bytes that are not UTF-8', Uint8Array.of(0xff), 'malformed_file'],
    ['a duplicate key', encodeHubRootFile(file).replace('{', '{"v":1,'), 'malformed_file'],
    ['nothing', '', 'malformed_file'],
  ])('a hub-root file with %s is refused', (_, source, code) => {
    expect(refusalOf(() => parseHubRootFile(source))).toBe(code);
  });

  test('what an agent would refuse is not handed out', () => {
    expect(refusalOf(() => encodeEnrolmentToken({ ...token, host: '-' }))).toBe('malformed_host_id');
    expect(refusalOf(() => encodeEnrolmentToken({ ...token, spki: [] }))).toBe('malformed_token');
    expect(refusalOf(() => encodeHubRootFile({ ...file, hubs: [] }))).toBe('malformed_file');
  });
});
