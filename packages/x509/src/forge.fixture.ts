/** For tests: fleets with real keys, and certificates of any shape that an attacker or a bad CA could sign. */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { type Authority, createAuthority } from './create-authority.ts';
import { usageOids } from './extensions.ts';
import {
  authorityKeyIdentifier,
  basicConstraints,
  type CertificateParts,
  type EncodedExtension,
  encodeCommonName,
  extendedKeyUsage,
  keyUsage,
  signCertificate,
  subjectAltName,
  subjectKeyIdentifier,
} from './sign-certificate.ts';

export const nowMs = Date.parse('2026-03-01T12:00:00.500Z');
export const dayMs = 86_400_000;
export const trustDomain = 'fleet.example';

export function random(n: number): Uint8Array {
  return Uint8Array.from(randomBytes(n));
}

export function generateKeyPair(namedCurve = 'prime256v1'): { publicKey: KeyObject; privateKey: KeyObject } {
  return generateKeyPairSync('ec', { namedCurve });
}

export function spkiOf(key: KeyObject): Uint8Array {
  return Uint8Array.from(key.export({ format: 'der', type: 'spki' }));
}

export function sha256(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from(createHash('sha256').update(bytes).digest());
}

export function makeAuthority(changes: Partial<Parameters<typeof createAuthority>[0]> = {}): Authority {
  return createAuthority({
    trustDomain,
    commonName: 'Fleet root',
    generateKeyPair,
    random,
    nowMs,
    lifeMs: 3_650 * dayMs,
    ...changes,
  });
}

export interface ForgeOptions {
  readonly issuer: {
    readonly subjectDer: Uint8Array;
    readonly privateKey: KeyObject;
    readonly keyId?: Uint8Array | undefined;
  };
  readonly keys?: { readonly publicKey: KeyObject; readonly privateKey: KeyObject };
  readonly commonName?: string;
  readonly parts?: Partial<CertificateParts>;
  /** Replaces the extension of the same number; `undefined` drops it. Keys are dotted numbers. */
  readonly replace?: Readonly<Record<string, EncodedExtension | undefined>>;
  readonly add?: readonly EncodedExtension[];
}

export interface Forged {
  readonly der: Uint8Array;
  readonly subjectDer: Uint8Array;
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

export function asIssuer(authority: Authority): ForgeOptions['issuer'] {
  const { subjectDer, subjectKeyId } = authority.certificate;
  return { subjectDer, privateKey: authority.privateKey, keyId: subjectKeyId };
}

/** A good hub certificate, but for what the options change. */
export function forge(options: ForgeOptions): Forged {
  const { publicKey, privateKey } = options.keys ?? generateKeyPair();
  const spkiDer = spkiOf(publicKey);
  const subjectDer = encodeCommonName(options.commonName ?? 'hub');
  const good = [
    basicConstraints({ isCa: false }),
    keyUsage('digitalSignature'),
    extendedKeyUsage(usageOids.serverAuth),
    subjectKeyIdentifier(spkiDer),
    subjectAltName({ uris: [`spiffe://${trustDomain}/hub`], dnsNames: ['hub.example'] }),
    ...(options.issuer.keyId === undefined ? [] : [authorityKeyIdentifier(options.issuer.keyId)]),
  ];
  const replace = options.replace ?? {};
  const extensions = good.flatMap((extension) => {
    if (!Object.hasOwn(replace, extension.oid)) return [extension];
    const other = replace[extension.oid];
    return other === undefined ? [] : [other];
  });
  const der = signCertificate(
    {
      serial: random(16),
      issuerDer: options.issuer.subjectDer,
      subjectDer,
      notBeforeMs: nowMs - 3_600_000,
      notAfterMs: nowMs + dayMs,
      spkiDer,
      extensions: [...extensions, ...(options.add ?? [])],
      ...options.parts,
    },
    options.issuer.privateKey,
  );
  return { der, subjectDer, publicKey, privateKey };
}

/** An authority below another. */
export function forgeIntermediate(
  options: Omit<ForgeOptions, 'replace'> & { readonly pathLength?: number; readonly replace?: ForgeOptions['replace'] },
): Forged {
  const { pathLength } = options;
  return forge({
    commonName: 'Fleet intermediate',
    ...options,
    replace: {
      '2.5.29.19': basicConstraints(pathLength === undefined ? { isCa: true } : { isCa: true, pathLength }),
      '2.5.29.15': keyUsage('keyCertSign', 'cRLSign'),
      '2.5.29.37': undefined,
      '2.5.29.17': subjectAltName({ uris: [`spiffe://${trustDomain}`] }),
      ...options.replace,
    },
  });
}
