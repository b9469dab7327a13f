/** What is bound and what is signed, byte by byte, by node:crypto and texts alone (design 3, 4, 11). */
import { createHash, createPublicKey, verify } from 'node:crypto';
import { expect, test } from 'vitest';
import { decodeBase64url, encodeHex, utf8 } from '../bytes.ts';
import { SecretBytes } from '../keys/secret-bytes.ts';
import { seededRandom } from '../testing/seeded-random.ts';
import { sealChallenge } from './challenge.ts';
import { openBase } from './hpke.ts';
import { createHubKey, createHubRoot } from './hub-key.ts';
import { sealDelivery } from './seal-delivery.ts';
import { signStatement } from './statement.ts';
import { generateWrapKey } from './wrap-key.ts';

const random = seededRandom('bound bytes');
const root = createHubRoot(random);
const hubKey = createHubKey(random, root, 2);
const { public: recipient, private: privateKey } = generateWrapKey(random);
const fingerprint = Buffer.from(recipient.fingerprint, 'hex');

const bytes = (text: string) => decodeBase64url(text) as Uint8Array;
const hash = (data: Uint8Array) => createHash('sha256').update(data).digest();

/** `label` is ASCII; `rest` follows it as it is. */
function isSigned(publicKey: Uint8Array, signature: string, label: string, ...rest: readonly Uint8Array[]): boolean {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(publicKey).toString('base64url') };
  const message = Buffer.concat([Buffer.from(label), ...rest]);
  return verify(null, message, createPublicKey({ key: jwk, format: 'jwk' }), bytes(signature));
}

test('a delivery', () => {
  const assignment = {
    secret: 'fleet-token',
    epoch: 7,
    step: 9,
    accept: [{ version: 4, value: new SecretBytes('token', utf8('a token')) }],
    present: 4,
    issuedAt: '2026-11-29T12:00:00Z',
  };
  const envelope = sealDelivery({ host: 'agent-7', assignment, recipient, hubKey, random });
  const aad = Buffer.concat([Buffer.from('agent-7\0fleet-token\x007\x009\x004\0'), fingerprint]);
  const [enc, ct] = [bytes(envelope.enc), bytes(envelope.ct)];
  const opened = openBase({ privateKey, enc, info: utf8('rollcall/delivery/v1'), aad, ct });
  expect(Buffer.from(opened).toString()).toBe(
    '{"accept":[{"value":"a token","version":4}],"epoch":7,"issuedAt":"2026-11-29T12:00:00Z","present":4,"secret":"fleet-token","step":9}',
  );
  expect(isSigned(hubKey.public, envelope.sig, 'rollcall/delivery-sig/v1\0', hash(aad), enc, ct)).toBe(true);
});

test('a hub key', () => {
  const { kid, public: publicKey, serial, rootSig } = hubKey.record;
  expect([kid, serial]).toEqual([encodeHex(hash(bytes(publicKey))), 2]);
  const signed = [bytes(publicKey), Buffer.from('\x002')];
  expect(isSigned(root.public, rootSig, `rollcall/hub-key/v1\0${kid}\0`, ...signed)).toBe(true);
});

test('a statement', () => {
  const statement = { kind: 'tls-spki', body: { b: 1, a: 'ä' }, epoch: 3, time: '2026-11-29T12:00:00Z' };
  const { sig } = signStatement({ ...statement, hubKey });
  const json = utf8('{"body":{"a":"ä","b":1},"epoch":3,"time":"2026-11-29T12:00:00Z"}');
  expect(isSigned(hubKey.public, sig, 'rollcall/statement/v1\0tls-spki\0', json)).toBe(true);
});

test('a challenge', () => {
  const [id, nonce] = [random(40), random(32)];
  const sealed = sealChallenge({ host: 'agent-7', purpose: 'recovery', recipient, id, nonce, random });
  const aad = Buffer.concat([Buffer.from('agent-7\0recovery\0'), fingerprint, Buffer.from('\0'), hash(id)]);
  const info = utf8('rollcall/challenge/v1');
  expect(openBase({ privateKey, enc: bytes(sealed.enc), info, aad, ct: bytes(sealed.ct) })).toEqual(nonce);
});
