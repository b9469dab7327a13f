/**
 * Our formats as other agents must read and write them: `rollcall-v1.json`. The file is fixed. A change that fails here
 * changes the protocol. Each section is checked through our functions, and, where node:crypto alone can say what is
 * right, also without them.
 */
import { createHash, createHmac, createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { canonicalJson, type JsonValue, parseJson } from '@rollcall/core/json';
import {
  type CsrUse,
  deriveHostKey,
  deriveHostKeyHmacSha256,
  deriveSsoSeed,
  ed25519PublicKey,
  encodeEnrolmentToken,
  encodeToken,
  enrolmentKey,
  enrolmentProof,
  parseEnrolmentToken,
  parseToken,
  sinkDigest,
  type TokenPrefix,
  verifyEnrolmentProof,
} from '@rollcall/core/keys';
import {
  answerChallenge,
  type ChallengeSubject,
  createHubKey,
  createHubRoot,
  encodeAssignment,
  fingerprint,
  generateWrapKey,
  openBase,
  openDelivery,
  parseAssignment,
  parseWrapPublicKey,
  restoreHubKey,
  restoreWrapKey,
  sealChallenge,
  sealDelivery,
  signStatement,
  verifyAnswer,
  verifyHubKeyRecord,
  verifyStatement,
} from '@rollcall/core/seal';
import { verifyBearer } from '@rollcall/core/verify';
import { verifyCertificateRequest } from '@rollcall/x509';
import { describe, expect, test } from 'vitest';
import type vectorsType from './rollcall-v1.json';

const vectors = JSON.parse(readFileSync(new URL('./rollcall-v1.json', import.meta.url), 'utf8')) as typeof vectorsType;

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const unhex = (text: string) => new Uint8Array(Buffer.from(text, 'hex'));
const sha256 = (...parts: Uint8Array[]) => createHash('sha256').update(Buffer.concat(parts)).digest();
const hmac = (key: Uint8Array, ...parts: (string | Uint8Array)[]) => {
  const mac = createHmac('sha256', key);
  for (const part of parts) mac.update(part);
  return mac.digest();
};

test.each(vectors.derivation)('derivation: $purpose of $host in life $life', ({ master, purpose, host, life, key }) => {
  expect(hex(deriveHostKey(unhex(master), purpose, host, life))).toBe(key);
  // HKDF-Expand of one block: HMAC(PRK, info 0x01).
  expect(hmac(unhex(master), `rollcall/derive/v1\0${purpose}\0${host}\0${life}\x01`).toString('hex')).toBe(key);
  if (purpose !== 'heartbeat') return;
  const generation = { version: 1, master: unhex(master) };
  expect(verifyBearer([generation], host, life, encodeToken('rcb', unhex(key)))).toEqual({ version: 1 });
});

test.each(vectors.derivationHmacSha256)('second scheme: $info', ({ master, info, host, key }) => {
  expect(hex(deriveHostKeyHmacSha256(unhex(master), info, host))).toBe(key);
  expect(hmac(unhex(master), `${info}\0${host}`).toString('hex')).toBe(key);
});

test.each(vectors.ssoSeed)('seed of the single sign-on key', ({ master, seed, public: publicKey }) => {
  expect(hex(deriveSsoSeed(unhex(master)))).toBe(seed);
  expect(hmac(unhex(master), 'rollcall/derive-fleet/v1\0sso\x01').toString('hex')).toBe(seed);
  expect(hex(ed25519PublicKey(unhex(seed)))).toBe(publicKey);
});

test.each(vectors.tokens)('token: $prefix', ({ prefix, value, text }) => {
  expect(encodeToken(prefix as TokenPrefix, unhex(value))).toBe(text);
  expect(hex(parseToken(prefix as TokenPrefix, text))).toBe(value);
  const checksum = sha256(Buffer.from(`${prefix}_`), unhex(value)).subarray(0, 4);
  expect(`${prefix}_${Buffer.concat([unhex(value), checksum]).toString('base64url')}`).toBe(text);
});

test.each(vectors.wrapKeys)('wrap key and fingerprint: $fingerprint', (vector) => {
  const pair = generateWrapKey(() => unhex(vector.ikm));
  expect(hex(pair.private.reveal())).toBe(vector.private);
  expect(hex(restoreWrapKey(unhex(vector.private)).public.bytes)).toBe(vector.public);
  expect(parseWrapPublicKey({ suite: vector.suite, public: unhex(vector.public) }).fingerprint).toBe(
    vector.fingerprint,
  );
  expect(fingerprint('x25519', unhex(vector.public))).toBe(vector.fingerprint);
  expect(sha256(Buffer.from('x25519\0'), unhex(vector.public)).toString('hex')).toBe(vector.fingerprint);
});

test.each(vectors.enrolmentProofs)('enrolment proof, request for: $csrUse', (vector) => {
  const [secret, wrapPublic, instance] = [vector.secret, vector.wrapPublic, vector.instance].map(unhex) as [
    Uint8Array,
    Uint8Array,
    Uint8Array,
  ];
  const request = vector.csr === null ? {} : { csr: unhex(vector.csr), csrUse: vector.csrUse as CsrUse };
  const claim = { host: vector.host, wrapPublic, instance, ...request };
  expect(hex(enrolmentKey(secret))).toBe(vector.key);
  expect(hex(enrolmentProof(unhex(vector.key), claim))).toBe(vector.proof);
  expect(verifyEnrolmentProof(unhex(vector.key), claim, unhex(vector.proof))).toBe(claim);

  const key = hmac(secret, 'rollcall/enrol/v1\x01');
  const digest = sha256(unhex(vector.csr ?? ''));
  const head = `rollcall/enrol-proof/v1\0${vector.host}\0`;
  const proof = hmac(key, head, wrapPublic, '\0', digest, vector.csrUse ?? '', '\0', instance);
  expect([key.toString('hex'), proof.toString('hex')]).toEqual([vector.key, vector.proof]);
});

test('enrolment token', () => {
  const { text, root, spki, secret, expiresAt, ...rest } = vectors.enrolmentToken;
  const token = parseEnrolmentToken(text);
  expect(token).toMatchObject({
    ...rest,
    root: unhex(root),
    spki: spki.map(unhex),
    expiresAtMs: Date.parse(expiresAt),
  });
  expect(hex(token.secret.reveal())).toBe(secret);
  expect(encodeEnrolmentToken(token)).toBe(text);
});

describe('hub', () => {
  const { rootSeed, root, seed, record } = vectors.hub;

  test('hub key, and the root’s signature over it', () => {
    const hubRoot = createHubRoot(() => unhex(rootSeed));
    expect(hex(hubRoot.public)).toBe(root);
    expect(createHubKey(() => unhex(seed), hubRoot, record.serial).record).toEqual(record);
    expect(verifyHubKeyRecord(record, unhex(root), record.serial)).toMatchObject({ serial: record.serial });
    const publicKey = Buffer.from(record.public, 'base64url');
    const kid = sha256(publicKey).toString('hex');
    expect(kid).toBe(record.kid);
    const message = [Buffer.from(`rollcall/hub-key/v1\0${kid}\0`), publicKey, Buffer.from(`\0${record.serial}`)];
    expectSigned(unhex(root), message, record.rootSig);
  });

  test('delivery', () => {
    const { wrapPrivate, hubRoot, ephemeralIkm, info, aad, payload, envelope } = vectors.delivery;
    const wrapKey = restoreWrapKey(unhex(wrapPrivate));
    const context = {
      host: envelope.host,
      wrapKeys: [wrapKey],
      held: () => undefined,
      hubRoot: unhex(hubRoot),
      highestSerial: 0,
    };
    const opened = openDelivery(envelope, context);
    if (opened.kind !== 'new') throw new Error('not new');
    expect(canonicalJson(encodeAssignment(opened.assignment))).toBe(payload);

    const [enc, ct] = [envelope.enc, envelope.ct].map((text) => new Uint8Array(Buffer.from(text, 'base64url'))) as [
      Uint8Array,
      Uint8Array,
    ];
    const plaintext = openBase({ privateKey: wrapKey.private, enc, info: Buffer.from(info), aad: unhex(aad), ct });
    expect(Buffer.from(plaintext).toString()).toBe(payload);
    const { host, secret, epoch, step, present, recipient } = envelope;
    const bound = [Buffer.from(`${[host, secret, epoch, step, present].join('\0')}\0`), unhex(recipient)];
    expect(Buffer.concat(bound).toString('hex')).toBe(aad);
    const signed = [Buffer.from('rollcall/delivery-sig/v1\0'), sha256(unhex(aad)), enc, ct];
    expectSigned(Buffer.from(envelope.hubKey.public, 'base64url'), signed, envelope.sig);

    const again = sealDelivery({
      host,
      assignment: parseAssignment(parseJson(payload)),
      recipient: wrapKey.public,
      hubKey: restoreHubKey(unhex(seed), record),
      random: () => unhex(ephemeralIkm),
    });
    expect(again).toEqual(envelope);
  });

  test('statement', () => {
    const { message, signed } = vectors.statement;
    const { kind, body, epoch, time } = signed;
    const context = { hubRoot: unhex(root), highestSerial: 0 };
    expect(verifyStatement(signed, context)).toMatchObject({ kind, body, epoch, time });
    expect(signStatement({ kind, body, epoch, time, hubKey: restoreHubKey(unhex(seed), record) })).toEqual(signed);
    const text = `rollcall/statement/v1\0${kind}\0${JSON.stringify({ body, epoch, time })}`;
    expect(Buffer.from(text).toString('hex')).toBe(message);
    expectSigned(Buffer.from(signed.hubKey.public, 'base64url'), [unhex(message)], signed.sig);
  });
});

test.each(vectors.challenges)('challenge: $subject.purpose', (vector) => {
  const { host, wrapPrivate, id, nonce, ephemeralIkm, challenge, answer } = vector;
  const subject = readSubject(vector.subject);
  const wrapKey = restoreWrapKey(unhex(wrapPrivate));
  const answered = answerChallenge(challenge as JsonValue, { host, wrapKeys: [wrapKey], subject });
  expect([hex(answered.id), hex(answered.answer)]).toEqual([id, answer]);
  expect(verifyAnswer(unhex(answer), { nonce: unhex(nonce), host, subject })).toBe(subject);
  const context = contextOf(vector.subject);
  expect(hmac(unhex(nonce), `rollcall/answer/v1\0${subject.purpose}\0${host}\0`, context).toString('hex')).toBe(answer);
  const again = sealChallenge({
    host,
    purpose: subject.purpose,
    recipient: wrapKey.public,
    id: unhex(id),
    nonce: unhex(nonce),
    random: () => unhex(ephemeralIkm),
  });
  expect(again).toEqual(challenge);
});

test('certificate request', () => {
  const { csr, signed, spki, signature, use, context } = vectors.certificateRequest;
  expect(hex(verifyCertificateRequest(unhex(csr)).spkiDer)).toBe(spki);
  const key = createPublicKey({ key: Buffer.from(spki, 'hex'), format: 'der', type: 'spki' });
  expect(verify('sha256', unhex(signed), key, unhex(signature))).toBe(true);
  expect(contextOf({ csr, csrUse: use } as SubjectVector).toString('hex')).toBe(context);
});

test('digest of a token file', () => {
  const { heartbeatKey, key, secret, file, digest } = vectors.sinkDigest;
  const token = Buffer.from(file, 'hex').toString().trim();
  expect(hex(sinkDigest(unhex(heartbeatKey), secret, Buffer.from(token)))).toBe(digest);
  expect(hmac(unhex(heartbeatKey), 'rollcall/digest/v1\x01').toString('hex')).toBe(key);
  const parts = [`rollcall/sink-digest/v1\0${secret}\0`, sha256(Buffer.from(token))];
  expect(hmac(unhex(key), ...parts).toString('hex')).toBe(digest);
  expect(parseToken('rcf', token).length).toBe(32);
});

type SubjectVector = (typeof vectors.challenges)[number]['subject'];

function readSubject(subject: SubjectVector): ChallengeSubject {
  if (subject.next !== undefined) {
    return { purpose: 'continuity', next: parseWrapPublicKey({ suite: 'x25519', public: unhex(subject.next) }) };
  }
  if (subject.csr !== undefined) {
    return { purpose: 'certificate', csr: unhex(subject.csr), csrUse: subject.csrUse as CsrUse };
  }
  return { purpose: 'recovery', instance: unhex(subject.instance) };
}

function contextOf(subject: SubjectVector): Buffer {
  if (subject.csr === undefined) return Buffer.from(subject.next ?? subject.instance, 'hex');
  return Buffer.concat([sha256(unhex(subject.csr)), Buffer.from(subject.csrUse)]);
}

/** By node:crypto alone. */
function expectSigned(publicKey: Uint8Array, message: readonly Uint8Array[], signature: string): void {
  const x = Buffer.from(publicKey).toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  expect(verify(null, Buffer.concat(message), key, Buffer.from(signature, 'base64url'))).toBe(true);
}
