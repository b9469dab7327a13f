/** `--config` of hub and agent: a flag overrides a variable, which overrides the file; and what is wrong is told by line. */
import { describe, expect, it } from 'vitest';
import { agentStatus } from '../answers.fixture.ts';
import type { AgentPackage, AgentRunOptions, HubPackage, HubRunOptions } from '../optional-package.ts';
import { type Given, transcript } from '../transcript.fixture.ts';

function fake() {
  const hub: HubRunOptions[] = [];
  const agent: AgentRunOptions[] = [];
  const reset = { host: 'agent-7', former: 'ab'.repeat(32), fingerprint: 'cd'.repeat(32), keptAs: '/s/state-before-1' };
  const asked: string[] = [];
  const hubPackage = { runHub: async (options) => void hub.push(options) } as Partial<HubPackage> as HubPackage;
  const agentPackage: AgentPackage = {
    runAgent: async (options) => void agent.push(options),
    readAgentStatus: async () => agentStatus,
    reloadAgent: async (state) => {
      asked.push(`reload ${state}`);
      return { changed: ['log_level'], needRestart: ['enrol'] };
    },
    examineAgent: () => Promise.reject(new Error('not asked for')),
    probeAgent: () => Promise.reject(new Error('not asked for')),
    resetWrapKey: async (state) => {
      asked.push(`reset ${state}`);
      return reset;
    },
  };
  const parts: Given['parts'] = {
    '@rollcall/hub': async () => hubPackage,
    '@rollcall/agent': async () => agentPackage,
  };
  return { hub, agent, asked, reset, parts };
}

const files = {
  '/hub.yaml': { text: 'dir: /file\nbeat: 10s\nverify_window: 7d\nfirst_use: { min_age: 1h }\n' },
  '/agent.yaml': { text: 'state: /file\nhost: agent-7\nlog_level: warn\n' },
  '/bad.yaml': { text: 'dir: /d\nbeat: 10\ncolour: red\n' },
};

describe('rollcall hub start --config', () => {
  const words = ['hub', 'start', '--config', '/hub.yaml'];

  it('takes the file, over it the environment, over that the flags', async () => {
    const { hub, parts } = fake();
    const env = { ROLLCALL_BEAT: '2s', ROLLCALL_VERIFY_WINDOW: '2d' };
    expect(await transcript([...words, '--beat', '3s'], { parts, files, env })).toMatchObject({ exit: 0 });
    expect(hub[0]).toMatchObject({
      dir: '/file',
      beatMs: 3_000,
      verifyWindowMs: 172_800_000,
      firstUseMinAgeMs: 3_600_000,
    });
    await transcript(['hub', 'start'], { parts, env: { ROLLCALL_DIR: '/env' } });
    expect(hub[1]).toEqual({ dir: '/env' });
  });

  it('can be read again, with the same flags over it', async () => {
    const { hub, parts } = fake();
    const changing: Record<string, { text: string }> = { ...files };
    await transcript([...words, '--beat', '3s'], { parts, files: changing });
    changing['/hub.yaml'] = { text: 'dir: /file\nbeat: 20s\nverify_window: 1d\n' };
    expect(await hub[0]?.reload?.()).toEqual({ dir: '/file', beatMs: 3_000, verifyWindowMs: 86_400_000 });
    changing['/hub.yaml'] = { text: 'beat: 1' };
    await expect(hub[0]?.reload?.()).rejects.toMatchObject({ code: 'config_invalid' });
    await transcript(['hub', 'start', '--dir', '/d'], { parts });
    expect(hub[1]?.reload).toBeUndefined();
  });

  it('looks for contradictions in what comes of all of them', async () => {
    const { hub, parts } = fake();
    const run = await transcript([...words, '--verify-window', '1s', '--json'], { parts, files });
    expect(run).toMatchObject({ exit: 2, json: { error: { code: 'config_invalid' } } });
    expect(hub).toEqual([]);
  });

  it('tells each problem on a line of its own, and starts nothing', async () => {
    const { hub, parts } = fake();
    const run = await transcript(['hub', 'start', '--config', '/bad.yaml'], { parts, files });
    expect(run).toMatchObject({ exit: 2, stdout: '' });
    expect(run.stderr).toMatch(
      /config_invalid: .*\n {2}problems {2}\/bad\.yaml:2: beat: must be .*\n(?: +.*\n)* +\/bad\.yaml:3: colour: unknown/,
    );
    expect(run.stderr.split('\n').filter((line) => line.length > 80)).toEqual([]);
    expect(hub).toEqual([]);
  });

  it.each([
    ['ENOENT', 'there is no such file'],
    ['EISDIR', 'it is a directory'],
    ['EFBIG', 'more than 65536 bytes'],
  ])('says why the file cannot be read: %s', async (error, reason) => {
    const run = await transcript(['hub', 'start', '--config', '/c'], { ...fake(), files: { '/c': { error } } });
    expect(run).toMatchObject({ exit: 2 });
    expect(run.stderr).toContain('file_unreadable');
    expect(run.stderr.replace(/\n +/g, ' ')).toContain(reason);
  });

  it('needs a data directory from somewhere', async () => {
    expect(await transcript(['hub', 'start', '--json'], fake())).toMatchObject({
      exit: 2,
      json: { error: { code: 'usage' } },
    });
  });
});

