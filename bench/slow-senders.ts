/**
 * True hosts beside two thousand connections that never finish what they begin: how much slower are their slowest beats than
 * without? In turn, so that what slows the machine slows both. tests/e2e/slow-senders.test.ts shows that they are let go of.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import type { FloodAnswers } from './flood/client.ts';
import { startProcess, usableCores } from './heartbeat/process.ts';
import { enrolRoll } from './heartbeat/roll.ts';
import type { ServerAnswers } from './heartbeat/server.ts';
import { atMost, type BenchResult, figure, p99 } from './measure.ts';

const HOSTS = 20;
const ROUNDS = 3;
const ROUND_MS = 3_000;
/** They stop within a header, or at the handshake. */
const HEADERS = 700;
const HANDSHAKES = 1_300;
/** Below this it is the scheduler of the machine that is measured. */
const SCHEDULER_MS = 5;

export async function benchSlowSenders(): Promise<BenchResult[]> {
  const [serverCore, loadCore] = usableCores();
  const dir = mkdtempSync(join(tmpdir(), 'rollcall-slow-'));
  const core = loadCore === undefined ? undefined : serverCore;
  const hub = startProcess<ServerAnswers>('server.js', ['hub', join(dir, 'hub')], core);
  const hosts = startProcess<FloodAnswers>('../flood/client.js', [], loadCore);
  try {
    const address = await hub.ask('started');
    await hosts.ask('openHosts', { port: address.port, requests: await enrolRoll(address, HOSTS) });
    await hosts.ask('beat', ROUND_MS);
    const [alone, beside, open]: [number[], number[], number[]] = [[], [], []];
    for (let round = 0; round < ROUNDS; round += 1) {
      alone.push(p99(await hosts.ask('beat', ROUND_MS)));
      const slow = await openSlowly(address.port);
      beside.push(p99(await hosts.ask('beat', ROUND_MS)));
      open.push([...slow].filter((socket) => !socket.destroyed).length);
      for (const socket of slow) socket.destroy();
    }
    const [withoutMs, withMs] = [Math.min(...alone), Math.min(...beside)];
    return [
      figure('slow_senders.open', Math.min(...open), 'connections at the end of a round'),
      figure('slow_senders.p99_alone', withoutMs, `ms, the best of ${ROUNDS} rounds`),
      figure('slow_senders.p99_beside', withMs, `ms, the best of ${ROUNDS} rounds`),
      atMost(
        'slow_senders.slower',
        withMs / Math.max(withoutMs, SCHEDULER_MS),
        `times, of at least ${SCHEDULER_MS} ms`,
        3,
      ),
    ];
  } finally {
    await Promise.all([hub.end(), hosts.end()]);
    rmSync(dir, { recursive: true, force: true });
  }
}

async function openSlowly(port: number): Promise<ReadonlySet<Socket>> {
  const slow = new Set<Socket>();
  const hold = (socket: Socket, bytes: string, event: string) => {
    slow.add(socket);
    socket.on('error', () => undefined);
    socket.resume();
    return new Promise<void>((resolve) => {
      socket.once('close', () => resolve());
      socket.once(event, () => {
        socket.write(bytes, 'latin1');
        resolve();
      });
    });
  };
  for (let opened = 0; opened < HEADERS; opened += 100) {
    const some = Array.from({ length: 100 }, () => connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false }));
    await Promise.all(
      some.map((socket) => hold(socket, 'POST /v1/heartbeat HTTP/1.1\r\nHost: h\r\n', 'secureConnect')),
    );
  }
  for (let opened = 0; opened < HANDSHAKES; opened += 100) {
    const some = Array.from({ length: 100 }, () => connect({ port, host: '127.0.0.1' }));
    await Promise.all(some.map((socket) => hold(socket, '\x16', 'connect')));
    // Not in step, or they would be let go of in one moment.
    await sleep(50);
  }
  return slow;
}
