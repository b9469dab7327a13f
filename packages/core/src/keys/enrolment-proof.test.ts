import { createHash, createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { encodeHex } from '../bytes.ts';
import { refusalOf } from '../refusal.fixture.ts';
import { type EnrolmentClaim, enrolmentKey, enrolmentProof, verifyEnrolmentProof } from './enrolment-proof.ts';
import { SecretBytes } from './secret-bytes.ts';

const secret = new Uint8Array(32).fill(1);
const key = enrolmentKey(secret);
const wrapPublic = new Uint8Array(32).fill(2);
const instance = new Uint8Array(16).fill(3);
const csr = Buffer.from('a request');
const bare: EnrolmentClaim = { host: 'agent-7', wrapPublic, instance };
const full: EnrolmentClaim = { ...bare, csr, csrUse: 'client' };

test('is an HMAC over all that is claimed', () => {
  const K = createHmac('sha256', secret).update('rollcall/enrol/v1\x01').digest();
  expect(encodeHex(key)).toBe(K.toString('hex'));
  expect(enrolmentKey(new SecretBytes('enrolment', secret))).toEqual(key);
  const start = Buffer.concat([Buffer.from('rollcall/enrol-proof/v1\0agent-7\0'), wrapPublic, Buffer.of(0)]);
  const sha = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest();
  const end = Buffer.concat([Buffer.of(0), instance]);
  expect(encodeHex(enrolmentProof(key, bare))).toBe(
    createHmac('sha256', K)
      .update(Buffer.concat([start, sha(Buffer.alloc(0)), end]))
      .digest('hex'),
  );
  expect(encodeHex(enrolmentProof(key, full))).toBe(
    createHmac('sha256', K)
      .update(Buffer.concat([start, sha(csr), Buffer.from('client'), end]))
      .digest('hex'),
  );
});

describe('verifyEnrolmentProof', () => {
  const proof = enrolmentProof(key, full);

  test('returns what is proven', () => {
    expect(verifyEnrolmentProof(key, full, proof)).toEqual(full);
    expect(verifyEnrolmentProof(key, bare, enrolmentProof(key, bare))).toEqual(bare);
  });

  test.each<[string, EnrolmentClaim]>([
    ['host', { ...full, host: 'agent-8' }],
    ['wrap key', { ...full, wrapPublic: new Uint8Array(32).fill(9) }],
    ['request', { ...full, csr: Buffer.from('another') }],
    ['use', { ...full, csrUse: 'listener' }],
    ['request, left away', bare],
    ['instance', { ...full, instance: new Uint8Array(16) }],
  ])('refuses another %s', (_, claim) => {
    expect(refusalOf(() => verifyEnrolmentProof(key, claim, proof))).toBe('unauthenticated');
  });

  test('refuses a proof under another secret, a cut one, a longer one, none', () => {
    expect(refusalOf(() => verifyEnrolmentProof(enrolmentKey(new Uint8Array(32)), full, proof))).toBe(
      'unauthenticated',
    );
    for (const bad of [proof.subarray(1), new Uint8Array([...proof, 0]), new Uint8Array(), new Uint8Array(32)]) {
      expect(refusalOf(() => verifyEnrolmentProof(key, full, bad))).toBe('unauthenticated');
    }
  });
});

test.each<[string, () => unknown]>([
  ['a short secret', () => enrolmentKey(new Uint8Array(31))],
  // @ts-expect-error a secret of another kind
  ['a secret of another kind', () => enrolmentKey(new SecretBytes('master', secret))],
  ['a short key', () => enrolmentProof(new Uint8Array(31), bare)],
  ['a short wrap key', () => enrolmentProof(key, { ...bare, wrapPublic: new Uint8Array(31) })],
  ['a long instance', () => enrolmentProof(key, { ...bare, instance: new Uint8Array(17) })],
  ['an empty request', () => enrolmentProof(key, { ...bare, csr: new Uint8Array(), csrUse: 'client' })],
  // @ts-expect-error a request without a use
  ['a request without a use', () => enrolmentProof(key, { ...bare, csr })],
])('a caller that gives %s is stopped', (_, act) => {
  expect(refusalOf(act)).toBe('TypeError');
});