describe('rollcall agent start --config', () => {
  it('takes the file, over it the environment, over that the flags', async () => {
    const { agent, parts } = fake();
    const env = { ROLLCALL_LOG_LEVEL: 'info', ROLLCALL_HOST: 'agent-8' };
    await transcript(['agent', 'start', '--config', '/agent.yaml', '--host', 'agent-9'], { parts, files, env });
    expect(agent[0]).toMatchObject({
      stateDir: '/file',
      host: 'agent-9',
      logLevel: 'info',
      reload: expect.any(Function),
    });
    expect(await agent[0]?.reload?.()).toEqual({ stateDir: '/file', host: 'agent-9', logLevel: 'info' });
  });

  it('refuses flags that contradict the file', async () => {
    const more = { ...files, '/a.yaml': { text: 'state: /s\nenrol: /t\n' } };
    const run = await transcript(['agent', 'start', '--config', '/a.yaml', '--master-file', '/m', '--json'], {
      ...fake(),
      files: more,
    });
    expect(run).toMatchObject({ exit: 2, json: { error: { code: 'config_invalid' } } });
  });

  it('needs a state directory from somewhere', async () => {
    expect(await transcript(['agent', 'start', '--json'], fake())).toMatchObject({
      exit: 2,
      json: { error: { code: 'usage' } },
    });
  });
});

describe('rollcall agent reload', () => {
  it('says what was taken, and what waits for a start', async () => {
    const { asked, parts } = fake();
    const run = await transcript(['agent', 'reload', '--state', '/s'], { parts });
    expect(run).toMatchObject({ exit: 0, stdout: 'Taken: log_level.\nAfter a restart: enrol.\n' });
    expect(asked).toEqual(['reload /s']);
  });
});

describe('rollcall agent reset-wrap-key', () => {
  const words = ['agent', 'reset-wrap-key', '--state', '/s'];

  it('asks first, and says what is to be done on the hub', async () => {
    const { asked, reset, parts } = fake();
    expect(await transcript(words, { parts, terminal: ['no'] })).toMatchObject({ exit: 1 });
    expect(await transcript([...words, '--json'], { parts })).toMatchObject({ exit: 2 });
    expect(asked).toEqual([]);
    const run = await transcript(words, { parts, terminal: ['yes'] });
    expect(run.exit).toBe(0);
    expect(asked).toEqual(['reset /s']);
    expect(run.stdout).toContain(reset.fingerprint);
    expect(run.stdout).toContain('rollcall pin approve agent-7 --fingerprint FULL');
    const plain = run.stdout.replace(/\u001b\[\d+m/g, '').split('\n');
    expect(plain.filter((line) => line.length > 80)).toEqual([]);
    expect(await transcript([...words, '--yes', '--json'], { parts })).toMatchObject({ exit: 0, json: reset });
  });
});
