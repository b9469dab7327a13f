import { Aes256Gcm, CipherSuite, DhkemX25519HkdfSha256, HkdfSha256 } from '@hpke/core';
import fc from 'fast-check';
import * as panva from 'hpke';
import { describe, expect, test } from 'vitest';
import { concatBytes, encodeHex } from '../bytes.ts';
import { SecretBytes } from '../keys/secret-bytes.ts';
import { importX25519Private } from '../keys/x25519.ts';
import { readPublished, unhex } from '../published-vectors.fixture.ts';
import { refusalOf } from '../refusal.fixture.ts';
import { seededRandom } from '../testing/seeded-random.ts';
import { encryptAes256Gcm } from './aes-256-gcm.ts';
import { decapsulate, deriveX25519Private, encapsulate } from './dhkem.ts';
import { keySchedule, openBase, sealBase } from './hpke.ts';
import { generateWrapKey, restoreWrapKey, WrapPublicKey } from './wrap-key.ts';

interface HpkeVector {
  readonly id: string;
  readonly mode: number;
  readonly kem_id: number;
  readonly kdf_id: number;
  readonly aead_id: number;
  readonly info: string;
  readonly ikmR: string;
  readonly ikmE: string;
  readonly skRm: string;
  readonly skEm: string;
  readonly pkRm: string;
  readonly enc: string;
  readonly shared_secret: string;
  readonly key: string;
  readonly base_nonce: string;
  readonly encryptions: readonly {
    readonly aad: string;
    readonly ct: string;
    readonly nonce: string;
    readonly pt: string;
  }[];
}

const MODE_BASE = 0;
const MODE_PSK = 1;
const random = seededRandom('hpke');

describe('RFC 9180 vectors', () => {
  const vectors = readPublished<{ hpke: readonly HpkeVector[] }>('hpke/cases.json')?.hpke;
  const ours = vectors?.filter((v) => v.mode === MODE_BASE && v.kem_id === 0x20 && v.kdf_id === 1 && v.aead_id === 2);

  // Skipped where the published vectors are not beside the project: they are read there, never copied.
  test.skipIf(ours === undefined)('our suite in base mode: the first message is reproduced and opened', () => {
    expect(ours?.length).toBeGreaterThan(0);
    for (const vector of ours ?? []) {
      const [first] = vector.encryptions;
      if (first === undefined) throw new Error('a vector without encryptions');
      const [info, aad, plaintext] = [vector.info, first.aad, first.pt].map(unhex) as [
        Uint8Array,
        Uint8Array,
        Uint8Array,
      ];
      const recipient = generateWrapKey(() => unhex(vector.ikmR));
      expect(encodeHex(recipient.public.bytes)).toBe(vector.pkRm);
      expect(encodeHex(recipient.private.reveal())).toBe(vector.skRm);
      const sealed = sealBase({ recipient: recipient.public, info, aad, plaintext, random: () => unhex(vector.ikmE) });
      expect(encodeHex(sealed.enc)).toBe(vector.enc);
      expect(encodeHex(sealed.ct)).toBe(first.ct);
      const opened = openBase({
        privateKey: unhex(vector.skRm),
        enc: unhex(vector.enc),
        info,
        aad,
        ct: unhex(first.ct),
      });
      expect(encodeHex(opened)).toBe(first.pt);
    }
  });

  // Skipped where the published vectors are not beside the project: they are read there, never copied.
  test.skipIf(ours === undefined)(
    'our suite in base mode: key and nonce of the schedule, and every later message under them',
    () => {
      for (const vector of ours ?? []) {
        const { key, nonce } = keySchedule(unhex(vector.shared_secret), unhex(vector.info));
        expect(encodeHex(key)).toBe(vector.key);
        expect(encodeHex(nonce)).toBe(vector.base_nonce);
        expect(vector.encryptions.length).toBeGreaterThan(200);
        for (const { aad, ct, nonce: sequenced, pt } of vector.encryptions) {
          expect(encodeHex(encryptAes256Gcm(key, unhex(sequenced), unhex(aad), unhex(pt)))).toBe(ct);
        }
      }
    },
  );

  // Skipped where the published vectors are not beside the project: they are read there, never copied.
  test.skipIf(vectors === undefined)(
    'every suite: keys are derived alike; without sender authentication so are shared secrets',
    () => {
      const counts = { derived: 0, agreed: 0 };
      for (const vector of vectors ?? []) {
        expect(encodeHex(deriveX25519Private(unhex(vector.ikmR))), vector.id).toBe(vector.skRm);
        expect(encodeHex(deriveX25519Private(unhex(vector.ikmE))), vector.id).toBe(vector.skEm);
        counts.derived += 1;
        if (vector.mode !== MODE_BASE && vector.mode !== MODE_PSK) continue;
        const { enc, sharedSecret } = encapsulate(new WrapPublicKey(unhex(vector.pkRm)), unhex(vector.ikmE));
        expect(encodeHex(enc), vector.id).toBe(vector.enc);
        expect(encodeHex(sharedSecret), vector.id).toBe(vector.shared_secret);
        expect(encodeHex(decapsulate(importX25519Private(unhex(vector.skRm)), enc)), vector.id).toBe(
          vector.shared_secret,
        );
        counts.agreed += 1;
      }
      expect(counts.derived).toBe(19);
      expect(counts.agreed).toBeGreaterThan(5);
    },
  );
});

