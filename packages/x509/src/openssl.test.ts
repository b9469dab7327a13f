import { execFileSync, spawnSync } from 'node:child_process';
import { createPublicKey } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createCertificateRequest, verifyCertificateRequest } from './certificate-request.ts';
import {
  asIssuer,
  dayMs,
  forge,
  forgeIntermediate,
  generateKeyPair,
  makeAuthority,
  random,
  spkiOf,
  trustDomain,
} from './forge.fixture.ts';
import { issueCertificate } from './issue-certificate.ts';
import { encodeCertificatePem } from './pem.ts';

const hasOpenssl = runs('openssl', ['version']);
if (!hasOpenssl) console.warn('openssl is not installed: its view of our certificates is not checked');
const directory = mkdtempSync(join(tmpdir(), 'rollcall-x509-'));
afterAll(() => rmSync(directory, { recursive: true }));

// Skipped where openssl is not installed: there is no second reader to compare with.
describe.skipIf(!hasOpenssl)('openssl, an independent reader', () => {
  const nowMs = Date.now();
  const root = makeAuthority({ nowMs });
  const hub = issueCertificate({
    authority: root,
    subjectPublicKey: generateKeyPair().publicKey,
    commonName: 'hub',
    uri: `spiffe://${trustDomain}/hub`,
    dnsNames: ['hub.example'],
    ipAddresses: ['127.0.0.1', '::1'],
    usage: 'serverAuth',
    nowMs,
    lifeMs: dayMs,
    random,
  });
  const rootFile = save('root.pem', root.certificatePem);
  const hubFile = save('hub.pem', hub.certificatePem);
  const strict = ['-x509_strict', '-check_ss_sig', '-no-CApath', '-no-CAstore'];

  it('verifies what is issued, strictly, for its use and its names only', () => {
    const verify = (...more: string[]): boolean =>
      runs('openssl', ['verify', ...strict, '-CAfile', rootFile, ...more, hubFile]);
    expect(verify('-purpose', 'sslserver')).toBe(true);
    expect(verify('-purpose', 'sslclient')).toBe(false);
    expect(verify('-verify_hostname', 'hub.example')).toBe(true);
    expect(verify('-verify_hostname', 'other.example')).toBe(false);
    expect(verify('-verify_ip', '::1')).toBe(true);
    expect(verify('-attime', String(Math.floor((nowMs + 2 * dayMs) / 1_000)))).toBe(false);
    const other = save('other.pem', makeAuthority({ nowMs }).certificatePem);
    expect(runs('openssl', ['verify', ...strict, '-CAfile', other, hubFile])).toBe(false);
  });

  it('verifies a chain over an intermediate', () => {
    const parts = { notBeforeMs: nowMs - 1_000, notAfterMs: nowMs + dayMs };
    const middle = forgeIntermediate({ issuer: asIssuer(root), parts });
    const keyId = forgeKeyId(middle.der);
    const leaf = forge({ issuer: { ...middle, keyId }, parts });
    const untrusted = save('middle.pem', encodeCertificatePem(middle.der));
    const file = save('leaf.pem', encodeCertificatePem(leaf.der));
    expect(runs('openssl', ['verify', ...strict, '-CAfile', rootFile, '-untrusted', untrusted, file])).toBe(true);
    expect(runs('openssl', ['verify', ...strict, '-CAfile', rootFile, file])).toBe(false);
  });

  it('verifies the requests that are made here, and makes such as are taken here', () => {
    const { privateKey } = generateKeyPair();
    const mine = save('mine.csr', createCertificateRequest(privateKey, 'agent-7'));
    const text = output(['req', '-inform', 'DER', '-in', mine, '-noout', '-verify', '-subject', '-text']);
    expect(text).toMatch(/Subject: CN = agent-7/);
    expect(text).toMatch(/Signature Algorithm: ecdsa-with-SHA256/);
    const keyFile = save('theirs.key', privateKey.export({ format: 'pem', type: 'pkcs8' }) as string);
    const made = (...more: string[]): Uint8Array => {
      const out = join(directory, 'theirs.csr');
      output(['req', '-new', '-key', keyFile, '-subj', '/CN=whoever', '-outform', 'DER', '-out', out, ...more]);
      return Uint8Array.from(readFileSync(out));
    };
    const spkiDer = spkiOf(createPublicKey(privateKey));
    expect(verifyCertificateRequest(made()).spkiDer).toEqual(spkiDer);
    expect(verifyCertificateRequest(made('-sha384', '-addext', 'subjectAltName=DNS:hub.example')).spkiDer).toEqual(
      spkiDer,
    );
    const broken = made();
    broken[broken.length - 1] = (broken.at(-1) as number) ^ 1;
    expect(() => verifyCertificateRequest(broken)).toThrow();
    // It says so, and ends with 0 all the same.
    const judged = (name: string, request: Uint8Array) =>
      spawnSync('openssl', ['req', '-inform', 'DER', '-in', save(name, request), '-noout', '-verify'], {
        encoding: 'utf8',
      }).stderr;
    expect(judged('broken.csr', broken)).toMatch(/verify failure/);
    expect(judged('whole.csr', made())).toMatch(/verify OK/);
  });

  it('reads the fields of design 6', () => {
    const text = output(['x509', '-in', hubFile, '-noout', '-text']);
    expect(text).toMatch(/Version: 3/);
    expect(text).toMatch(/Signature Algorithm: ecdsa-with-SHA256/);
    expect(text).toMatch(/X509v3 Basic Constraints: critical\s+CA:FALSE/);
    expect(text).toMatch(/X509v3 Key Usage: critical\s+Digital Signature\n/);
    expect(text).toMatch(/X509v3 Extended Key Usage: ?\s+TLS Web Server Authentication\n/);
    expect(text).toMatch(
      /URI:spiffe:\/\/fleet\.example\/hub, DNS:hub\.example, IP Address:127\.0\.0\.1, IP Address:0:0:0:0:0:0:0:1/,
    );
    expect(text).toMatch(/X509v3 Subject Key Identifier/);
    expect(text).toMatch(/X509v3 Authority Key Identifier/);
    const authority = output(['x509', '-in', rootFile, '-noout', '-text']);
    expect(authority).toMatch(/X509v3 Basic Constraints: critical\s+CA:TRUE/);
    expect(authority).toMatch(/X509v3 Key Usage: critical\s+Certificate Sign, CRL Sign\n/);
    expect(authority).toMatch(/URI:spiffe:\/\/fleet\.example\n/);
  });
});

function forgeKeyId(der: Uint8Array): Uint8Array {
  const text = output([
    'x509',
    '-inform',
    'DER',
    '-in',
    save('any.der', der),
    '-noout',
    '-ext',
    'subjectKeyIdentifier',
  ]);
  return Uint8Array.from(
    Buffer.from(
      text
        .replaceAll(/[^0-9A-F:]/g, ' ')
        .trim()
        .split(/\s+/)
        .at(-1)
        ?.replaceAll(':', '') ?? '',
      'hex',
    ),
  );
}

function save(name: string, content: string | Uint8Array): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

function output(args: readonly string[]): string {
  return execFileSync('openssl', [...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

function runs(command: string, args: readonly string[]): boolean {
  try {
    execFileSync(command, [...args], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
