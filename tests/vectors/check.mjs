#!/usr/bin/env node
/**
 * Checks `rollcall-v1.json` with nothing but Node's own crypto, written from docs/PROTOCOL.md: a pattern for other languages,
 * and the proof that the page suffices. `check.mjs [FILE…]` prints one line a file; exit 1 when one of them does not hold.
 */
import * as crypto from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// 1. Conventions

const hex = (bytes) => Buffer.from(bytes).toString('hex');
const ascii = (text) => Buffer.from(text, 'ascii');

function unhex(text) {
  if (!/^(?:[0-9a-f]{2})*$/.test(text)) throw new Error('not lower-case hex');
  return Buffer.from(text, 'hex');
}

/** One value has one text. */
function unbase64url(text) {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.toString('base64url') !== text) throw new Error('not base64url as it is taken');
  return bytes;
}

/** `a 0 b 0 c` */
function join(...parts) {
  const bytes = parts.map((part) => (typeof part === 'object' ? part : ascii(String(part))));
  return Buffer.concat(bytes.flatMap((part, index) => (index === 0 ? [part] : [Buffer.of(0), part])));
}

/** RFC 8785, for whole numbers. */
function canonicalJson(value) {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.keys(value).sort();
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name])}`).join(',')}}`;
}

const sha256 = (...parts) => crypto.createHash('sha256').update(Buffer.concat(parts)).digest();
const hmac = (key, message) => crypto.createHmac('sha256', key).update(message).digest();
const hkdfExpand = (key, info) => hmac(key, Buffer.concat([info, Buffer.of(1)]));

function same(what, actual, expected) {
  const texts = [actual, expected].map((value) => (value instanceof Uint8Array ? hex(value) : canonicalJson(value)));
  if (texts[0] !== texts[1]) throw new Error(what);
}

// Raw keys, as node:crypto wants them

const jwk = (crv, fields) => ({ key: { kty: 'OKP', crv, x: '', ...fields }, format: 'jwk' });
const privateKey = (crv, bytes) => crypto.createPrivateKey(jwk(crv, { d: bytes.toString('base64url') }));
const publicKey = (crv, bytes) => crypto.createPublicKey(jwk(crv, { x: bytes.toString('base64url') }));
const publicOf = (crv, bytes) => unbase64url(privateKey(crv, bytes).export({ format: 'jwk' }).x);
const sign = (seed, message) => crypto.sign(null, message, privateKey('Ed25519', seed));

function verify(what, key, message, signature) {
  if (!crypto.verify(null, message, publicKey('Ed25519', key), signature)) throw new Error(what);
}

// HPKE, RFC 9180: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-256-GCM, mode_base

const KEM = Buffer.from('KEM\0\x20', 'latin1');
const HPKE = Buffer.from('HPKE\0\x20\0\x01\0\x02', 'latin1');
const NONE = Buffer.alloc(0);

function extract(suite, label, salt, input) {
  return hmac(
    salt.length === 0 ? Buffer.alloc(32) : salt,
    Buffer.concat([ascii('HPKE-v1'), suite, ascii(label), input]),
  );
}

function expand(suite, label, key, info, length) {
  const labeled = Buffer.concat([Buffer.of(0, length), ascii('HPKE-v1'), suite, ascii(label), info]);
  return hkdfExpand(key, labeled).subarray(0, length);
}

const deriveKeyPair = (ikm) => expand(KEM, 'sk', extract(KEM, 'dkp_prk', NONE, ikm), NONE, 32);

function hpkeContext({ own, other, enc, recipient, info }) {
  const keys = { privateKey: privateKey('X25519', own), publicKey: publicKey('X25519', other) };
  const prk = extract(KEM, 'eae_prk', NONE, crypto.diffieHellman(keys));
  const shared = expand(KEM, 'shared_secret', prk, Buffer.concat([enc, recipient]), 32);
  const hashes = [extract(HPKE, 'psk_id_hash', NONE, NONE), extract(HPKE, 'info_hash', NONE, ascii(info))];
  const context = Buffer.concat([Buffer.of(0), ...hashes]);
  const secret = extract(HPKE, 'secret', shared, NONE);
  return { key: expand(HPKE, 'key', secret, context, 32), nonce: expand(HPKE, 'base_nonce', secret, context, 12) };
}

