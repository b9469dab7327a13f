/** Sealing against the limit of what node:crypto can agree on, and against an HPKE that goes through WebCrypto. */
import { createPrivateKey, createPublicKey, diffieHellman, randomBytes } from 'node:crypto';
import { Aes256Gcm, CipherSuite, DhkemX25519HkdfSha256, HkdfSha256 } from '@hpke/core';
import { encodeBase64url, utf8 } from '@rollcall/core/bytes';
import { generateWrapKey, openBase, sealBase } from '@rollcall/core/seal';
import { atLeast, type BenchResult, figure, measureInterleaved } from './measure.ts';

/** As long as an assignment of two generations with five keys each. */
const PLAINTEXT_BYTES = 800;

export async function benchSeal(): Promise<BenchResult[]> {
  const random = (n: number): Uint8Array => randomBytes(n);
  const pair = generateWrapKey(random);
  const message = { info: utf8('rollcall/delivery/v1'), aad: randomBytes(80), plaintext: randomBytes(PLAINTEXT_BYTES) };
  const sealed = sealBase({ recipient: pair.public, ...message, random });

  const suite = new CipherSuite({ kem: new DhkemX25519HkdfSha256(), kdf: new HkdfSha256(), aead: new Aes256Gcm() });
  const recipientPublicKey = await suite.kem.deserializePublicKey(pair.public.bytes);

  const recipient = createPublicKey({
    key: { kty: 'OKP', crv: 'X25519', x: encodeBase64url(pair.public.bytes) },
    format: 'jwk',
  });

  const seal = () => sealBase({ recipient: pair.public, ...message, random });
  const measured = await measureInterleaved({
    seal,
    open: () => openBase({ privateKey: pair.private, ...sealed, info: message.info, aad: message.aad }),
    // The limit: a key pair from random bytes, its public half, and one agreement. No seal can do with less.
    limit: () => {
      const d = randomBytes(32).toString('base64url');
      const privateKey = createPrivateKey({ key: { kty: 'OKP', crv: 'X25519', d, x: '' }, format: 'jwk' });
      privateKey.export({ format: 'jwk' });
      return diffieHellman({ privateKey, publicKey: recipient });
    },
  });
  // In a run of its own: what it leaves to the garbage collector would be charged to whoever comes next.
  const others = await measureInterleaved({
    seal,
    webcrypto: () => suite.seal({ recipientPublicKey, info: message.info }, message.plaintext, message.aad),
  });

  return [
    figure('seal.per_second', measured.rate('seal'), '1/s'),
    figure('open.per_second', measured.rate('open'), '1/s'),
    atLeast('seal.of_limit', measured.ratio('seal', 'limit'), 'of X25519 key generation + agreement', 0.7),
    atLeast('seal.over_webcrypto', others.ratio('seal', 'webcrypto'), 'times @hpke/core', 7),
  ];
}
