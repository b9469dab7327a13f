/** `npm start` as it is shown to people: what it claims comes true, and is not claimed when it does not. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Child, root, startChild } from './harness/child.ts';
import { createRecorder } from './harness/recorder.ts';
import { waitUntil } from './harness/wait-until.ts';

/** The document of --json. */
interface Report {
  readonly ok: boolean;
  readonly claims: readonly { readonly claim: string; readonly ok: boolean; readonly seen: string }[];
  readonly dir: string;
}

const WITHIN_MS = 120_000;
let dir: string;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'rollcall-e2e-demo-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function start(name: string, ...args: readonly string[]): Child {
  const temporary = join(dir, name);
  mkdirSync(temporary);
  return startChild({ name, args: ['demo', ...args], recorder: createRecorder(), env: { TMPDIR: temporary } });
}

/** The processes that the demo names as it goes. */
function pidsIn(story: string): readonly number[] {
  const found = [...story.matchAll(/as\s+process\s+(\d+)|kill -STOP (\d+)/g)];
  return found.map(([, named, sleeper]) => Number(named ?? sleeper));
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('rollcall demo --once', () => {
  it('tells the story in 80 columns, shows that it is true, and leaves nothing behind', {
    timeout: WITHIN_MS,
  }, async () => {
    const demo = start('once', '--once');
    expect(await demo.ended).toEqual({ code: 0, signal: null });
    const story = demo.stdout();
    const lines = story.split('\n');
    expect(lines.filter((line) => [...line].length > 80)).toEqual([]);
    expect(
      lines.filter((line) => line.startsWith('── ')).map((line) => line.replace(/^── \d+ (\w+\b.*?) ─*$/, '$1')),
    ).toEqual([
      'A hub, and the master that its fleet has always had',
      'Enrol: a token for each new host',
      'Exposure: who could be pinned by a thief?',
      'Pin: first use, then a person confirms',
      'Rotate: the master is stolen',
      'The thief: a process of its own, with the old master',
      'The operator decides',
      'Converge: the sleeper is back inside the window',
      'Retire: the old master ends',
      'The shared token: somebody forgotten still sends it',
      'The count',
    ]);
    for (const claim of [
      'The bearer is good, the pin stays: the key is pending.',
      'The hub saw two keys for web-1, and two instances.',
      'No pin is taken: old-3 was exposed when first use was on.',
      'Both get the same 401, to the byte.',
      'road-1 refuses that peer at TLS: hub_untrusted.',
      'The recorded delivery of generation 1 is refused as a replay.',
      'One name is left: web-2.',
      'And who sends it there: 127.0.0.23, which calls itself cron-job.',
      'Refused with exit 3, and the old one is taken still.',
      'hub, web-1, web-2: 401, 401, 401 for the old value.',
      'hub, web-1, web-2: 200, 200, 200 for the new one.',
      'Hub, agents and thief agree on every result.',
    ]) {
      expect(lines).toContain(`  ok   ${claim}`);
    }
    const [, taken, of] = /No valid request was refused: (\d+) of (\d+) were taken/.exec(story) ?? [];
    expect(taken).toBe(of);
    expect(Number(taken)).toBeGreaterThan(50);
    const byToken = /deploy (\d+) of (\d+),\s+the\s+cron\s+job\s+(\d+) of (\d+)\./.exec(story) ?? [];
    const [deployTaken, deploySent, cronTaken, cronSent] = byToken.slice(1).map(Number);
    expect([deployTaken, cronTaken]).toEqual([deploySent, cronSent]);
    expect(deploySent).toBeGreaterThan(10);
    expect(cronSent).toBeGreaterThan(5);
    expect(story).not.toContain('FAILED');

    // The hub, the sleeper, and two who call by the shared token.
    expect(pidsIn(story)).toHaveLength(4);
    expect(pidsIn(story).filter(isRunning)).toEqual([]);
    expect(readdirSync(join(dir, 'once'))).toEqual([]);
  });

  it('says so and exits 1 when one claim does not come true: a hub that is killed from outside', {
    timeout: WITHIN_MS,
  }, async () => {
    const demo = start('killed', '--once', '--json');
    await waitUntil('the rotation begins', () => demo.stderr().includes('Rotate:'), { withinMs: WITHIN_MS });
    const [hub = 0] = pidsIn(demo.stderr());
    expect(isRunning(hub)).toBe(true);
    process.kill(hub, 'SIGKILL');

    expect(await demo.ended).toEqual({ code: 1, signal: null });
    const report = JSON.parse(demo.stdout()) as Report;
    expect(report.ok).toBe(false);
    expect(report.claims.at(-1)).toMatchObject({ ok: false, seen: 'hub ended: killed by SIGKILL' });
    expect(report.claims.slice(0, -1).every(({ ok }) => ok)).toBe(true);
    expect(demo.stderr()).toContain('FAILED Every process of the fleet goes on running');
    expect(pidsIn(demo.stderr()).filter(isRunning)).toEqual([]);
    // What went wrong can be looked at.
    expect(existsSync(join(report.dir, 'logs', 'hub.log'))).toBe(true);
  });
});

describe('rollcall demo', () => {
  it('stays up, and what it says to try next works', { timeout: WITHIN_MS }, async () => {
    const demo = start('stays');
    const ending = 'The fleet stays up until Ctrl-C.';
    const next = () => demo.stdout().split(ending)[1] ?? '';
    await waitUntil('the story is told', () => next().includes('rotation start'), {
      withinMs: WITHIN_MS - 10_000,
      story: demo.stdout,
    });
    const tried = next()
      .split('\n')
      .filter((line) => line.startsWith('  '));
    const [rollcall, environment, ...commands] = tried;
    expect(commands).toHaveLength(5);
    for (const command of commands) {
      const script = [rollcall, environment, command].join('\n');
      expect(execFileSync('sh', ['-ec', script], { cwd: root, encoding: 'utf8' }), command).not.toBe('');
    }
    expect(await demo.kill('SIGINT')).toEqual({ code: 0, signal: null });
    expect(pidsIn(demo.stdout()).filter(isRunning)).toEqual([]);
    expect(readdirSync(join(dir, 'stays'))).toEqual([]);
  });
});
