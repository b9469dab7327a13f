/** Configuration files with real processes: read at start, read again on SIGHUP, and never the end of what runs. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentStatusAnswer, PendingPin } from '@rollcall/wire';
import { afterAll, describe, expect, it } from 'vitest';
import { readLog } from './harness/fleet.ts';
import { useFleet } from './harness/use-fleet.ts';

const dir = mkdtempSync(join(tmpdir(), 'rc-config-'));
const hubFile = join(dir, 'hub.yaml');
writeFileSync(hubFile, 'beat: 200ms\nverify_window: 1h\n');
afterAll(() => rmSync(dir, { recursive: true }));

const fleet = useFleet({ hubFlags: ['--config', hubFile] });

const logged = (code: string) => readLog(fleet().hub()).filter((line) => line['code'] === code);
const reread = () => readLog(fleet().hub()).filter((line) => line['msg'] === 'the configuration was read again');

describe('a hub', () => {
  it('takes live keys on SIGHUP, names the others, and goes on', async () => {
    await fleet().enrolAgent('agent-1');
    writeFileSync(hubFile, 'beat: 300ms\nverify_window: 2h\nlisten: 127.0.0.1:1\n');
    process.kill(fleet().hub().pid, 'SIGHUP');
    await fleet().waitUntil('the hub has read its file again', async () => reread().length === 1);
    expect(reread()[0]).toMatchObject({ changed: ['beat', 'verify_window'], needRestart: ['listen'] });
    const started = await fleet().rollcall('rotation', 'start', 'master', '--json');
    const { verifyUntil, rotation } = started.json<{ verifyUntil: string; rotation: { startedAt: string } }>();
    expect(Date.parse(verifyUntil) - Date.parse(rotation.startedAt)).toBe(2 * 3_600_000);
  });

  it('keeps what runs when the file cannot be taken, and says so line by line', async () => {
    writeFileSync(hubFile, 'beat: 5\ncolour: red\n');
    process.kill(fleet().hub().pid, 'SIGHUP');
    await fleet().waitUntil('the hub says so', async () => logged('config_invalid').length === 1);
    expect(logged('config_invalid')[0]).toMatchObject({
      level: 'error',
      problems: [
        expect.stringMatching(/hub\.yaml:1: beat: must be/),
        expect.stringMatching(/hub\.yaml:2: colour: unknown/),
      ],
    });
    rmSync(hubFile);
    process.kill(fleet().hub().pid, 'SIGHUP');
    await fleet().waitUntil('the hub misses its file', async () => logged('file_unreadable').length === 1);
    expect((await fleet().rollcall('hub', 'status')).code).toBe(0);
    expect(fleet().hub().hasEnded()).toBe(false);
    writeFileSync(hubFile, 'beat: 200ms\n');
  });

  it('does not start on a file that it cannot take', async () => {
    const bad = join(dir, 'bad.yaml');
    writeFileSync(bad, 'dir: /nowhere\nbeat: 1\n');
    const run = await fleet().rollcall('hub', 'start', '--config', bad);
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toContain(`${bad}:2: beat: must be a duration`);
  });
});

describe('an agent', () => {
  const file = join(dir, 'agent.yaml');

  it('reads its file again when it is asked to, and tells what came of it', async () => {
    const token = fleet().write('agent-2.token', await fleet().addHost('agent-2'));
    writeFileSync(file, `enrol: ${token}\n`);
    const agent = fleet().startAgent('agent-2', '--config', file);
    await fleet().waitUntil(
      'it has enrolled',
      async () => (await fleet().host('agent-2')).proven['master'] !== undefined,
    );
    const reload = () => fleet().rollcall('agent', 'reload', '--state', fleet().stateOf('agent-2'), '--json');
    // `--log-level` is a flag of the harness, which the file cannot override.
    expect((await reload()).json()).toEqual({ changed: [], needRestart: [] });
    writeFileSync(file, 'enrol: /elsewhere\n');
    expect((await reload()).json()).toEqual({ changed: [], needRestart: ['enrol'] });
    writeFileSync(file, 'enrol: [1]\n');
    const refused = await reload();
    expect(refused.code).toBe(2);
    expect(refused.json()).toMatchObject({
      error: {
        code: 'config_invalid',
        details: { problems: [`${file}:1: enrol: must be the path of a file or directory`] },
      },
    });
    process.kill(agent.pid, 'SIGHUP');
    await fleet().waitUntil('it says so in its log too', async () => agent.stderr().split('config_invalid').length > 2);
    expect(agent.hasEnded()).toBe(false);
  });
});

describe('rollcall agent reset-wrap-key', () => {
  it('waits for the agent to stop, and for an operator to approve the new key', async () => {
    const agent = await fleet().enrolAgent('agent-3');
    const state = fleet().stateOf('agent-3');
    const reset = () => fleet().rollcall('agent', 'reset-wrap-key', '--state', state, '--yes', '--json');
    expect(await reset()).toMatchObject({ code: 2, stdout: expect.stringContaining('state_locked') });
    await agent.kill('SIGTERM');
    const { fingerprint, former } = (await reset()).json<{ fingerprint: string; former: string }>();
    fleet().startAgent('agent-3');
    const pending = await fleet().waitUntil('the new key is pending', async () => {
      const { pending } = await fleet().ask<{ pending: PendingPin[] }>('GET', '/v1/pins');
      return pending.find(({ host }) => host === 'agent-3');
    });
    expect(pending).toMatchObject({ pinned: former, new: fingerprint });
    const approved = await fleet().rollcall(
      'pin',
      'approve',
      'agent-3',
      '--fingerprint',
      fingerprint,
      '--yes',
      '--json',
    );
    expect(approved.json()).toMatchObject({ effect: 'taken', life: 2 });
    const status = await fleet().waitUntil('it holds its new keys', async () => {
      const answer = await fleet().agentStatus('agent-3');
      return answer.life === 2 && answer.pin === 'pinned' ? answer : undefined;
    });
    expect(status satisfies AgentStatusAnswer).toMatchObject({ fingerprint, problems: [] });
  });
});
