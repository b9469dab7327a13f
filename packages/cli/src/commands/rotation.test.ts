import type { RotationStatus } from '@rollcall/wire';
import { describe, expect, it } from 'vitest';
import { done, LONG_ID, leaked, openGate, rolling } from '../answers.fixture.ts';
import type { Answer } from '../fake-operator.fixture.ts';
import { at, transcript } from '../transcript.fixture.ts';

/** Answers one after the other, the last one for ever. */
function inTurn(...answers: Answer<'showRotation'>[]): () => Answer<'showRotation'> {
  let turn = 0;
  return () => answers[Math.min(turn++, answers.length - 1)] ?? 'drop';
}

function inPhase(phase: RotationStatus['rotation']['phase'], proven = 8): RotationStatus {
  return { ...openGate, rotation: { ...openGate.rotation, phase }, progress: { ...openGate.progress, proven } };
}

describe('rollcall rotation start', () => {
  it('sends what was asked for, times in UTC', async () => {
    const words = [
      'rotation',
      'start',
      'master',
      '--reason',
      'leak',
      '--narrow-by',
      '2h',
      '--leave',
      'agent-9',
      'agent-12',
    ];
    const { asked } = await transcript(words, { answers: { startRotation: leaked } });
    expect(asked[0]?.body).toEqual({
      secret: 'master',
      reason: 'leak',
      narrowBy: at(7_200),
      leave: ['agent-9', 'agent-12'],
    });
  });

  it('says which rotation it has ended, and nothing of one where none ran', async () => {
    for (const given of [rolling, leaked]) {
      const startRotation = { ...given, superseded: 'r-0123456789ab' };
      const run = await transcript(['rotation', 'start', 'master'], { answers: { startRotation } });
      expect(run.stdout).toMatch(
        /^This start has ended the rotation r-0123456789ab of master, which still ran\.\n\nmaster 3/,
      );
      const bare = await transcript(['rotation', 'start', 'master'], { answers: { startRotation: given } });
      expect(bare.stdout).toMatch(/^master 3/);
    }
    const startRotation = { ...rolling, superseded: 'r-0123456789ab' };
    const { json } = await transcript(['rotation', 'start', 'master', '--json'], { answers: { startRotation } });
    expect(json).toMatchObject({ superseded: 'r-0123456789ab', rotation: { id: rolling.rotation.id } });
  });

  it('says after a leak what a thief can still do, and until when', async () => {
    const { stdout } = await transcript(['rotation', 'start', 'master', '--reason', 'leak'], {
      answers: { startRotation: leaked },
    });
    const text = stdout.replace(/\s+/g, ' ');
    expect(text).toContain(
      'Until 2026-12-05T12:00:00Z (in 6 d) a thief of master version 3 can still: - command a host',
    );
    expect(text).toMatch(/can still:.*command.*heartbeats.*sessions.*terminals.*invites.*single sign-on.*It cannot/);
    expect(text).toMatch(/It cannot, now or later: - derive anything of version 4.*replace a pin.*certificate/);
    expect(text).toMatch(/It may, where `rollcall pin confirm` was not done: - hold a pin/);
  });

  it('gives the same facts to a program', async () => {
    const { json } = await transcript(['rotation', 'start', 'master', '--reason', 'leak', '--json'], {
      answers: { startRotation: leaked },
    });
    const { thief } = json as { thief: { act: string; verdict: string; untilMs: number | null }[] };
    expect(thief).toContainEqual(
      expect.objectContaining({ act: 'heartbeat', verdict: 'can', untilMs: Date.parse(at(6 * 86_400)) }),
    );
    expect(thief).toContainEqual(expect.objectContaining({ act: 'replace_pin', verdict: 'cannot', untilMs: null }));
  });

  it('does not say so when nothing leaked', async () => {
    const { stdout } = await transcript(['rotation', 'start', 'master'], { answers: { startRotation: rolling } });
    expect(stdout).not.toContain('thief');
  });

  it('blocked by hosts without a pin names them, and exits 3', async () => {
    const refusal = {
      status: 409,
      code: 'hosts_without_pin',
      title: 'Hosts have no pin.',
      details: { hosts: ['agent-1', 'agent-2'] },
    };
    const run = await transcript(['rotation', 'start', 'master'], { answers: { startRotation: { refusal } } });
    expect(run).toMatchObject({ exit: 3, stdout: 'Hosts have no pin.\n  hosts  agent-1, agent-2\n' });
    expect(run.stderr).toContain('hosts_without_pin: Hosts have no pin.');
  });
});

