import type { Examination } from '@rollcall/wire';
import { describe, expect, it } from 'vitest';
import type { AgentPackage, HubPackage } from '../optional-package.ts';
import { transcript } from '../transcript.fixture.ts';

const finding = {
  code: 'kek_loose_mode',
  about: '/etc/rollcall/kek',
  text: 'Others may reach it: its mode is 0644. And this goes on for longer than a line has room for.',
  remedy: 'chmod 600 /etc/rollcall/kek',
};

function setup(findings: Examination['findings'] = [], decidedRungs?: Examination['decidedRungs']) {
  const asked: unknown[] = [];
  const hub = {
    examineHub: async (options) => {
      asked.push(options);
      return { part: 'hub', place: options.dir, isRunning: true, findings, ...(decidedRungs && { decidedRungs }) };
    },
  } as Partial<HubPackage> as HubPackage;
  const agent = {
    examineAgent: async (options) => {
      asked.push(options);
      return { part: 'agent', place: options.stateDir, isRunning: false, findings: [] };
    },
  } as Partial<AgentPackage> as AgentPackage;
  return { asked, parts: { '@rollcall/hub': async () => hub, '@rollcall/agent': async () => agent } };
}

const files = {
  '/hub.yaml': { text: 'dir: /d\nkek_file: /k\n' },
  '/agent.yaml': { text: 'state: /s\nenrol: /t\n' },
  '/bad.yaml': { text: 'dir: /d\nbeat: 1\ncolour: red\n' },
  '/contradiction.yaml': { text: 'dir: /d\nkek_file: /d/kek\n' },
};

describe('rollcall doctor', () => {
  it('exits 0 where nothing is found', async () => {
    const { asked, parts } = setup();
    const run = await transcript(['doctor', '--dir', '/d', '--state', '/s'], { parts });
    expect(run).toMatchObject({ exit: 0, stderr: '' });
    expect(run.stdout).toMatch(
      /^hub in \/d \(running\): nothing found\nagent in \/s \(it does not answer, .*looked at\):\s+nothing found\n$/,
    );
    expect(run.stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
    expect(asked).toEqual([{ dir: '/d' }, { stateDir: '/s', given: [] }]);
  });

  it('says what was decided about rungs, and why, which is no finding', async () => {
    const decided = [{ whose: 'the fleet', rung: 'fleet-token', accepted: false, reason: 'Every host has climbed.' }];
    const run = await transcript(['doctor', '--dir', '/d'], setup([], decided));
    expect(run).toMatchObject({ exit: 0, stderr: '' });
    expect(run.stdout).toContain('\n  fleet-token is refused of the fleet: Every host has climbed.\n');
  });

  it('exits 3 with findings, each with a remedy on a line of its own, unbroken', async () => {
    const run = await transcript(['doctor', '--dir', '/d'], setup([finding]));
    expect(run).toMatchObject({ exit: 3, stderr: '' });
    expect(run.stdout).toContain('hub in /d (running): 1 finding\n  kek_loose_mode\n    /etc/rollcall/kek\n');
    expect(run.stdout).toContain('\n    $ chmod 600 /etc/rollcall/kek\n');
    expect(run.stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
    const json = await transcript(['doctor', '--dir', '/d', '--json'], setup([finding]));
    expect(json).toMatchObject({
      exit: 3,
      json: { findings: [finding], examined: [{ part: 'hub', place: '/d', isRunning: true }] },
    });
  });

  it.each([
    ['/hub.yaml', [{ dir: '/d', kekFile: '/k' }]],
    ['/agent.yaml', [{ stateDir: '/s', given: [{ key: 'enrol', path: '/t' }] }]],
  ])('looks at what %s names', async (file, expected) => {
    const { asked, parts } = setup();
    const run = await transcript(['doctor', '--config', file], { parts, files });
    expect(run.exit).toBe(0);
    expect(run.stdout).toContain(`configuration ${file}: nothing found`);
    expect(asked).toEqual(expected);
  });

  it('finds each problem of a configuration, and goes on with what the flags say', async () => {
    const { asked, parts } = setup();
    const run = await transcript(['doctor', '--config', '/bad.yaml', '--dir', '/d', '--json'], { parts, files });
    expect(run).toMatchObject({
      exit: 3,
      json: {
        findings: [
          { code: 'config_invalid', remedy: `\${EDITOR:-vi} +2 /bad.yaml` },
          { code: 'config_invalid', remedy: `\${EDITOR:-vi} +3 /bad.yaml` },
        ],
      },
    });
    expect(asked).toEqual([{ dir: '/d' }]);
    const contradiction = await transcript(['doctor', '--config', '/contradiction.yaml', '--json'], {
      ...setup(),
      files,
    });
    expect(contradiction).toMatchObject({ exit: 3, json: { findings: [{ code: 'config_invalid' }] } });
  });

  it('wants to be told what to look at', async () => {
    expect(await transcript(['doctor', '--json'], setup())).toMatchObject({
      exit: 2,
      json: { error: { code: 'usage' } },
    });
  });
});
