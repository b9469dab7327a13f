/**
 * What OpenSSL, which shares no line with what judges the hub inside of Rollcall, thinks of the fleet listener of a running hub:
 * its protocol, its chain, its names, its certificate (design 6, design 11).
 */
import { createHash, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createServer, type Server } from 'node:tls';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createFleet, readHubRootFile } from '../harness/fleet.ts';
import { findTool, runTool, type ToolRan } from '../harness/tool.ts';
import { readBundlePem } from '../harness/trust-bundle.ts';
import { useFleet } from '../harness/use-fleet.ts';

const openssl = findTool('openssl') ?? '';
if (openssl === '') console.warn('openssl is not installed: what it thinks of the fleet listener is not asked');

const fleet = useFleet({ master: null });
let bundleFile: string;
let leafFile: string;
let leafPem: string;

// Skipped where openssl is not installed: there is no second opinion to ask for.
describe.skipIf(openssl === '')('the fleet listener, as openssl sees it', () => {
  beforeAll(async () => {
    bundleFile = fleet().write('bundle.pem', await readBundlePem(fleet()));
    const shown = await connect();
    leafPem = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/.exec(shown.text)?.[0] ?? '';
    leafFile = fleet().write('leaf.pem', `${leafPem}\n`);
  });

  describe('the protocol', () => {
    it('is TLS 1.3, and nothing below it', async () => {
      expect((await connect('-tls1_3')).text).toContain('New, TLSv1.3');
      for (const older of ['-tls1_2', '-tls1_1', '-tls1']) {
        // Security level 0, so that it is the hub that refuses the old ones, and not the client.
        const refused = await connect(older, '-cipher', 'ALL:@SECLEVEL=0');
        expect([older, refused.code === 0, refused.text.includes('Cipher is (NONE)')]).toEqual([older, false, true]);
        expect(refused.text).toContain('alert protocol version');
      }
      // The control: to a client that would take either, it is 1.3.
      expect((await connect('-cipher', 'ALL:@SECLEVEL=0')).text).toContain('New, TLSv1.3');
    });

    it.each(['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'])(
      'takes a client that has only %s',
      async (suite) => {
        expect((await connect('-ciphersuites', suite)).text).toContain(`New, TLSv1.3, Cipher is ${suite}`);
      },
    );

    it.each(['X25519', 'P-256', 'P-384'])('takes a client that agrees on keys by %s only', async (group) => {
      expect((await connect('-groups', group)).text).toContain('New, TLSv1.3');
    });

    it('resumes no session, which would show no certificate to judge; where one may be, it is', async () => {
      const other = await startOther();
      onTestFinished(() => void other.server.close());
      for (const [port, reused] of [
        [other.port, true],
        [fleet().port, false],
      ] as const) {
        const file = join(fleet().dir, `session-${port}`);
        // A ticket comes after the handshake: who ends at once does not see it.
        await connectTo(
          port,
          ['-sess_out', file],
          'GET /healthz HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n',
          true,
        );
        const again = await connectTo(port, ['-sess_in', file], '', false);
        expect([port, again.text.includes('Reused, TLSv1.3')]).toEqual([port, reused]);
      }
    });

    it('asks for no certificate of the client, and takes a client that shows one as nobody', async () => {
      const key = join(fleet().dir, 'client.key');
      const made = await runTool(openssl, [
        ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', '/CN=agent-7'],
        ...['-keyout', key, '-out', `${key}.crt`],
      ]);
      expect(made.code).toBe(0);
      const shown = await connect('-cert', `${key}.crt`, '-key', key);
      expect(shown.text).toContain('No client certificate CA names sent');
      expect(shown.code).toBe(0);
    });
  });

  describe('the chain', () => {
    it('leads to the trust bundle, and to no other', async () => {
      const verified = await connect('-CAfile', bundleFile, '-verify_return_error', '-x509_strict');
      expect(verified.text).toContain('Verify return code: 0 (ok)');
      const other = await createFleet({ master: null });
      onTestFinished(() => other.close());
      const otherFile = other.write('bundle.pem', await readBundlePem(other));
      const refused = await connect('-CAfile', otherFile, '-verify_return_error', '-x509_strict');
      expect([refused.code === 0, refused.text.includes('Verify return code: 0')]).toEqual([false, false]);
    });

    it.each([
      [['-purpose', 'sslserver'], 0],
      [['-purpose', 'sslclient'], 2],
      [['-verify_ip', '127.0.0.1'], 0],
      [['-verify_ip', '127.0.0.2'], 2],
      [['-verify_hostname', 'localhost'], 2],
      [['-attime', String(Math.floor(Date.now() / 1_000) + 366 * 86_400)], 2],
      [['-attime', String(Math.floor(Date.now() / 1_000) - 600)], 2],
    ])('stands up to openssl verify %j with code %d', async (flags, code) => {
      const ran = await runTool(openssl, ['verify', ...strict, '-CAfile', bundleFile, ...flags, leafFile]);
      expect([ran.code, ran.stderr]).toEqual([code, code === 0 ? '' : expect.stringContaining('error')]);
    });

    it('has one root that may sign, and a leaf that may not', async () => {
      const purpose = async (file: string) =>
        (await runTool(openssl, ['x509', '-in', file, '-noout', '-purpose'])).stdout.toString();
      expect(await purpose(leafFile)).toContain('SSL server CA : No');
      expect(await purpose(leafFile)).toContain('SSL server : Yes');
      expect(await purpose(leafFile)).toContain('SSL client : No');
      expect(await purpose(bundleFile)).toContain('SSL server CA : Yes');
    });
  });

  describe('the names', () => {
    it.each(['127.0.0.1', 'localhost', 'hub.example', 'agent-7', 'xn--bcher-kva.example'])(
      'are the same to whoever calls it %s: no name that a stranger sends chooses a certificate',
      async (name) => {
        const shown = await connect('-servername', name);
        expect(shown.text).toContain(leafPem);
      },
    );
  });

  describe('the certificate', () => {
    it('is read by openssl as design 6 has it, field by field', async () => {
      const text = await x509(leafFile, '-text');
      const { trustDomain } = readHubRootFile(fleet());
      const extensions = [...text.matchAll(/X509v3 (?!extensions)([^:]+):( critical)?\s*\n\s+([^\n]+)/g)].map(
        ([, name = '', critical = '', value = '']) => [name, critical.trim(), value.trim()],
      );
      expect(extensions).toEqual([
        ['Basic Constraints', 'critical', 'CA:FALSE'],
        ['Key Usage', 'critical', 'Digital Signature'],
        ['Extended Key Usage', '', 'TLS Web Server Authentication'],
        ['Authority Key Identifier', '', expect.stringMatching(/^(?:[0-9A-F]{2}:){19}[0-9A-F]{2}$/)],
        ['Subject Key Identifier', '', expect.stringMatching(/^(?:[0-9A-F]{2}:){19}[0-9A-F]{2}$/)],
        ['Subject Alternative Name', '', `URI:spiffe://${trustDomain}/hub, IP Address:127.0.0.1`],
      ]);
      expect(text).toContain('NIST CURVE: P-256');
      expect(text).toContain('Signature Algorithm: ecdsa-with-SHA256');
      expect(text).toMatch(/Version: 3 \(0x2\)/);
    });

    it('has a serial number of more than a hundred random bits, and begins five minutes before it was made', async () => {
      const serial = (await x509(leafFile, '-serial')).trim().replace('serial=', '');
      expect(serial).toMatch(/^[0-9A-F]{26,32}$/);
      const { validFrom, validTo } = new X509Certificate(leafPem);
      const beforeMs = Date.now() - Date.parse(validFrom);
      expect(beforeMs).toBeGreaterThan(299_000);
      expect(beforeMs).toBeLessThan(900_000);
      expect(Date.parse(validTo)).toBeGreaterThan(Date.now() + 300 * 86_400_000);
    });

    it('has the key whose hash the hub-root file names', async () => {
      const publicPem = await x509(leafFile, '-pubkey');
      const der = await runTool(openssl, ['pkey', '-pubin', '-outform', 'DER'], { input: publicPem });
      const hashed = await runTool(openssl, ['dgst', '-sha256', '-binary'], { input: der.stdout });
      const [spki = new Uint8Array()] = readHubRootFile(fleet()).spki;
      expect(hashed.stdout.equals(Buffer.from(spki))).toBe(true);
      expect(hashed.stdout.equals(createHash('sha256').update(der.stdout).digest())).toBe(true);
    });

    it('and its root are the same after a restart of the hub but for serial and dates: the key is kept', async () => {
      const before = await x509(leafFile, '-pubkey');
      await fleet().hub().kill('SIGTERM');
      await fleet().startHub();
      const again = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/.exec((await connect()).text)?.[0] ?? '';
      expect(await x509(fleet().write('again.pem', `${again}\n`), '-pubkey')).toBe(before);
      const verified = await connect('-CAfile', bundleFile, '-verify_return_error', '-x509_strict');
      expect(verified.text).toContain('Verify return code: 0 (ok)');
    });
  });
});