describe('rollcall rotation status', () => {
  it('shows the walk, the blockers and what to do', async () => {
    const { stdout, asked } = await transcript(['rotation', 'status', 'master'], {
      answers: { showRotation: rolling },
    });
    expect(asked[0]?.path).toBe('/v1/rotations/master');
    expect(stdout).toContain('master 3 → 4: rolling\n');
    expect(stdout).toContain('planned → widening → [rolling] → proving → narrowing → done');
    expect(stdout).toContain('rolled 9, proven 8 of 12; widened 12');
    expect(stdout).toContain('closed, 31 blockers');
    expect(stdout).toMatch(new RegExp(`MEMBER +MISSING +SINCE\n  ${LONG_ID} +proof of new +2 min ago\n    It has not`));
    expect(stdout.match(/Wake it/g)).toHaveLength(1);
    expect(stdout).toContain('--json has all');
  });

  it('says when the way is open, and what had stopped it', async () => {
    expect(
      (await transcript(['rotation', 'status', 'master'], { answers: { showRotation: openGate } })).stdout,
    ).toContain('is open:\n  rollcall rotation advance master --from rolling\n');
    const paused = { ...openGate, rotation: { ...openGate.rotation, pausedBecause: 'lunch' } };
    const held = (await transcript(['rotation', 'status', 'master'], { answers: { showRotation: paused } })).stdout;
    expect(held).toContain('`rollcall rotation resume master`');
    expect(held).not.toContain('rotation advance');
    const ended = (await transcript(['rotation', 'status', 'rot-1'], { answers: { showRotation: done } })).stdout;
    // What was counted while it ran is not kept, and zeros would read as if nobody had come along.
    expect(ended).not.toMatch(/progress|old seen/);
    expect((await transcript(['rotation', 'status', 'master'], { answers: { showRotation: rolling } })).stdout).toMatch(
      /progress.*old seen/s,
    );
    expect(ended).toContain('stopped verifying 2026-11-29T11:59:55Z (5 s ago)');
    expect(ended).not.toContain('gate');
  });

  it('says of a token that was dropped that it is, whatever end it was given', async () => {
    const terms = { auto: 'off' as const, batch: 1, narrowBy: at(3_600) };
    const shown = async (phase: RotationStatus['rotation']['phase']) => {
      const rotation = { ...rolling.rotation, secret: 'fleet-token', terms, phase };
      const showRotation = { ...openGate, rotation, verifyUntil: at(3_600) };
      return (await transcript(['rotation', 'status', 'fleet-token'], { answers: { showRotation } })).stdout;
    };
    expect(await shown('proving')).toContain('3 verifies until 2026-11-29T13:00:00Z (in 1 h)');
    for (const phase of ['narrowing', 'done'] as const) {
      const text = await shown(phase);
      expect(text).toContain('3 does not verify');
      expect(text).not.toContain('verifies until');
    }
  });

  it('marks a name that was said with the token alone, and none that was proven', async () => {
    const seen = {
      address: '10.0.0.7',
      at: at(-5),
      userAgent: 'cron/1',
      route: '/v1/whoami',
      verifier: 'replica:local',
    };
    const sources = [
      { ...seen, host: 'agent-7', proven: true },
      { ...seen, host: 'agent-8' },
      { ...seen, host: null },
    ];
    const showRotation = { ...rolling, retiringHits: { ...rolling.retiringHits, sources } };
    const { stdout } = await transcript(['rotation', 'status', 'master'], { answers: { showRotation } });
    expect(stdout).toContain(' agent-7 from 10.0.0.7 to replica:local');
    expect(stdout).toContain(' agent-8 (declared) from 10.0.0.7');
    expect(stdout).toContain(' cron/1 from 10.0.0.7');
  });
});

