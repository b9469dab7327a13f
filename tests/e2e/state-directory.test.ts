/** What an agent does with a state directory that is torn, open to others, or full (I10, I11). */

import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Agents, createAgents } from './harness/agents.ts';
import { createFakeHub, type FakeHub } from './harness/fake-hub.ts';
import { readLog } from './harness/fleet.ts';
import { createRecorder } from './harness/recorder.ts';
import { waitUntil } from './harness/wait-until.ts';

let hub: FakeHub;
let agents: Agents;

beforeAll(async () => {
  hub = await createFakeHub();
  agents = createAgents(createRecorder());
});
afterAll(async () => {
  await agents.close();
  await hub.close();
});

/** An agent that has enrolled, has written both slots, and has stopped: its fingerprint. */
async function prepare(id: string): Promise<string> {
  const agent = agents.start(id, '--enrol', agents.write(`${id}.token`, hub.enrolmentToken(id)));
  const fingerprint = await beatsAgain(id);
  expect((await agent.kill('SIGTERM')).code).toBe(0);
  expect(slots(id).map(({ name }) => name)).toEqual(['state-a', 'state-b']);
  return fingerprint;
}

async function beatsAgain(id: string): Promise<string> {
  const from = hub.heard.length;
  await waitUntil(`${id} beats`, () => hub.heard.slice(from).some(({ host }) => host === id), { story: agents.story });
  return (await agents.status(id)).fingerprint;
}

/** Slots, the newer one last. */
function slots(id: string): readonly { readonly name: string; readonly path: string; readonly counter: number }[] {
  return ['state-a', 'state-b'].map((name) => {
    const path = join(agents.stateOf(id), name);
    return { name, path, counter: Number(/"counter":(\d+)/.exec(readFileSync(path, 'utf8'))?.[1]) };
  });
}

function snapshot(dir: string): readonly unknown[] {
  return readdirSync(dir)
    .filter((name) => name.startsWith('state'))
    .sort()
    .map((name) => [name, readFileSync(join(dir, name), 'hex'), statSync(join(dir, name)).mode]);
}

describe('a torn slot', () => {
  it('with a good temporary file beside it: the good slot is used, with a warning, and the identity is the same', async () => {
    const fingerprint = await prepare('torn-one');
    const [older, newer] = [...slots('torn-one')].sort((a, b) => a.counter - b.counter);
    if (older === undefined || newer === undefined) throw new Error('no slots');
    copyFileSync(newer.path, join(agents.stateOf('torn-one'), 'state.tmp'));
    truncateSync(newer.path, Math.floor(statSync(newer.path).size / 2));

    const agent = agents.start('torn-one');
    expect(await beatsAgain('torn-one')).toBe(fingerprint);
    const warning = readLog(agent).find((line) => line['file'] === newer.path);
    expect(warning?.['level']).toBe('warn');
    await agent.kill('SIGTERM');
  });

  it('twice: the agent refuses to start, names the files, changes nothing, and makes no new identity', async () => {
    await prepare('torn-two');
    const dir = agents.stateOf('torn-two');
    const good = slots('torn-two').map(({ path }) => [path, readFileSync(path)] as const);
    for (const { path } of slots('torn-two')) truncateSync(path, 100);
    const before = snapshot(dir);

    for (const flags of [[], ['--enrol', join(agents.dir, 'torn-two.token')]]) {
      const agent = agents.start('torn-two', ...flags);
      expect((await agent.ended).code).toBe(1);
      expect(agent.stderr()).toContain('state_torn');
      expect(agent.stderr()).toContain(join(dir, 'state-a'));
      expect(snapshot(dir)).toEqual(before);
    }
    // The control: restored from a copy, it is who it was.
    for (const [path, bytes] of good) writeFileSync(path, bytes);
    const agent = agents.start('torn-two');
    await beatsAgain('torn-two');
    await agent.kill('SIGTERM');
  });
});

describe('a state directory that others may read', () => {
  it.each([
    ['the directory', '', 0o755],
    ['a slot', 'state-a', 0o640],
  ])('is refused with the command that mends it, and that command mends it: %s', async (name, file, mode) => {
    const id = `loose-${name.replace(' ', '-')}`;
    await prepare(id);
    const path = join(agents.stateOf(id), file).replace(/\/$/, '');
    chmodSync(path, mode);
    const refused = agents.start(id);
    expect((await refused.ended).code).toBe(2);
    expect(refused.stderr()).toContain('state_loose_mode');
    const command = /chmod [0-7]+ \S+/.exec(refused.stderr())?.[0];
    expect(command).toContain(path);

    execFileSync('sh', ['-c', command ?? 'false']);
    const agent = agents.start(id);
    await beatsAgain(id);
    await agent.kill('SIGTERM');
  });

  it('is not what an agent makes for itself', async () => {
    await prepare('tidy');
    expect(statSync(agents.stateOf('tidy')).mode & 0o777).toBe(0o700);
    for (const { path } of slots('tidy')) expect(statSync(path).mode & 0o777).toBe(0o600);
  });
});

describe('a state directory in use', () => {
  it('is not shared: a second agent is told, and the first is not disturbed', async () => {
    await prepare('busy');
    const first = agents.start('busy');
    await beatsAgain('busy');
    const second = agents.start('busy');
    expect((await second.ended).code).toBe(2);
    expect(second.stderr()).toContain('state_locked');
    await beatsAgain('busy');
    await first.kill('SIGKILL');
    // The lock ends with its process, also after kill -9.
    const third = agents.start('busy');
    await beatsAgain('busy');
    await third.kill('SIGTERM');
  });
});
