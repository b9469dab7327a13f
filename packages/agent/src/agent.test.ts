/** The whole agent with real sockets and a real disk, against the least of a hub. */
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeHubRootFile } from '@rollcall/core/keys';
import type { Log } from '@rollcall/core/ports';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSystemClock } from './adapters/system-clock.ts';
import { systemRandom } from './adapters/system-random.ts';
import { createTlsTransport } from './adapters/tls-transport.ts';
import { FakeHub } from './fake-hub.fixture.ts';
import { assignment, durableState, enrolment, hubRoot, masters, trustDomain } from './fleet.fixture.ts';
import { runLoop } from './loop.ts';
import { type AgentOptions, readAgentStatus, runAgent } from './main.ts';
import { decideStart } from './start.ts';
import {
  type HubCertificate,
  issueHubCertificate,
  type Listening,
  makeAuthority,
  serveHub,
} from './tls-hub.fixture.ts';

const authority = makeAuthority();
const certificate = issueHubCertificate(authority);
let directory: string;
const closing: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rollcall-agent-'));
});

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await rm(directory, { recursive: true });
});

async function serve(hub: FakeHub, as: HubCertificate = certificate): Promise<Listening> {
  const listening = await serveHub(as, (asked, answer) => {
    const chunks: Buffer[] = [];
    asked.on('data', (chunk: Buffer) => chunks.push(chunk));
    asked.on('end', () => {
      const { url: path = '', headers } = asked;
      const { status, body } = hub.handle({ path, authorization: headers.authorization, body: Buffer.concat(chunks) });
      answer.writeHead(status, { 'content-type': 'application/json' });
      answer.end(body);
    });
  });
  closing.push(listening.close);
  return listening;
}

/** A hub, and a token for it in a file. */
async function withToken(): Promise<{ hub: FakeHub; enrol: string; listening: Listening }> {
  const hub = new FakeHub(authority.certificateDer);
  const listening = await serve(hub);
  const token = enrolment({ hubs: [listening.url], spki: [certificate.spki] });
  Object.assign(hub, { token });
  const enrol = join(directory, 'token');
  await writeFile(enrol, `${token.text}\r\n`, { mode: 0o600 });
  return { hub, enrol, listening };
}

const stateDir = () => join(directory, 'state');

function start(options: Partial<AgentOptions>): { readonly stopped: Promise<void>; stop(): Promise<void> } {
  const stopping = new AbortController();
  const stopped = runAgent({ stateDir: stateDir(), logLevel: 'silent', ...options }, { signal: stopping.signal });
  stopped.catch(() => undefined);
  const stop = () => {
    stopping.abort();
    return stopped;
  };
  closing.push(() => stop().catch(() => undefined));
  return { stopped, stop };
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let waitedMs = 0; waitedMs < 10_000; waitedMs += 20) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('it did not come to that');
}

const holds = (hub: FakeHub, step: number) => () => hub.beats.at(-1)?.held['master']?.step === step;