function hpkeSeal({ ikm, recipient, info, aad, plaintext }) {
  const own = deriveKeyPair(ikm);
  const enc = publicOf('X25519', own);
  const { key, nonce } = hpkeContext({ own, other: recipient, enc, recipient, info });
  const cipher = crypto.createCipheriv('aes-256-gcm', key, nonce, { authTagLength: 16 });
  cipher.setAAD(aad);
  const ct = Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
  return { enc: enc.toString('base64url'), ct: ct.toString('base64url') };
}

function hpkeOpen({ own, enc, ct, info, aad }) {
  const { key, nonce } = hpkeContext({ own, other: enc, enc, recipient: publicOf('X25519', own), info });
  const cipher = crypto.createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: 16 });
  cipher.setAAD(aad);
  cipher.setAuthTag(ct.subarray(-16));
  return Buffer.concat([cipher.update(ct.subarray(0, -16)), cipher.final()]);
}

// 3. Tokens

function encodeToken(prefix, value) {
  const checksum = sha256(ascii(`${prefix}_`), value).subarray(0, 4);
  return `${prefix}_${Buffer.concat([value, checksum]).toString('base64url')}`;
}

function parseToken(prefix, text) {
  if (!text.startsWith(`${prefix}_`)) throw new Error('another prefix');
  const value = unbase64url(text.slice(prefix.length + 1)).subarray(0, -4);
  same('checksum', encodeToken(prefix, value), text);
  return value;
}

function checkToken({ prefix, value, text }) {
  same('text of a token', encodeToken(prefix, unhex(value)), text);
  same('value of a token', parseToken(prefix, text), unhex(value));
}

function checkEnrolmentToken({ text, ...expected }) {
  const { v, root, spki, secret, ...rest } = JSON.parse(parseToken('rce', text).toString('utf8'));
  same('format of the token', v, 1);
  const bytes = { root: hex(unbase64url(root)), secret: hex(unbase64url(secret)) };
  same('enrolment token', { ...rest, ...bytes, spki: spki.map((item) => hex(unbase64url(item))) }, expected);
}

// 4. Keys of a host

function checkDerivation({ master, purpose, host, life, key }) {
  same('derived key', hkdfExpand(unhex(master), join('rollcall/derive/v1', purpose, host, life)), unhex(key));
}

function checkSecondScheme({ master, info, host, key }) {
  same('key of the second scheme', hmac(unhex(master), join(info, host)), unhex(key));
}

function checkSsoSeed({ master, seed, public: expected }) {
  same('seed', hkdfExpand(unhex(master), join('rollcall/derive-fleet/v1', 'sso')), unhex(seed));
  same('single sign-on key', publicOf('Ed25519', unhex(seed)), unhex(expected));
}

const fingerprint = (bytes) => sha256(join('x25519', bytes));

function checkWrapKey({ ikm, private: own, public: shown, suite, fingerprint: expected }) {
  same('suite', suite, 'x25519');
  same('private key', deriveKeyPair(unhex(ikm)), unhex(own));
  same('public key', publicOf('X25519', unhex(own)), unhex(shown));
  same('fingerprint', fingerprint(unhex(shown)), unhex(expected));
}

// 5. Enrolment

/** SHA-256(csr or nothing) and the use, without a NUL in between. */
const csrPart = (csr, use) => Buffer.concat([sha256(unhex(csr ?? '')), ascii(use ?? '')]);

function checkEnrolmentProof({ secret, key, host, wrapPublic, csr, csrUse, instance, proof }) {
  same('key of the proof', hkdfExpand(unhex(secret), ascii('rollcall/enrol/v1')), unhex(key));
  const parts = [host, unhex(wrapPublic), csrPart(csr, csrUse), unhex(instance)];
  same('enrolment proof', hmac(unhex(key), join('rollcall/enrol-proof/v1', ...parts)), unhex(proof));
}

