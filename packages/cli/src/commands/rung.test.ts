import { describe, expect, it } from 'vitest';
import { LONG_ID, listedRungs, shownHost } from '../answers.fixture.ts';
import { at, transcript } from '../transcript.fixture.ts';

const row = {
  rung: 'fleet-token' as const,
  accepted: false,
  decidedFor: 'fleet' as const,
  reason: 'done',
  since: at(0),
};

describe('rollcall rung list', () => {
  it('has each rung with its reason and who stands there, and what was decided for single hosts', async () => {
    const { stdout } = await transcript(['rung', 'list'], { answers: { listRungs: listedRungs } });
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^RUNG +ACCEPTED +HOSTS +DECIDED$/);
    expect(lines[1]).toMatch(/^fleet-token +no +1 +2 h ago$/);
    expect(lines[2]).toBe('  Every host has climbed.');
    expect(lines[3]).toMatch(/^host-token +UNREADABLE +2 +-$/);
    expect(stdout).toMatch(/ONLY HERE +RUNG +ACCEPTED +DECIDED\n/);
    expect(stdout).toContain('  Its agent is mended on Monday.');
    expect(lines.at(-1)).toBe('12 hosts by the last beat, 3 never heard');
  });

  it('says nothing of single hosts where nothing was decided for one', async () => {
    const answer = { ...listedRungs, exceptions: [], neverHeard: 0 };
    const { stdout } = await transcript(['rung', 'list'], { answers: { listRungs: answer } });
    expect(stdout).not.toContain('ONLY HERE');
    expect(stdout).toContain('each was heard');
  });
});

describe('what is decided', () => {
  const answers = { decideRung: row, clearRung: { ...row, accepted: true } };
  it.each<[string[], string, unknown]>([
    [['accept', 'derived', '--reason', 'yes'], '/v1/rungs/derived', { isAccepted: true, reason: 'yes' }],
    [
      ['refuse', 'fleet-token', '--reason', 'no', '--leave', 'a', 'b'],
      '/v1/rungs/fleet-token',
      { isAccepted: false, reason: 'no', leave: ['a', 'b'] },
    ],
    [
      ['refuse', 'fleet-token', '--host', 'a', '--reason', 'no'],
      '/v1/rungs/fleet-token',
      { isAccepted: false, reason: 'no', host: 'a' },
    ],
    [
      ['clear', 'fleet-token', '--host', 'a', '--reason', 'x'],
      '/v1/rungs/fleet-token/clear',
      { host: 'a', reason: 'x' },
    ],
  ])('%j', async (words, path, body) => {
    expect(await transcript(['rung', ...words], { answers })).toMatchObject({ exit: 0, asked: [{ path, body }] });
  });

  it.each([
    [['accept', 'fleet-token']],
    [['accept', 'fleet-token', '--reason', ' ']],
    [['refuse', 'fleet-token', '--reason', 'x'.repeat(201)]],
    [['refuse', 'mtls', '--reason', 'x']],
    [['refuse', 'fleet-token', '--host', 'a', '--leave', 'a', '--reason', 'x']],
    [['clear', 'fleet-token', '--reason', 'x']],
  ])('%j is usage', async (words) => {
    expect(await transcript(['rung', ...words], { answers })).toMatchObject({ exit: 2, asked: [] });
  });

  it('names the hosts that nothing else would let in', async () => {
    const refusal = { status: 409, code: 'rung_in_use', details: { hosts: ['old-1', 'old-2'] } };
    const run = await transcript(['rung', 'refuse', 'fleet-token', '--reason', 'x'], {
      answers: { decideRung: { refusal } },
    });
    expect(run.exit).toBe(3);
    expect(run.stdout + run.stderr).toContain('old-1');
  });
});

it('host show says what lets the host in, and why', async () => {
  const { stdout } = await transcript(['host', 'show', LONG_ID], { answers: { showHost: shownHost } });
  expect(stdout).toMatch(/rungs +fleet-token no: of this host alone: It has climbed\.\n/);
  // About the others nobody has said anything.
  expect(stdout).not.toContain('derived yes');
});
