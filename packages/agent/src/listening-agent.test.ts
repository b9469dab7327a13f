/** The whole agent with a listener: real sockets, a real disk, and a hub that confirms its generation and delivers shared tokens. */
import { cp, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonValue } from '@rollcall/core/json';
import { type Assignment, signStatement } from '@rollcall/core/seal';
import type { HeartbeatBody } from '@rollcall/wire';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { certificate, until } from './adapters/host-listener.fixture.ts';
import { systemFiles } from './adapters/system-files.ts';
import { callTls, type Headers } from './adapters/tls-call.fixture.ts';
import { delivery, durableState, hubKey } from './fleet.fixture.ts';
import { holding, tokenStep, tokenText } from './listener/listener.fixture.ts';
import { probeAgent, readAgentStatus, runAgent } from './main.ts';
import { encodeDurableState } from './state/durable-state.ts';
import { createPersist } from './state/persist.ts';
import { issueHubCertificate, makeAuthority, serveHub } from './tls-hub.fixture.ts';

const authority = makeAuthority();
const hubCertificate = issueHubCertificate(authority);
const closing: (() => Promise<unknown>)[] = [];
let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rollcall-listening-'));
});

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await rm(directory, { recursive: true });
});

/** It delivers what is wanted, and says what it verifies. */
async function startHub() {
  const hub = {
    url: '',
    generations: [1],
    nextBeatMs: 200,
    wanted: [] as Assignment[],
    beats: [] as HeartbeatBody[],
    tokens: [] as (readonly string[])[],
  };
  const { url, close } = await serveHub(hubCertificate, (asked, answer) => {
    const chunks: Buffer[] = [];
    asked.on('data', (chunk: Buffer) => chunks.push(chunk));
    asked.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as HeartbeatBody;
      const lines = asked.rawHeaders;
      hub.beats.push(body);
      hub.tokens.push(lines.filter((_, at) => at % 2 === 1 && lines[at - 1]?.toLowerCase() === 'x-node-token'));
      const due = hub.wanted.filter(({ secret, step }) => body.held[secret]?.step !== step);
      const confirmed = { generations: hub.generations } as unknown as Record<string, JsonValue>;
      const time = new Date().toISOString();
      const statements = [signStatement({ kind: 'generation-in-force', epoch: 1, time, body: confirmed, hubKey })];
      const pin = { state: 'pinned' };
      answer.writeHead(200, { 'content-type': 'application/json' });
      answer.end(
        JSON.stringify({
          time,
          nextBeatMs: hub.nextBeatMs,
          pin,
          statements,
          deliveries: due.map((of) => delivery(of)),
        }),
      );
    });
  });
  closing.push(close);
  return Object.assign(hub, { url });
}

async function writeState(stateDir: string, hubUrl: string, ...tokens: readonly Assignment[]): Promise<void> {
  await mkdir(stateDir, { mode: 0o700 });
  const state = durableState({
    hubs: [hubUrl],
    knownSpki: [hubCertificate.spki],
    roots: [authority.certificateDer],
    assignments: holding(tokens),
    listener: { current: certificate },
  });
  await createPersist(systemFiles, stateDir, undefined)(encodeDurableState(state));
}

function start(stateDir: string) {
  const stopping = new AbortController();
  const options = { stateDir, logLevel: 'silent', listen: '127.0.0.1:0' } as const;
  const stopped = runAgent(options, { signal: stopping.signal });
  stopped.catch(() => undefined);
  const stop = () => {
    stopping.abort();
    return stopped;
  };
  closing.push(() => stop().catch(() => undefined));
  return { stop };
}

async function portOf(stateDir: string): Promise<number> {
  await until(async () => (await readAgentStatus(stateDir).catch(() => undefined))?.listener?.open === true);
  return Number((await readAgentStatus(stateDir)).listener?.address?.split(':').at(-1));
}

const token = (version: number): Headers => [['X-Node-Token', tokenText(version)]];