describe('rollcall rotation status and watch without a name', () => {
  const token = { ...rolling.rotation, id: 'rot-2', secret: 'fleet-token' };
  const rung = { ...rolling.rotation, id: 'rot-3', secret: 'rung:fleet-token' };
  const ask = (rotations: RotationStatus['rotation'][], verb = 'status') =>
    transcript(['rotation', verb, '--json'], { answers: { listRotations: { rotations }, showRotation: done } });
  const path = async (rotations: RotationStatus['rotation'][], verb?: string) =>
    decodeURIComponent((await ask(rotations, verb)).asked.at(-1)?.path ?? '');

  it.each(['status', 'watch'])('%s is about what runs, where nothing does about the newest', async (verb) => {
    expect(await path([done.rotation, rung], verb)).toBe('/v1/rotations/rung:fleet-token');
    expect(await path([{ ...rung, phase: 'done' }, { ...token, phase: 'rolled_back' }, rolling.rotation], verb)).toBe(
      '/v1/rotations/master',
    );
    expect(await path([{ ...token, phase: 'done' }, done.rotation], verb)).toBe('/v1/rotations/fleet-token');
    expect(await path([], verb)).toBe('/v1/rotations/master');
  });

  it.each(['status', 'watch'])('%s asks to name one of several that run, with the commands', async (verb) => {
    const run = await ask([rung, token, done.rotation], verb);
    expect(run).toMatchObject({
      exit: 2,
      asked: [{ route: 'listRotations' }],
      json: { error: { code: 'rotation_ambiguous', details: { running: ['rung:fleet-token', 'fleet-token'] } } },
    });
    const { hint } = (run.json as { error: { hint: string } }).error;
    expect(hint).toContain(`\`rollcall rotation ${verb} rung:fleet-token\`, \`rollcall rotation ${verb} fleet-token\``);
  });
});

describe('rollcall rotation list', () => {
  it('cuts no name and no id at 80 columns: both have to be typed', async () => {
    const worst = { ...rolling.rotation, id: 'r-0123456789ab', phase: 'narrowing' as const, pausedBecause: 'lunch' };
    const rotations = ['master', 'rung:fleet-token', 'deploy-token-eu-west'].map((secret) => ({ ...worst, secret }));
    const { stdout } = await transcript(['rotation', 'list'], { answers: { listRotations: { rotations } } });
    const lines = stdout.trimEnd().split('\n');
    for (const [at, { id, secret }] of rotations.entries()) expect(lines[at + 1]).toContain(`${id}  ${secret}`);
    expect(lines.filter((line) => [...line].length > 80)).toEqual([]);
    // Longer than the page has room for: it stays whole all the same.
    const long = { ...worst, secret: 'n'.repeat(64) };
    const wide = await transcript(['rotation', 'list'], { answers: { listRotations: { rotations: [long] } } });
    expect(wide.stdout).toContain(long.secret);
  });
});

describe('rollcall rotation advance', () => {
  it('goes from the phase that was seen', async () => {
    const { asked } = await transcript(['rotation', 'advance', 'rot-1', '--from', 'rolling'], {
      answers: { advanceRotation: openGate },
    });
    expect(asked[0]).toMatchObject({ path: '/v1/rotations/rot-1/advance', body: { from: 'rolling' } });
  });

  it('at a closed gate exits 3, with the blockers as output', async () => {
    const refusal = {
      status: 409,
      code: 'gate_closed',
      title: 'Evidence is missing.',
      details: { members: [LONG_ID] },
    };
    const answers = { advanceRotation: { refusal }, showRotation: rolling };
    const run = await transcript(['rotation', 'advance'], { answers });
    expect(run.exit).toBe(3);
    expect(run.stdout).toContain(`${LONG_ID}  proof of new`);
    expect(run.stderr).toContain('gate_closed: Evidence is missing.');
    const json = await transcript(['rotation', 'advance', '--json'], { answers });
    expect(json).toMatchObject({
      exit: 3,
      json: { error: { code: 'gate_closed', details: { members: [LONG_ID] } }, gate: rolling.gate },
    });
  });

  it.each([
    [['advance', 'fleet-token'], 'fleet-token'],
    [['start', 'fleet-token'], 'fleet-token'],
    [['advance', 'rung:fleet-token'], 'rung:fleet-token'],
    [['start', 'rung:fleet-token'], 'rung:fleet-token'],
    [['advance', 'master'], 'master'],
    [['start', 'master'], 'master'],
    [['advance'], 'master'],
  ])('after %j hints at the rotation of %s, and at no other', async (words, named) => {
    const refusal = {
      status: 409,
      code: 'rotation_paused',
      hint: 'See why with `rollcall rotation status`, then `rollcall rotation resume`.',
    };
    const answers = { advanceRotation: { refusal }, startRotation: { refusal }, showRotation: rolling };
    const command = (verb: string) => `\`rollcall rotation ${verb} ${named}\``;
    const run = await transcript(['rotation', ...words, '--json'], { answers });
    const hint = `See why with ${command('status')}, then ${command('resume')}.`;
    expect(run).toMatchObject({ exit: 3, json: { error: { code: 'rotation_paused', hint } } });
  });

  it('leaves out a list that names nobody', async () => {
    const refusal = { status: 409, code: 'rotation_running', details: { hosts: [] } };
    const run = await transcript(['rotation', 'start', 'fleet-token'], { answers: { startRotation: { refusal } } });
    expect(run.exit).toBe(3);
    expect(run.stdout).not.toContain('hosts');
  });

  it('reports the refusal alone when the rotation cannot be shown', async () => {
    const refusal = { status: 409, code: 'rotation_moved_on', title: 'It moved on.' };
    const run = await transcript(['rotation', 'advance', '--json'], {
      answers: { advanceRotation: { refusal }, showRotation: 'drop' },
    });
    expect(run).toMatchObject({ exit: 3, json: { error: { code: 'rotation_moved_on' } } });
  });
});

