/** Against servers on loopback that are the hub, or say they are: what reaches an impostor is counted, byte for byte. */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { encodeToken } from '@rollcall/core/keys';
import { createAuthority, hubId, issueCertificate, spkiSha256 } from '@rollcall/x509';
import { afterEach, describe, expect, it } from 'vitest';
import { hubStatus } from '../answers.fixture.ts';
import { transcript } from '../transcript.fixture.ts';
import { sendToHub } from './send-to-hub.ts';

const DAY_MS = 86_400_000;
const token = encodeToken('rco', Uint8Array.from(randomBytes(32)));
const random = (n: number) => Uint8Array.from(randomBytes(n));
const generateKeyPair = () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const authority = createAuthority({
  trustDomain: 'rollcall.internal',
  commonName: 'Fleet root',
  generateKeyPair,
  random,
  nowMs: Date.now() - DAY_MS,
  lifeMs: 10 * DAY_MS,
});

interface Identity {
  readonly cert: string;
  readonly key: string;
  readonly spki: string;
}

/** Every one of them is issued by the fleet's own authority, so that nothing but the key tells them apart. */
function makeIdentity(lifeMs = DAY_MS): Identity {
  const { publicKey, privateKey } = generateKeyPair();
  const { certificateDer, certificatePem } = issueCertificate({
    authority,
    subjectPublicKey: publicKey,
    commonName: 'hub',
    uri: hubId(authority.trustDomain),
    dnsNames: ['localhost'],
    ipAddresses: ['127.0.0.1'],
    usage: 'serverAuth',
    nowMs: Date.now() - DAY_MS / 2,
    lifeMs,
    random,
  });
  const key = privateKey.export({ format: 'pem', type: 'pkcs8' }) as string;
  return { cert: certificatePem, key, spki: Buffer.from(spkiSha256(certificateDer)).toString('base64url') };
}

const hub = makeIdentity();
const files = {
  '/token': { text: `${token}\n` },
  '/root': { text: JSON.stringify({ ...hubStatus.hubRoot, root: validRoot(), spki: ['A'.repeat(43), hub.spki] }) },
};
const servers: Server[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await new Promise((done) => server.close(done));
});