// 8. Deliveries

function checkHubKey(record, root) {
  const shown = unbase64url(record.public);
  same('key id', hex(sha256(shown)), record.kid);
  const message = join('rollcall/hub-key/v1', record.kid, shown, record.serial);
  verify('root signature', root, message, unbase64url(record.rootSig));
  return { key: shown, message };
}

function checkHub({ rootSeed, root, seed, record }) {
  same('hub root', publicOf('Ed25519', unhex(rootSeed)), unhex(root));
  const { key, message } = checkHubKey(record, unhex(root));
  same('hub key', publicOf('Ed25519', unhex(seed)), key);
  same('root signature, made', sign(unhex(rootSeed), message), unbase64url(record.rootSig));
}

function checkDelivery(vector, hub) {
  const { envelope, info } = vector;
  const { v, host, secret, epoch, step, present, recipient, hubKey } = envelope;
  const [own, root] = [vector.wrapPrivate, vector.hubRoot].map(unhex);
  const [enc, ct, sig] = [envelope.enc, envelope.ct, envelope.sig].map(unbase64url);
  same('format', v, 1);
  same('label', info, 'rollcall/delivery/v1');
  same('pinned root', root, unhex(hub.root));
  same('recipient', fingerprint(publicOf('X25519', own)), unhex(recipient));
  const aad = join(host, secret, epoch, step, present, unhex(recipient));
  same('additional data', aad, unhex(vector.aad));
  const { key } = checkHubKey(hubKey, root);
  const message = Buffer.concat([ascii('rollcall/delivery-sig/v1\0'), sha256(aad), enc, ct]);
  verify('signature of a delivery', key, message, sig);
  const opened = hpkeOpen({ own, enc, ct, info, aad }).toString('utf8');
  same('payload', opened, vector.payload);
  const payload = JSON.parse(opened);
  same('payload as canonical JSON', canonicalJson(payload), opened);
  same(
    'what is repeated',
    [payload.secret, payload.epoch, payload.step, payload.present],
    [secret, epoch, step, present],
  );
  checkAssignment(payload);

  const ikm = unhex(vector.ephemeralIkm);
  const sealed = hpkeSeal({ ikm, recipient: publicOf('X25519', own), info, aad, plaintext: Buffer.from(opened) });
  same('sealed again', sealed, { enc: envelope.enc, ct: envelope.ct });
  same('signed again', sign(unhex(hub.seed), message), sig);
}

function checkAssignment({ accept, present, issuedAt }) {
  const versions = accept.map(({ version }) => version);
  if (versions.length > 2 || !versions.includes(present)) throw new Error('accept and present');
  if (Number.isNaN(Date.parse(issuedAt))) throw new Error('issuedAt');
  for (const { value } of accept) {
    if (!(value.life >= 1)) throw new Error('life');
    for (const key of Object.values(value.keys)) same('length of a key', unbase64url(key).length, 32);
  }
}

// 9. Statements

function checkStatement({ message, signed }, hub) {
  const { v, kind, epoch, time, body, hubKey, sig } = signed;
  same('format', v, 1);
  const bytes = join('rollcall/statement/v1', kind, Buffer.from(canonicalJson({ body, epoch, time }), 'utf8'));
  same('what is signed', bytes, unhex(message));
  const { key } = checkHubKey(hubKey, unhex(hub.root));
  verify('signature of a statement', key, bytes, unbase64url(sig));
  same('signed again', sign(unhex(hub.seed), bytes), unbase64url(sig));
}

// 7.5 Token files

function checkSinkDigest(vector) {
  const key = hkdfExpand(unhex(vector.heartbeatKey), ascii('rollcall/digest/v1'));
  same('key', key, unhex(vector.key));
  const trimmed = ascii(
    unhex(vector.file)
      .toString('latin1')
      .replace(/^[\t-\r ]+|[\t-\r ]+$/g, ''),
  );
  same('digest', hmac(key, join('rollcall/sink-digest/v1', vector.secret, sha256(trimmed))), unhex(vector.digest));
}

// 13. Challenges

