/** One of the two servers, as a process: `hub DIR`, or `bare ANSWER_BYTES`, the least that a TLS server can do with a heartbeat. */
import { constants, generateKeyPairSync, hash, randomBytes } from 'node:crypto';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { initHub, startHub } from '@rollcall/hub';
import { createAuthority } from '@rollcall/x509';
import { answerParent } from './process.ts';

const [kind = '', argument = ''] = process.argv.slice(2);

const started = kind === 'hub' ? await startHubIn(argument) : await startBare(Number(argument));
const answers = {
  started: () => started,
  cpuMs: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  },
  /** After a collection: what is held, not what was left lying. */
  heapBytes: () => {
    (globalThis as { gc?: () => void }).gc?.();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  },
};
export type ServerAnswers = typeof answers;
answerParent(answers);

async function startHubIn(dir: string) {
  await initHub({ dir, listen: '127.0.0.1:0' });
  const { fleetAddress, operatorSocket } = await startHub({ dir, logLevel: 'silent' });
  return { port: Number(fleetAddress.split(':').at(-1)), operatorSocket };
}

/** Keep-alive and TLS as the hub has them. */
async function startBare(answerBytes: number) {
  const authority = createAuthority({
    trustDomain: 'bench.example',
    commonName: 'bench',
    generateKeyPair: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    random: (n) => Uint8Array.from(randomBytes(n)),
    nowMs: Date.now(),
    lifeMs: 86_400_000,
  });
  const key = authority.privateKey.export({ format: 'pem', type: 'pkcs8' });
  const options = {
    key,
    cert: authority.certificatePem,
    minVersion: 'TLSv1.3',
    secureOptions: constants.SSL_OP_NO_TICKET,
    keepAliveTimeout: 75_000,
  } as const;
  const text = 'x'.repeat(answerBytes);
  const server = createServer(options, (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts);
      const beat = JSON.parse(body.toString()) as { readonly seq: number };
      const digest = hash('sha256', body);
      response.writeHead(beat.seq >= 0 && digest.length === 64 ? 200 : 400, {
        'content-type': 'application/json',
        'content-length': answerBytes,
      });
      response.end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, operatorSocket: '' };
}
