/**
 * Strangers who send wrong bearers as fast as they can, one after the other or all at once: every beat of a true host is answered, and
 * as long as it takes no agent gives up. How much slower it gets is measured in bench/flood.ts.
 */
import type { Socket } from 'node:net';
import { encodeToken } from '@rollcall/core/keys';
import { routes } from '@rollcall/wire';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKeptBeats, type KeptBeats } from './harness/kept-beats.ts';
import { open } from './harness/raw-bytes.ts';
import { enrolRawHost, random } from './harness/raw-host.ts';
import { useFleet } from './harness/use-fleet.ts';
import { sleep } from './harness/wait-until.ts';

const HOSTS = 4;
const BEATS = 15;
const STRANGERS = 30;

const fleet = useFleet({ hubFlags: ['--beat', '200ms'] });
let beats: readonly KeptBeats[];
const strangers = new Set<Socket>();

beforeAll(async () => {
  const hosts = await Promise.all(Array.from({ length: HOSTS }, (_, index) => enrolRawHost(fleet(), `web-${index}`)));
  beats = hosts.map((host) => createKeptBeats(fleet().port, host));
});
afterAll(() => {
  for (const socket of strangers) socket.destroy();
  for (const beat of beats) beat.close();
});

describe('a flood of wrong bearers', () => {
  it.each([
    ['one after the other on each connection', 1],
    ['twenty-five at once on each connection', 25],
  ])('%s keeps no true host from its answer', async (_how, atOnce) => {
    const before = await counted();
    const flood = await startFlood(atOnce);
    const slowest = Math.max(...(await allBeats()));
    // While it was going on, and not before or after it.
    const during = await counted();
    await flood.stop();
    console.info(
      `${atOnce} at once: ${flood.answers()} refusals, the slowest beat beside them ${Math.round(slowest)} ms`,
    );
    expect(during.refused - before.refused).toBeGreaterThan(500);
    expect(during.ok - before.ok).toBe(HOSTS * BEATS);
    expect(during.others).toBe(0);
    expect(flood.wrongAnswers()).toBe(0);
    const { hosts } = await fleet().ask<{ hosts: { fresh: boolean }[] }>('GET', '/v1/hosts');
    expect(hosts.map(({ fresh }) => fresh)).toEqual(Array(HOSTS).fill(true));
    // And it is over: nothing of it is left that would be worked off.
    await fleet().waitUntil(
      'all is as before',
      async () => Math.max(...(await Promise.all(beats.map((one) => one.beat())))) < 1_000,
    );
  });
});

/** All hosts, each at its pace. */
async function allBeats(): Promise<number[]> {
  const all = await Promise.all(
    beats.map(async ({ beat }) => {
      const own: number[] = [];
      for (let count = 0; count < BEATS; count += 1) {
        own.push(await beat());
        await sleep(60);
      }
      return own;
    }),
  );
  return all.flat();
}

/** Strangers who claim to be hosts of the roll, with bearers that have the right form. Each sends again when all was answered. */
async function startFlood(atOnce: number) {
  let answers = 0;
  let wrongAnswers = 0;
  let isOver = false;
  const requests = (index: number) =>
    Array.from({ length: atOnce }, () => {
      const bearer = encodeToken('rcb', random(32));
      return `POST ${routes.heartbeat.path} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${bearer}\r\nX-Rollcall-Host: web-${index % HOSTS}\r\nContent-Length: 0\r\n\r\n`;
    }).join('');
  await Promise.all(
    Array.from({ length: STRANGERS }, async (_, index) => {
      const socket = await open({ port: fleet().port });
      strangers.add(socket);
      let unanswered = atOnce;
      socket.on('error', () => undefined);
      socket.on('close', () => strangers.delete(socket));
      socket.on('data', (chunk: Buffer) => {
        const text = chunk.toString('latin1');
        const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)];
        wrongAnswers += statuses.filter(([, status]) => status !== '401').length;
        answers += statuses.length;
        unanswered -= statuses.length;
        if (unanswered > 0 || isOver) return;
        unanswered = atOnce;
        socket.write(requests(index));
      });
      socket.write(requests(index));
    }),
  );
  return {
    answers: () => answers,
    wrongAnswers: () => wrongAnswers,
    stop: async () => {
      isOver = true;
      for (const socket of strangers) socket.destroy();
      await fleet().waitUntil('the strangers are gone', () => strangers.size === 0);
    },
  };
}

async function counted(): Promise<{ readonly ok: number; readonly refused: number; readonly others: number }> {
  const lines = (await fleet().metrics()).matchAll(/^rollcall_heartbeats_total\{result="(\w+)"\} (\d+)$/gm);
  const counts = new Map([...lines].map(([, result = '', count = '']) => [result, Number(count)]));
  const [ok = 0, refused = 0] = [counts.get('ok'), counts.get('refused')];
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return { ok, refused, others: all - ok - refused };
}