describe('other implementations', () => {
  const info = Buffer.from('rollcall/delivery/v1');
  const aad = Buffer.from('agent-7\0master');
  const messages = [new Uint8Array(), random(1), random(1_000)];

  test('hpke opens what we seal, and we open what it seals', async () => {
    const suite = new panva.CipherSuite(
      panva.KEM_DHKEM_X25519_HKDF_SHA256,
      panva.KDF_HKDF_SHA256,
      panva.AEAD_AES_256_GCM,
    );
    const pair = generateWrapKey(random);
    const privateKey = await suite.DeserializePrivateKey(pair.private.reveal(), true);
    const publicKey = await suite.DeserializePublicKey(pair.public.bytes);
    for (const plaintext of messages) {
      const { enc, ct } = sealBase({ recipient: pair.public, info, aad, plaintext, random });
      expect(new Uint8Array(await suite.Open(privateKey, enc, ct, { info, aad }))).toEqual(plaintext);
      const theirs = await suite.Seal(publicKey, plaintext, { info, aad });
      const opened = openBase({
        privateKey: pair.private,
        enc: new Uint8Array(theirs.encapsulatedSecret),
        ct: new Uint8Array(theirs.ciphertext),
        info,
        aad,
      });
      expect(opened).toEqual(plaintext);
    }
  });

  test('@hpke/core opens what we seal, and we open what it seals', async () => {
    const suite = new CipherSuite({ kem: new DhkemX25519HkdfSha256(), kdf: new HkdfSha256(), aead: new Aes256Gcm() });
    const pair = generateWrapKey(random);
    const recipientKey = await suite.kem.deserializePrivateKey(pair.private.reveal());
    const recipientPublicKey = await suite.kem.deserializePublicKey(pair.public.bytes);
    for (const plaintext of messages) {
      const { enc, ct } = sealBase({ recipient: pair.public, info, aad, plaintext, random });
      expect(new Uint8Array(await suite.open({ recipientKey, enc, info }, ct, aad))).toEqual(plaintext);
      const theirs = await suite.seal({ recipientPublicKey, info }, plaintext, aad);
      const opened = openBase({
        privateKey: pair.private,
        enc: new Uint8Array(theirs.enc),
        ct: new Uint8Array(theirs.ct),
        info,
        aad,
      });
      expect(opened).toEqual(plaintext);
    }
  });
});