describe('rollcall rotation retire', () => {
  const untilMs = Date.parse(at(6 * 86_400));

  it('in an open window exits 3, with what blocks it', async () => {
    const refusal = {
      status: 409,
      code: 'window_open',
      title: 'The old version still verifies.',
      details: { untilMs },
    };
    const run = await transcript(['rotation', 'retire', '--yes'], {
      answers: { retireRotation: { refusal }, showRotation: rolling },
    });
    expect(run.exit).toBe(3);
    expect(run.stdout).toContain('3 verifies until 2026-12-05T12:00:00Z (in 6 d)');
    expect(run.stderr).toContain('window_open');
  });

  it('asks first, and elsewhere needs --yes', async () => {
    const answers = { retireRotation: done };
    expect(await transcript(['rotation', 'retire'], { answers })).toMatchObject({ exit: 2, asked: [] });
    expect(await transcript(['rotation', 'retire'], { answers, terminal: ['n'] })).toMatchObject({
      exit: 1,
      asked: [],
    });
    const run = await transcript(['rotation', 'retire', 'rot-1', '--now', '--leave', 'agent-9'], {
      answers,
      terminal: ['y'],
    });
    expect(run).toMatchObject({
      exit: 0,
      asked: [{ path: '/v1/rotations/rot-1/retire', body: { now: true, leave: ['agent-9'] } }],
    });
    expect(run.stdout).toContain('Version 3 of master is retired.');
  });
});

describe('rollcall rotation watch', () => {
  it('says each change once, until it is done', async () => {
    const showRotation = inTurn(
      inPhase('widening'),
      inPhase('rolling', 8),
      inPhase('rolling', 8),
      inPhase('rolling', 9),
      done,
    );
    const { exit, stdout, stderr } = await transcript(['rotation', 'watch', 'master'], { answers: { showRotation } });
    expect(exit).toBe(0);
    expect(stderr.split('\n').filter((line) => line.startsWith('2026-'))).toHaveLength(4);
    expect(stderr).toMatch(/12:00:00Z master 3 → 4 widening, widened 12, gate open\n/);
    expect(stdout).toContain('master 3 → 4: done');
  });

  it('stops at the phase that was asked for, or any later one', async () => {
    const answers = { showRotation: inTurn(inPhase('widening'), inPhase('narrowing'), 'drop') };
    const run = await transcript(['rotation', 'watch', 'master', '--until', 'proving', '--json'], { answers });
    expect(run).toMatchObject({ exit: 0, json: { rotation: { phase: 'narrowing' } } });
  });

  it('exits 3 when the time is over, with where it stands', async () => {
    const run = await transcript(['rotation', 'watch', 'master', '--timeout', '5s', '--json'], {
      answers: { showRotation: rolling },
    });
    expect(run).toMatchObject({ exit: 3, json: { error: { code: 'watch_ended' }, rotation: { phase: 'rolling' } } });
    expect(run.asked).toHaveLength(6);
  });

  it('exits 3 when it was rolled back', async () => {
    const run = await transcript(['rotation', 'watch', 'master', '--json'], {
      answers: { showRotation: inTurn(inPhase('reverting'), inPhase('rolled_back')) },
    });
    expect(run).toMatchObject({ exit: 3, json: { error: { code: 'watch_ended' } } });
  });

  it('outlives a restart of the hub', async () => {
    const showRotation = inTurn(
      inPhase('rolling'),
      'drop',
      'drop',
      { refusal: { status: 503, code: 'unavailable' } },
      done,
    );
    const { exit, stderr } = await transcript(['rotation', 'watch', 'master'], { answers: { showRotation } });
    expect(exit).toBe(0);
    expect(stderr.match(/the hub does not answer \(hub_no_answer\)/g)).toHaveLength(1);
  });

  it('gives up on a hub that stays away, and at once on a refusal or a hub that was never there', async () => {
    const away = await transcript(['rotation', 'watch', 'master', '--json'], {
      answers: { showRotation: inTurn(rolling, 'drop') },
    });
    expect(away).toMatchObject({ exit: 1, json: { error: { code: 'hub_no_answer' } } });
    expect(away.asked.length).toBeGreaterThan(50);
    const gone = await transcript(['rotation', 'watch', 'master', '--json'], {
      answers: { showRotation: inTurn(rolling, { refusal: { status: 404, code: 'not_found' } }) },
    });
    expect(gone).toMatchObject({ exit: 1, json: { error: { code: 'not_found' } }, asked: [{}, {}] });
    const never = await transcript(['rotation', 'watch', 'master', '--json'], { answers: { showRotation: 'drop' } });
    expect(never).toMatchObject({ exit: 1, asked: [{}] });
  });

  it('draws over itself on a terminal, and leaves the result alone there', async () => {
    const { stdout, stderr } = await transcript(['rotation', 'watch', 'master'], {
      answers: { showRotation: inTurn(rolling, done) },
      terminal: [],
    });
    expect(stderr.startsWith('\u001b[1mmaster 3 → 4: rolling')).toBe(true);
    expect(stderr.endsWith('\u001b[J')).toBe(true);
    expect(stdout).toContain('master 3 → 4: done');
  });

  it('is silent with --quiet', async () => {
    const { stderr } = await transcript(['rotation', 'watch', 'master', '--quiet'], {
      answers: { showRotation: inTurn(rolling, done) },
    });
    expect(stderr).toBe('');
  });
});