const contexts = {
  continuity: ({ next }) => unhex(next),
  certificate: ({ csr, csrUse }) => csrPart(csr, csrUse),
  recovery: ({ instance }) => unhex(instance),
};

function checkChallenge({ host, wrapPrivate, id, nonce, ephemeralIkm, subject, challenge, answer }) {
  const { purpose } = subject;
  const own = unhex(wrapPrivate);
  const recipient = publicOf('X25519', own);
  const info = 'rollcall/challenge/v1';
  same('purpose', challenge.purpose, purpose);
  same('id', unbase64url(challenge.id), unhex(id));
  const aad = join(host, purpose, fingerprint(recipient), sha256(unhex(id)));
  const [enc, ct] = [challenge.enc, challenge.ct].map(unbase64url);
  same('nonce', hpkeOpen({ own, enc, ct, info, aad }), unhex(nonce));
  const message = join('rollcall/answer/v1', purpose, host, contexts[purpose](subject));
  same('answer', hmac(unhex(nonce), message), unhex(answer));
  const sealed = hpkeSeal({ ikm: unhex(ephemeralIkm), recipient, info, aad, plaintext: unhex(nonce) });
  same('sealed again', sealed, { enc: challenge.enc, ct: challenge.ct });
}

// 14. Certificates

/** ecdsa-with-SHA256, without parameters (RFC 5758 §3.2). */
const ECDSA_SHA256 = unhex('300a06082a8648ce3d040302');

function checkCertificateRequest({ csr, signed, spki, signature, use, context }) {
  const [info, key, signatureBytes] = [signed, spki, signature].map(unhex);
  same('csr', der(0x30, info, ECDSA_SHA256, der(0x03, Buffer.of(0), signatureBytes)), unhex(csr));
  // SEQUENCE, version 0, a name, the key, no attributes.
  const tail = Buffer.concat([key, unhex('a000')]);
  same('spki', info.subarray(-tail.length), tail);
  const publicKey = crypto.createPublicKey({ key, format: 'der', type: 'spki' });
  if (!crypto.verify('sha256', info, publicKey, signatureBytes)) throw new Error('signature of the request');
  same('use', use, 'listener');
  same('context', unhex(context), Buffer.concat([sha256(unhex(csr)), ascii(use)]));
}

/** One value in DER; no longer than a request may be. */
function der(tag, ...parts) {
  const content = Buffer.concat(parts);
  const { length } = content;
  const head = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...head), content]);
}

/** Every section by its name; one without a check is a fault. Returns how many vectors hold. */
function checkAll(vectors) {
  const checks = {
    derivation: checkDerivation,
    derivationHmacSha256: checkSecondScheme,
    ssoSeed: checkSsoSeed,
    tokens: checkToken,
    wrapKeys: checkWrapKey,
    enrolmentProofs: checkEnrolmentProof,
    enrolmentToken: checkEnrolmentToken,
    hub: checkHub,
    delivery: (vector) => checkDelivery(vector, vectors.hub),
    statement: (vector) => checkStatement(vector, vectors.hub),
    challenges: checkChallenge,
    certificateRequest: checkCertificateRequest,
    sinkDigest: checkSinkDigest,
  };
  let held = 0;
  for (const name of new Set([...Object.keys(checks), ...Object.keys(vectors)])) {
    if (name === 'about') continue;
    if (vectors[name] === undefined || checks[name] === undefined) throw new Error(`section ${name}`);
    for (const vector of [vectors[name]].flat()) {
      try {
        checks[name](vector);
      } catch (error) {
        throw new Error(`${name}: ${error.message}`);
      }
      held += 1;
    }
  }
  return held;
}

const given = process.argv.slice(2);
const files = given.length > 0 ? given : [fileURLToPath(new URL('./rollcall-v1.json', import.meta.url))];
for (const file of files) {
  try {
    console.log(`${file}: ${checkAll(JSON.parse(readFileSync(file, 'utf8')))} vectors hold`);
  } catch (error) {
    console.log(`${file}: FAILS at ${error.message}`);
    process.exitCode = 1;
  }
}
