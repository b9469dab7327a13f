/**
 * Two thousand connections that never finish what they begin: a handshake, a header, a body. The fleet does not notice, and the
 * hub lets go of each of them after its time.
 */
import type { Socket } from 'node:net';
import { routes } from '@rollcall/wire';
import { afterAll, describe, expect, it } from 'vitest';
import { createKeptBeats } from './harness/kept-beats.ts';
import { open } from './harness/raw-bytes.ts';
import { enrolRawHost, type RawHost } from './harness/raw-host.ts';
import { useFleet } from './harness/use-fleet.ts';
import { sleep } from './harness/wait-until.ts';

const SLOW = 2_000;
const HOSTS = 8;
const BEATS = 60;

const fleet = useFleet({ hubFlags: ['--beat', '200ms'] });
const slow = new Set<Socket>();
afterAll(() => {
  for (const socket of slow) socket.destroy();
});

describe('two thousand slow senders', () => {
  it('keep no beat of the fleet from being answered, and are let go of', async () => {
    const hosts = await Promise.all(Array.from({ length: HOSTS }, (_, index) => enrolRawHost(fleet(), `web-${index}`)));
    const beats = hosts.map((host) => createKeptBeats(fleet().port, host));
    const stop = await sendSlowly(hosts[0] as RawHost);
    expect(slow.size).toBeGreaterThanOrEqual(SLOW * 0.9);
    // Each is awaited, and one that is not answered with 200 fails. How long they take is measured in bench/slow-senders.ts.
    expect(await beatAll(beats)).toBe(HOSTS * BEATS);
    stop();
    // Five seconds for a handshake or a header, ten for a request, and one until somebody looks.
    await fleet().waitUntil('the hub has let go of them', () => slow.size === 0, { withinMs: 30_000 });
    for (const beat of beats) beat.close();
  }, 180_000);
});

const BODIES = 400;
const HEADERS = 300;

/** Some stop within a body, with a good bearer, some within a header, and drip on; the most stop at the handshake, and come again, each in its own time. */
async function sendSlowly(host: RawHost): Promise<() => void> {
  const address = { port: fleet().port };
  const head = `POST ${routes.heartbeat.path} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${host.bearer()}\r\n`;
  const body = `${head}X-Rollcall-Host: ${host.id}\r\nContent-Type: application/json\r\nContent-Length: 30000\r\n\r\n{`;
  const dripping = new Set<Socket>();
  let isOver = false;
  const hold = async (isPlain: boolean, bytes: string): Promise<void> => {
    const socket = await open(address, isPlain);
    slow.add(socket);
    if (!isPlain) dripping.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      slow.delete(socket);
      dripping.delete(socket);
      if (isPlain && !isOver) hold(isPlain, bytes).catch(() => undefined);
    });
    socket.resume();
    socket.write(bytes, 'latin1');
    if (socket.destroyed) slow.delete(socket);
  };
  for (const [count, isPlain, bytes] of [
    [BODIES, false, body],
    [HEADERS, false, head],
    [SLOW - BODIES - HEADERS, true, '\x16'],
  ] as const) {
    for (let opened = 0; opened < count; opened += 100) {
      await Promise.all(Array.from({ length: 100 }, () => hold(isPlain, bytes)));
      // Not in step: then they would be let go of in one moment, and what is measured is how fast two thousand connections are made.
      if (isPlain) await sleep(250);
    }
  }
  const drip = setInterval(() => {
    for (const socket of dripping) if (socket.writable) socket.write(' ');
  }, 1_000);
  return () => {
    isOver = true;
    clearInterval(drip);
  };
}

/** Of all hosts, each at a pace below the rate of one agent. Returns how many were answered. */
async function beatAll(beats: readonly { beat(): Promise<number> }[]): Promise<number> {
  const answered = await Promise.all(
    beats.map(async ({ beat }, index) => {
      await sleep(index * 7);
      for (let count = 0; count < BEATS; count += 1) {
        await beat();
        await sleep(55);
      }
      return BEATS;
    }),
  );
  return answered.reduce((sum, count) => sum + count, 0);
}