describe('closing a rung', () => {
  const closing = {
    ...rolling,
    rotation: {
      ...rolling.rotation,
      secret: 'rung:fleet-token',
      from: 1,
      to: 2,
      terms: { auto: 'off' as const, batch: 1, narrowBy: null },
    },
    verifyUntil: null,
  };

  it('is started as a rotation is, and shown without versions', async () => {
    const run = await transcript(['rotation', 'start', 'rung:fleet-token', '--leave', 'old-1'], {
      answers: { startRotation: closing },
    });
    expect(run).toMatchObject({ exit: 0, asked: [{ body: { secret: 'rung:fleet-token', leave: ['old-1'] } }] });
    expect(run.stdout).toContain('closing rung:fleet-token: rolling\n');
    expect(run.stdout).toContain('accepted until its gates say');
    expect(run.stdout).toMatch(/stood on it +14 times/);
    expect(run.stdout).toContain('8 of 12 seen on a higher rung');
    expect(run.stdout).not.toMatch(/version|→ 2/);
  });

  it('has no versions in a list either', async () => {
    const rotations = [closing.rotation, rolling.rotation];
    const { stdout } = await transcript(['rotation', 'list'], { answers: { listRotations: { rotations } } });
    expect(stdout).not.toContain('1 → 2');
    expect(stdout).toContain('3 → 4');
  });

  it('says nothing of a thief: there is nothing of a rung to steal', async () => {
    const leaked = { ...closing, rotation: { ...closing.rotation, reason: 'leak' as const }, verifyUntil: at(3_600) };
    const words = ['rotation', 'start', 'rung:fleet-token', '--reason', 'leak', '--narrow-by', '1h'];
    const { stdout } = await transcript(words, { answers: { startRotation: leaked } });
    expect(stdout).not.toContain('thief');
    expect(stdout).toMatch(/accepted until .* \(in 1 h\)/);
  });

  it.each(['rung:', 'rung:mtls', 'rung:fleet-token2', 'rungs:fleet-token'])('of %s is usage', async (word) => {
    const run = await transcript(['rotation', 'start', word], { answers: { startRotation: closing } });
    expect(run).toMatchObject({ exit: 2, asked: [] });
  });

  it('is read, advanced and turned back by its name', async () => {
    const answers = { showRotation: closing, advanceRotation: closing, rollBackRotation: closing };
    for (const words of [['status'], ['advance'], ['rollback', '--reason', 'x', '--yes']]) {
      const [verb = '', ...rest] = words;
      const run = await transcript(['rotation', verb, 'rung:fleet-token', ...rest], { answers });
      expect(run.exit).toBe(0);
      expect(decodeURIComponent(run.asked.at(-1)?.path ?? '')).toContain('/v1/rotations/rung:fleet-token');
    }
  });
});