describe('an agent', () => {
  it('enrols, converges on each new version, tells how it is, and leaves nothing but its state behind', async () => {
    const { hub, enrol } = await withToken();
    const agent = start({ enrol });
    await until(holds(hub, 5));
    hub.wanted = assignment({ step: 6, versions: [2, 1] });
    await until(() => hub.provenBy.has(2));
    expect(await readAgentStatus(stateDir())).toMatchObject({
      host: 'agent-7',
      fingerprint: hub.pin?.fingerprint,
      held: { master: { epoch: 1, step: 6 } },
      hubReachable: true,
      problems: [],
      presents: { secret: 'master', version: 2 },
      pin: 'pinned',
    });
    await agent.stop();
    expect(await readdir(stateDir())).toEqual(['state-a', 'state-b']);
    await expect(readAgentStatus(stateDir())).rejects.toMatchObject({ code: 'agent_not_running' });
  });

  it('goes on from its state alone, also when the token is spent or gone from where it was', async () => {
    const { hub, enrol } = await withToken();
    const first = start({ enrol });
    await until(holds(hub, 5));
    await first.stop();
    for (const again of ['spent', 'gone', 'not named']) {
      if (again === 'gone') await rm(enrol);
      const before = hub.beats.length;
      const agent = start(again === 'not named' ? {} : { enrol });
      await until(() => hub.beats.length > before);
      const { problems } = await readAgentStatus(stateDir());
      expect(problems.map(({ code }) => code)).toEqual(again === 'spent' ? ['enrolment_already_redeemed'] : []);
      await agent.stop();
    }
    expect(hub.enrolments).toBe(1);
    expect(hub.shown.size).toBe(1);
  });

  it('of an older fleet begins with its master, and ends without', async () => {
    const hub = new FakeHub(authority.certificateDer);
    const { url } = await serve(hub);
    const hubRootFile = join(directory, 'hub-root');
    const masterFile = join(directory, 'master');
    await writeFile(
      hubRootFile,
      encodeHubRootFile({ trustDomain, root: hubRoot.public, spki: [certificate.spki], hubs: [url] }),
    );
    await writeFile(masterFile, masters[1] as Uint8Array);
    const agent = start({ hub: url, host: 'agent-7', hubRootFile, masterFile, life: 1 });
    await until(holds(hub, 5));
    await agent.stop();
    const before = hub.beats.length;
    start({});
    await until(() => hub.beats.length > before);
    expect(hub.beats.at(-1)?.startup).toBe('restored');
  });

  it('is alone on its state directory', async () => {
    const { hub, enrol } = await withToken();
    start({ enrol });
    await until(holds(hub, 5));
    await expect(start({ enrol }).stopped).rejects.toMatchObject({ code: 'state_locked' });
    expect((await readAgentStatus(stateDir())).hubReachable).toBe(true);
  });

  it('does not start on a directory that others may read, and does when it is mended', async () => {
    const { hub, enrol } = await withToken();
    const first = start({ enrol });
    await until(holds(hub, 5));
    await first.stop();
    await chmod(stateDir(), 0o755);
    await expect(start({}).stopped).rejects.toMatchObject({
      code: 'state_loose_mode',
      details: { fix: `chmod 700 ${stateDir()}` },
    });
    expect((await stat(stateDir())).mode & 0o777).toBe(0o755);
    await chmod(stateDir(), 0o700);
    const before = hub.beats.length;
    start({});
    await until(() => hub.beats.length > before);
  });

  it('does not start with both slots torn, and makes no new identity', async () => {
    const { hub, enrol } = await withToken();
    const first = start({ enrol });
    await until(holds(hub, 5));
    await first.stop();
    const slots = ['state-a', 'state-b'].map((name) => join(stateDir(), name));
    const good = await readFile(slots[0] as string);
    for (const slot of slots) await writeFile(slot, 'torn');
    await expect(start({ enrol }).stopped).rejects.toMatchObject({ code: 'state_torn' });
    expect(await readdir(stateDir())).toEqual(['state-a', 'state-b']);
    await writeFile(slots[0] as string, good);
    const before = hub.beats.length;
    start({});
    await until(() => hub.beats.length > before);
    expect(hub.shown.size).toBe(1);
  });

  it('is refused as another host than it is', async () => {
    const { hub, enrol } = await withToken();
    const first = start({ enrol });
    await until(holds(hub, 5));
    await first.stop();
    await expect(start({ host: 'agent-8' }).stopped).rejects.toMatchObject({ code: 'identity_contradiction' });
  });

  it('does not start without an identity, or with a token that is none', async () => {
    await expect(start({}).stopped).rejects.toMatchObject({ code: 'identity_missing' });
    await writeFile(join(directory, 'token'), '\ufeffrce_x');
    await expect(start({ enrol: join(directory, 'token') }).stopped).rejects.toMatchObject({ code: 'byte_order_mark' });
    await expect(start({ enrol: join(directory, 'nowhere') }).stopped).rejects.toMatchObject({
      code: 'file_unreadable',
    });
  });

  it('tells no impostor its bearer, and finds the hub when it is back', async () => {
    const { hub, enrol, listening } = await withToken();
    const agent = start({ enrol });
    await until(holds(hub, 5));
    await agent.stop();
    const impostor = new FakeHub(authority.certificateDer);
    const { url } = await serve(impostor, issueHubCertificate(makeAuthority()));
    const misled = start({ hub: url });
    await until(
      async () => (await readAgentStatus(stateDir()).catch(() => undefined))?.problems[0]?.code === 'hub_untrusted',
    );
    await misled.stop();
    expect(impostor.bodies).toEqual([]);
    const before = hub.beats.length;
    start({ hub: listening.url });
    await until(() => hub.beats.length > before);
  });
});

describe('backing off over real sockets', () => {
  const quiet: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
  const faults = ['401', '403', '429', '500', 'reset', 'hang'] as const;

  async function attemptsAt(fault: (typeof faults)[number], forMs: number): Promise<readonly number[]> {
    const attemptsMs: number[] = [];
    const listening = await serveHub(certificate, (asked, answer) => {
      attemptsMs.push(performance.now());
      asked.resume();
      if (fault === 'reset') asked.socket.destroy();
      else if (fault !== 'hang') answer.writeHead(Number(fault)).end('x');
    });
    const durable = durableState({ hubs: [listening.url], roots: [authority.certificateDer] });
    const clock = createSystemClock();
    const transport = createTlsTransport({ clock, log: quiet }, { connectTimeoutMs: 300, answerTimeoutMs: 300 });
    const stopping = new AbortController();
    setTimeout(() => stopping.abort(), forMs);
    const persist = async () => undefined;
    await runLoop(
      { clock, random: systemRandom, transport, log: quiet, persist },
      decideStart(durable, {}, systemRandom),
      stopping,
    );
    transport.close();
    await listening.close();
    return attemptsMs;
  }

  it('after each kind of failure it waits a second and more, never twice the same', async () => {
    const all = await Promise.all(faults.map(async (fault) => [fault, await attemptsAt(fault, 7_500)] as const));
    const gaps = all.flatMap(([fault, attempts]) => {
      expect(attempts.length, fault).toBeGreaterThanOrEqual(2);
      expect(attempts.length, fault).toBeLessThanOrEqual(4);
      return attempts.slice(1).map((at, index) => at - (attempts[index] as number));
    });
    // Timers may be a millisecond early.
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(995);
    expect(new Set(gaps.map(Math.round)).size).toBeGreaterThan(gaps.length / 2);
  });
});