describe('sealing', () => {
  const pair = generateWrapKey(random);
  const bytes = (max: number) => fc.uint8Array({ maxLength: max });

  test('round-trips for any info, also above what hkdfSync takes, and opens under nothing else', () => {
    fc.assert(
      fc.property(bytes(1_500), bytes(200), bytes(2_000), fc.nat(), (info, aad, plaintext, at) => {
        const { enc, ct } = sealBase({ recipient: pair.public, info, aad, plaintext, random });
        const input = { privateKey: pair.private, enc, info, aad, ct };
        expect(openBase(input)).toEqual(plaintext);
        expect(openBase({ ...input, privateKey: pair.private.reveal() })).toEqual(plaintext);
        const wrong = [
          { ...input, enc: flip(enc, at) },
          { ...input, ct: flip(ct, at) },
          { ...input, info: concatBytes(info, Uint8Array.of(0)) },
          { ...input, aad: concatBytes(aad, Uint8Array.of(0)) },
          { ...input, ct: ct.slice(0, at % ct.length) },
          { ...input, ct: concatBytes(ct, Uint8Array.of(0)) },
          { ...input, enc: enc.slice(1) },
          { ...input, enc: concatBytes(enc, Uint8Array.of(0)) },
          { ...input, privateKey: generateWrapKey(random).private },
        ];
        for (const bad of wrong) expect(refusalOf(() => openBase(bad))).toBe('open_failed');
      }),
      { numRuns: 40 },
    );
  });

  test('never gives the same enc or ct twice', () => {
    const seal = () =>
      sealBase({
        recipient: pair.public,
        info: new Uint8Array(),
        aad: new Uint8Array(),
        plaintext: new Uint8Array(8),
        random,
      });
    const sealed = Array.from({ length: 50 }, seal);
    expect(new Set(sealed.map(({ enc }) => encodeHex(enc))).size).toBe(50);
    expect(new Set(sealed.map(({ ct }) => encodeHex(ct))).size).toBe(50);
  });

  test('takes a raw public key as it takes a parsed one', () => {
    const input = {
      info: new Uint8Array(),
      aad: new Uint8Array(),
      plaintext: Uint8Array.of(1),
      random: () => new Uint8Array(32).fill(5),
    };
    expect(sealBase({ recipient: pair.public.bytes, ...input })).toEqual(
      sealBase({ recipient: pair.public, ...input }),
    );
  });

  test.each<[string, Uint8Array, string]>([
    ['of low order', new Uint8Array(32), 'malformed_key'],
    ['with a second text', unhex(`ee${'ff'.repeat(30)}7f`), 'malformed_key'],
    ['of another length', new Uint8Array(33), 'malformed_key'],
  ])('refuses a recipient %s, and an encapsulated key like it', (_, key, code) => {
    const rest = { info: new Uint8Array(), aad: new Uint8Array() };
    expect(refusalOf(() => sealBase({ recipient: key, ...rest, plaintext: new Uint8Array(), random }))).toBe(code);
    expect(refusalOf(() => openBase({ privateKey: pair.private, enc: key, ...rest, ct: new Uint8Array(16) }))).toBe(
      'open_failed',
    );
  });

  test('stops a caller whose randomness is short, and one with a key of another kind', () => {
    const input = { info: new Uint8Array(), aad: new Uint8Array(), plaintext: new Uint8Array() };
    expect(() => sealBase({ recipient: pair.public, ...input, random: () => new Uint8Array(16) })).toThrow(TypeError);
    const other = new SecretBytes('hub-key', pair.private.reveal());
    const { enc, ct } = sealBase({ recipient: pair.public, ...input, random });
    const { suite, bytes, fingerprint, keyObject } = pair.public;
    const lookalike = { suite, bytes, fingerprint, keyObject } as WrapPublicKey;
    expect(() => sealBase({ recipient: lookalike, ...input, random })).toThrow(TypeError);
    // @ts-expect-error a hub key opens nothing
    expect(() => openBase({ privateKey: other, enc, ct, ...input })).toThrow(TypeError);
    expect(openBase({ privateKey: restoreWrapKey(other.reveal()).private, enc, ct, ...input })).toEqual(
      new Uint8Array(),
    );
  });
});

function flip(bytes: Uint8Array, at: number): Uint8Array {
  return bytes.map((byte, index) => (index === at % bytes.length ? byte ^ (1 << (at % 8)) : byte));
}
