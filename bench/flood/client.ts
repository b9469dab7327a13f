/**
 * One side of the flood, as a process: `hosts`, true ones that beat at their pace and are timed, or `strangers`, who send wrong bearers
 * at a rate, each as soon as it was refused. No HTTP library: it must not be what is measured.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type TLSSocket } from 'node:tls';
import { encodeToken } from '@rollcall/core/keys';
import { FIRST_SEQ } from '../heartbeat/first-seq.ts';
import { answerParent } from '../heartbeat/process.ts';

const BEAT_EVERY_MS = 60;
const TICK_MS = 5;
/** Of the roll: the first of `enrolRoll`. */
const HOSTS_NAMED = 10;

/** Each waits for its answer before it sends again. */
let strangers: readonly { readonly socket: TLSSocket; isWaiting: boolean }[] = [];
let hosts: readonly { readonly socket: TLSSocket; readonly text: string; seq: number }[] = [];
let refused = 0;

const answers = {
  openHosts: async ({ port, requests }: { readonly port: number; readonly requests: readonly string[] }) => {
    hosts = await Promise.all(requests.map(async (text) => ({ socket: await open(port), text, seq: FIRST_SEQ })));
  },
  openStrangers: async ({ port, connections }: { readonly port: number; readonly connections: number }) => {
    const opened = Array.from({ length: connections }, async () => ({ socket: await open(port), isWaiting: false }));
    strangers = await Promise.all(opened);
    for (const stranger of strangers) {
      stranger.socket.on('data', (chunk: Buffer) => {
        if (!chunk.toString('latin1', 0, 13).startsWith('HTTP/1.1 401 ')) throw new Error('a stranger was not refused');
        refused += 1;
        stranger.isWaiting = false;
      });
    }
  },
  /** Milliseconds of each beat. */
  beat: async (ms: number): Promise<readonly number[]> =>
    (await Promise.all(hosts.map((host) => beatOne(host, ms)))).flat(),
  /** Returns how many were refused, a second. */
  flood: async ({ perSecond, ms }: { readonly perSecond: number; readonly ms: number }): Promise<number> => {
    const before = refused;
    const startedAt = performance.now();
    let sent = 0;
    for (let elapsed = 0; elapsed < ms; elapsed = performance.now() - startedAt) {
      const due = (elapsed * perSecond) / 1_000 - sent;
      for (const stranger of strangers.filter(({ isWaiting }) => !isWaiting).slice(0, due)) {
        stranger.isWaiting = true;
        stranger.socket.write(wrongBeat(sent));
        sent += 1;
      }
      await sleep(TICK_MS);
    }
    await sleep(200);
    return ((refused - before) * 1_000) / ms;
  },
};
export type FloodAnswers = typeof answers;
answerParent(answers);

async function open(port: number): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
  socket.setNoDelay(true);
  await new Promise<void>((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
  return socket;
}

function wrongBeat(number: number): string {
  const bearer = encodeToken('rcb', Uint8Array.from(randomBytes(32)));
  const host = `agent-${String(number % HOSTS_NAMED).padStart(5, '0')}`;
  return `POST /v1/heartbeat HTTP/1.1\r\nhost: h\r\nauthorization: Bearer ${bearer}\r\nx-rollcall-host: ${host}\r\ncontent-length: 0\r\n\r\n`;
}

async function beatOne(host: (typeof hosts)[number], ms: number): Promise<number[]> {
  const times: number[] = [];
  const until = performance.now() + ms;
  while (performance.now() < until) {
    host.seq += 1;
    const startedAt = performance.now();
    const answered = new Promise<string>((resolve) =>
      host.socket.once('data', (chunk: Buffer) => resolve(chunk.toString('latin1'))),
    );
    host.socket.write(host.text.replace(String(FIRST_SEQ), String(host.seq)));
    const answer = await answered;
    if (!answer.startsWith('HTTP/1.1 200 ')) throw new Error(`not the answer to a heartbeat: ${answer.slice(0, 300)}`);
    times.push(performance.now() - startedAt);
    await sleep(BEAT_EVERY_MS);
  }
  return times;
}
