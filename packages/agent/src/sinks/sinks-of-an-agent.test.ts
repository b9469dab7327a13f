/** Sinks in a whole agent: from a delivery to the file, and to what the next beat and the status say of it. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeHex, utf8 } from '@rollcall/core/bytes';
import { sinkDigest } from '@rollcall/core/keys';
import type { SinkConfig } from '@rollcall/wire';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeHub } from '../fake-hub.fixture.ts';
import { assignment, enrolment, heartbeatKey } from '../fleet.fixture.ts';
import { type AgentOptions, examineAgent, readAgentStatus, reloadAgent, runAgent } from '../main.ts';
import { issueHubCertificate, type Listening, makeAuthority, serveHub } from '../tls-hub.fixture.ts';
import { sinkConfig, tokenAssignment, tokenText } from './sink.fixture.ts';

const authority = makeAuthority();
const certificate = issueHubCertificate(authority);
let place: string;
let hub: FakeHub;
let listening: Listening;
let options: AgentOptions;
const stopping: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  place = mkdtempSync(join(tmpdir(), 'rollcall-sinks-'));
  mkdirSync(join(place, 'etc'), { mode: 0o755 });
  hub = new FakeHub(authority.certificateDer);
  listening = await serveHub(certificate, (asked, answer) => {
    const chunks: Buffer[] = [];
    asked.on('data', (chunk: Buffer) => chunks.push(chunk));
    asked.on('end', () => {
      const { url: path = '', headers } = asked;
      const { status, body } = hub.handle({ path, authorization: headers.authorization, body: Buffer.concat(chunks) });
      answer.writeHead(status, { 'content-type': 'application/json' });
      answer.end(body);
    });
  });
  const token = enrolment({ hubs: [listening.url], spki: [certificate.spki] });
  Object.assign(hub, { token });
  writeFileSync(join(place, 'token'), token.text, { mode: 0o600 });
  options = { stateDir: join(place, 'state'), enrol: join(place, 'token'), logLevel: 'silent' };
});
afterEach(async () => {
  for (const stop of stopping.splice(0)) await stop();
  await listening.close();
  rmSync(place, { recursive: true });
});

const web = () => sinkConfig(join(place, 'etc', 'web'));

function start(more: Partial<AgentOptions> = {}): () => Promise<void> {
  const control = new AbortController();
  const stopped = runAgent({ ...options, ...more }, { signal: control.signal });
  stopped.catch(() => undefined);
  const stop = () => {
    control.abort();
    return stopped;
  };
  stopping.push(() => stop().catch(() => undefined));
  return stop;
}

const lastSink = () => hub.beats.at(-1)?.sinks?.[0];
const poll = <T>(look: () => T) => expect.poll(look, { timeout: 15_000, interval: 20 });

async function deliver(token: ReturnType<typeof tokenAssignment>): Promise<void> {
  await poll(() => hub.beats.at(-1)?.held['master']?.step).toBe(5);
  hub.wanted = token;
}

describe('an agent with a sink', () => {
  it('writes what is delivered, and says so under the key that its beat presents', async () => {
    start({ sinks: [web()] });
    await poll(() => lastSink()?.state).toBe('unwritten');
    expect(lastSink()).toMatchObject({ name: 'web', secret: 'fleet', version: null, digest: null });
    await deliver(tokenAssignment({ versions: [1, 2] }));
    await poll(() => lastSink()?.state).toBe('reloaded');
    expect(readFileSync(join(place, 'etc', 'web', 'present'), 'utf8')).toBe(tokenText(1));
    const digest = (key: number, version: number) =>
      encodeHex(sinkDigest(heartbeatKey(key), 'fleet', utf8(tokenText(version))));
    expect(lastSink()).toEqual({
      name: 'web',
      secret: 'fleet',
      version: 1,
      step: 1,
      state: 'reloaded',
      digest: digest(1, 1),
    });
    // Another generation of the master, another key, the same file.
    hub.wanted = assignment({ step: 6, versions: [2, 1] });
    await poll(() => lastSink()?.digest).toBe(digest(2, 1));
    hub.wanted = tokenAssignment({ versions: [1, 2], present: 2, step: 2 });
    await poll(() => lastSink()).toMatchObject({ version: 2, step: 2, digest: digest(2, 2) });
    expect(hub.bodies.join('\n')).not.toContain(tokenText(1));
    expect((await readAgentStatus(options.stateDir)).sinks).toEqual([
      { name: 'web', secret: 'fleet', path: web().path, version: 2, state: 'reloaded', problem: null },
    ]);
  });

  it('goes on beating while a reload hangs, and stops at once', async () => {
    const reload = { by: 'command', command: ['/bin/sleep', '600'], timeoutMs: 60_000 } as const;
    const stop = start({ sinks: [{ ...web(), reload }] });
    await deliver(tokenAssignment());
    await poll(() => lastSink()?.state).toBe('unreloaded');
    const before = hub.beats.length;
    await poll(() => hub.beats.length).toBeGreaterThan(before + 3);
    const began = performance.now();
    await stop();
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  it('says what is wrong with it in its status and to the doctor, until it is mended', async () => {
    writeFileSync(web().path, 'mine');
    start({ sinks: [web()] });
    await deliver(tokenAssignment());
    await poll(() => lastSink()?.problem).toBe('sink_in_the_way');
    const { problems } = await readAgentStatus(options.stateDir);
    expect(problems.map(({ code }) => code)).toContain('sink_in_the_way');
    const { findings } = await examineAgent({ stateDir: options.stateDir });
    const found = findings.filter(({ code }) => code.includes('sink'));
    expect(found).toEqual([
      expect.objectContaining({ code: 'sink_in_the_way', about: web().path, remedy: expect.stringContaining('mv ') }),
    ]);
    expect(readFileSync(web().path, 'utf8')).toBe('mine');
  });

  it('takes another list of them while it runs', async () => {
    let sinks: readonly SinkConfig[] = [];
    const reload = async (): Promise<AgentOptions> => ({ ...options, sinks });
    start({ sinks, reload });
    await deliver(tokenAssignment());
    await poll(() => hub.beats.at(-1)?.held['fleet']?.step).toBe(1);
    expect(hub.beats.at(-1)).not.toHaveProperty('sinks');
    sinks = [web()];
    expect(await reloadAgent(options.stateDir)).toEqual({ changed: ['sinks'], needRestart: [] });
    await poll(() => lastSink()?.state).toBe('reloaded');
    expect(await reloadAgent(options.stateDir)).toEqual({ changed: [], needRestart: [] });
  });
});