it('opens its listener with the first answer, and tells the hub of it, of what was presented and of what it found', async () => {
  const hub = await startHub();
  const stateDir = join(directory, 'state');
  await writeState(stateDir, hub.url, tokenStep(1, [1]));
  start(stateDir);
  const port = await portOf(stateDir);
  // Where it is to listen: the hub must know of a verifier before it opens.
  expect(hub.beats[0]?.listener).toEqual({ address: '127.0.0.1:0', open: false });
  expect((await callTls(port, '/v1/host', token(1))).status).toBe(200);
  hub.wanted = [tokenStep(2, [1, 2], 1)];
  await until(() => hub.beats.at(-1)?.probes?.[0]?.step === 2);
  expect(hub.beats.at(-1)).toMatchObject({
    listener: { address: `127.0.0.1:${port}`, open: true },
    tokens: [
      {
        secret: 'api',
        hits: [
          { version: 1, count: 1 },
          { version: 2, count: 0 },
        ],
        samples: [],
      },
    ],
    probes: [{ secret: 'api', step: 2, takes: [1, 2], refuses: [], randomRefused: true }],
  });
  expect(hub.tokens.at(-1)).toEqual([tokenText(1)]);
  hub.wanted = [tokenStep(3, [1, 2], 2)];
  await until(() => hub.tokens.at(-1)?.[0] === tokenText(2));
  await callTls(port, '/v1/host', [...token(1), ['User-Agent', 'cron/1']]);
  await until(() => hub.beats.some(({ tokens }) => tokens?.[0]?.samples[0]?.userAgent === 'cron/1'));
  hub.wanted = [tokenStep(4, [2])];
  await until(() => hub.beats.at(-1)?.probes?.[0]?.step === 4);
  expect(hub.beats.at(-1)?.probes).toMatchObject([{ takes: [2], refuses: [1], randomRefused: true }]);
  expect((await callTls(port, '/v1/host', token(1))).status).toBe(401);
  expect(await probeAgent(stateDir)).toMatchObject({
    address: `127.0.0.1:${port}`,
    probes: [{ step: 4, passed: true }],
  });
  expect(await readAgentStatus(stateDir)).toMatchObject({
    problems: [],
    tokens: [{ secret: 'api', accepts: [2], presents: 2 }],
    listener: { open: true, reason: null },
  });
  // Named once: the hub has heard of it.
  expect(hub.beats.at(-1)?.tokens?.[0]?.samples).toEqual([]);
  // And the next generation that the hub verifies without this host closes it.
  hub.generations = [2];
  await until(async () => (await readAgentStatus(stateDir)).listener?.open === false);
  expect((await readAgentStatus(stateDir)).problems.map(({ code }) => code)).toEqual(['listener_unconfirmed']);
  await expect(probeAgent(stateDir)).rejects.toMatchObject({ code: 'listener_unconfirmed' });
});

it('tells what a probe has found at once, however far the next beat is', async () => {
  const hub = await startHub();
  const stateDir = join(directory, 'state');
  await writeState(stateDir, hub.url, tokenStep(1, [1]));
  start(stateDir);
  await portOf(stateDir);
  await until(() => hub.beats.at(-1)?.probes?.[0]?.step === 1);
  hub.nextBeatMs = 60_000;
  hub.wanted = [tokenStep(2, [1, 2], 1)];
  await until(() => hub.beats.at(-1)?.probes?.[0]?.step === 2);
  // It hurries for each thing once: the one that it told of it with may be followed by one, and no more.
  const beats = hub.beats.length;
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(hub.beats.length).toBeLessThanOrEqual(beats + 1);
});

it('serves its routes on its socket, counted like all others, also while no listener is open on the network', async () => {
  const hub = await startHub();
  const stateDir = join(directory, 'state');
  await writeState(stateDir, hub.url, tokenStep(1, [1]));
  hub.generations = [];
  start(stateDir);
  await until(() => hub.beats.length > 1);
  const status = (headers: Record<string, string>) =>
    new Promise<number | undefined>((resolve, reject) => {
      request({ socketPath: join(stateDir, 'agent.sock'), path: '/v1/host', headers }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      })
        .once('error', reject)
        .end();
    });
  expect(await status({})).toBe(401);
  expect(await status({ 'x-node-token': tokenText(1) })).toBe(200);
  await until(() => hub.beats.at(-1)?.tokens?.[0]?.hits[0]?.count === 1);
  expect(hub.beats.at(-1)?.listener).toEqual({ address: '127.0.0.1:0', open: false });
});

it('keeps its counts over a clean stop, and begins another counter after a kill', async () => {
  const hub = await startHub();
  const stateDir = join(directory, 'state');
  await writeState(stateDir, hub.url, tokenStep(1, [1]));
  const counted = () => {
    const [report] = hub.beats.at(-1)?.tokens ?? [];
    return { counter: report?.counter, count: report?.hits[0]?.count };
  };
  const first = start(stateDir);
  await callTls(await portOf(stateDir), '/v1/host', token(1));
  await until(() => counted().count === 1);
  const { counter } = counted();
  await first.stop();
  expect(await readdir(stateDir)).toContain('counters');

  const second = start(stateDir);
  await callTls(await portOf(stateDir), '/v1/host', token(1));
  await until(() => counted().count === 2);
  expect(counted()).toEqual({ counter, count: 2 });
  // What a kill leaves is what lies there while it runs.
  const killed = join(directory, 'killed');
  await cp(stateDir, killed, { recursive: true, filter: (path) => !/agent\.sock|lock/.test(path) });
  await second.stop();

  start(killed);
  await callTls(await portOf(killed), '/v1/host', token(1));
  await until(() => counted().count === 1);
  expect(counted().counter).not.toBe(counter);
});