async function listening<S extends Server>(server: S): Promise<string> {
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', () => done()));
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A hub, or an impostor, that counts connections and everything that came after the handshake. */
async function serve(identity: Identity, options: { readonly maxVersion?: 'TLSv1.2' } = {}) {
  const seen = { connections: 0, bytes: 0 };
  const server = createTlsServer({ ...identity, ...options }, (socket) => {
    socket.on('data', (part) => {
      seen.bytes += part.length;
    });
    socket.on('error', () => undefined);
  });
  server.on('tlsClientError', () => undefined);
  server.on('connection', () => {
    seen.connections += 1;
  });
  return { seen, url: await listening(server) };
}

function ask(url: string, more: readonly string[] = [], given: Parameters<typeof transcript>[1] = {}) {
  const words = [
    'hub',
    'status',
    '--hub',
    url,
    '--token-file',
    '/token',
    '--hub-root-file',
    '/root',
    '--json',
    ...more,
  ];
  return transcript(words, { files, ...given });
}

describe('a hub over TCP', () => {
  it('gets the token once it has shown a key that the hub-root file names', async () => {
    const authorizations: unknown[] = [];
    const url = await listening(
      createHttpsServer({ ...hub, minVersion: 'TLSv1.3' }, (request, response) => {
        authorizations.push(request.headers.authorization);
        response.end(JSON.stringify(hubStatus));
      }),
    );
    expect(await ask(url)).toMatchObject({ exit: 0, json: hubStatus });
    expect(authorizations).toEqual([`Bearer ${token}`]);
    const env = { ROLLCALL_HUB: url, ROLLCALL_TOKEN_FILE: '/token', ROLLCALL_HUB_ROOT_FILE: '/root' };
    expect(await transcript(['hub', 'status', '--json'], { files, env })).toMatchObject({ exit: 0, json: hubStatus });
  });

  it('answers a dead token with the constant refusal, which is told apart from other refusals', async () => {
    const url = await listening(
      createHttpsServer({ ...hub }, (_request, response) => {
        response.writeHead(401).end('{"error":"node token invalid"}');
      }),
    );
    expect(await ask(url)).toMatchObject({ exit: 1, json: { error: { code: 'operator_refused' } } });
  });

  it('tells durations from its own clock, not from this machine’s', async () => {
    const bodies: unknown[] = [];
    const url = await listening(
      createHttpsServer({ ...hub }, (request, response) => {
        if (request.method === 'GET')
          return void response.end(JSON.stringify({ ...hubStatus, time: '2027-03-01T00:00:00.000Z' }));
        request.on('data', (part: Buffer) => bodies.push(JSON.parse(part.toString())));
        request.on('end', () => response.writeHead(409).end('{"code":"not_found"}'));
      }),
    );
    const more = ['--hub', url, '--token-file', '/token', '--hub-root-file', '/root'];
    await transcript(['rotation', 'cut', '--until', '10m', '--yes', ...more], { files });
    expect(bodies).toEqual([{ until: '2027-03-01T00:10:00.000Z', leave: [] }]);
  });
});

describe('an impostor', () => {
  it('with a certificate of the same authority and another key sees no byte', async () => {
    const impostor = await serve(makeIdentity());
    const run = await ask(impostor.url);
    expect(run).toMatchObject({
      exit: 1,
      json: { error: { code: 'hub_untrusted', message: expect.stringContaining('another key') } },
    });
    expect(impostor.seen).toEqual({ connections: 1, bytes: 0 });
    expect(`${run.stdout}${run.stderr}`).not.toContain(token);
    // The control: the same server with the hub's key is sent the request.
    const real = await serve(hub);
    const asked = ask(real.url, [], { send: (request) => sendToHub({ ...request, signal: AbortSignal.timeout(500) }) });
    expect(await asked).toMatchObject({ exit: 1, json: { error: { code: 'hub_no_answer' } } });
    expect(real.seen.bytes).toBeGreaterThan(token.length);
  });

  it('that speaks TLS 1.2 alone sees no byte, also with the right key', async () => {
    const old = await serve(hub, { maxVersion: 'TLSv1.2' });
    expect(await ask(old.url)).toMatchObject({ exit: 1, json: { error: { code: 'hub_unreachable' } } });
    expect(old.seen.bytes).toBe(0);
  });

  it('that speaks no TLS sees a handshake, and no request', async () => {
    let requests = 0;
    const url = await listening(
      createHttpServer(() => {
        requests += 1;
      }),
    );
    expect(await ask(url)).toMatchObject({ exit: 1, json: { error: { code: 'hub_unreachable' } } });
    expect(requests).toBe(0);
  });

  it('that hangs up is said to, and was sent nothing', async () => {
    const url = await listening(createTcpServer((socket) => socket.destroy()));
    const { json } = await ask(url);
    expect(json).toMatchObject({
      error: { code: 'hub_unreachable', message: expect.stringContaining('before it was secure') },
    });
  });
});

describe('what is missing or wrong', () => {
  it('is nobody at the address', async () => {
    const url = await listening(createTcpServer());
    await new Promise((done) => servers.pop()?.close(done));
    const { json } = await ask(url);
    expect(json).toMatchObject({ error: { code: 'hub_unreachable', details: { system: 'ECONNREFUSED' } } });
  });

  it.each([
    [['--hub-root-file', '/root'], files, 'usage'],
    [['--token-file', '/token'], files, 'usage'],
    [['--token-file', '/token', '--hub-root-file', '/gone'], files, 'file_unreadable'],
    [['--token-file', '/root', '--hub-root-file', '/root'], files, 'malformed_token'],
    [['--token-file', '/token', '--hub-root-file', '/token'], files, 'malformed_file'],
    [
      ['--token-file', '/token', '--hub-root-file', '/root'],
      { ...files, '/token': { text: `\ufeff${token}` } },
      'byte_order_mark',
    ],
  ])('%j is told before anything is connected to: %#', async (more, given, code) => {
    const real = await serve(hub);
    const run = await transcript(['hub', 'status', '--hub', real.url, '--json', ...more], { files: given });
    expect(run).toMatchObject({ exit: 2, json: { error: { code } } });
    expect(real.seen).toEqual({ connections: 0, bytes: 0 });
    expect(`${run.stdout}${run.stderr}`).not.toContain(token);
  });
});

/** The public half of some Ed25519 key: a hub root that parses. */
function validRoot(): string {
  return generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }).x ?? '';
}