const strict = ['-x509_strict', '-check_ss_sig', '-no-CApath', '-no-CAstore'];

interface Shown {
  readonly code: number | null;
  readonly text: string;
}

function connect(...flags: readonly string[]): Promise<Shown> {
  return connectTo(fleet().port, flags, '', false);
}

/** `isWaiting`: until the other side closes, rather than with the end of the input. */
async function connectTo(port: number, flags: readonly string[], input: string, isWaiting: boolean): Promise<Shown> {
  const names = flags.includes('-servername') ? [] : ['-noservername'];
  const args = ['s_client', '-connect', `127.0.0.1:${port}`, ...names, ...(isWaiting ? ['-ign_eof'] : []), ...flags];
  const ran: ToolRan = await runTool(openssl, args, { input });
  return { code: ran.code, text: `${ran.stdout.toString('latin1')}\n${ran.stderr}` };
}

async function x509(file: string, flag: string): Promise<string> {
  const ran = await runTool(openssl, ['x509', '-in', file, '-noout', flag]);
  if (ran.code !== 0) throw new Error(ran.stderr);
  return ran.stdout.toString('utf8');
}

/** A TLS server with node's own options: what a session looks like that can be resumed. */
async function startOther(): Promise<{ readonly server: Server; readonly port: number }> {
  const key = join(fleet().dir, 'other.key');
  await runTool(openssl, [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', '/CN=other'],
    ...['-keyout', key, '-out', `${key}.crt`],
  ]);
  const server = createServer({ key: readFileSync(key), cert: readFileSync(`${key}.crt`) }, (socket) => {
    socket.on('error', () => undefined);
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return { server, port: typeof address === 'object' && address !== null ? address.port : 0 };
}
