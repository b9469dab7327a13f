import { describe, expect, it } from 'vitest';
import { leaked, rolling } from '../answers.fixture.ts';
import { at, transcript } from '../transcript.fixture.ts';

describe('rollcall rotation pause and resume', () => {
  it('send the reason, and a sentence where none is given', async () => {
    const answers = { pauseRotation: leaked, resumeRotation: rolling };
    const words = ['rotation', 'pause', 'master', '--reason', 'deploy freeze'];
    expect((await transcript(words, { answers })).asked[0]).toMatchObject({
      path: '/v1/rotations/master/pause',
      body: { reason: 'deploy freeze' },
    });
    const bare = await transcript(['rotation', 'pause'], { answers });
    expect(bare.asked[0]?.body).toEqual({ reason: expect.stringMatching(/./) });
    expect(bare.stdout).toContain('paused');
    expect((await transcript(['rotation', 'resume', 'r-1'], { answers })).asked[0]?.path).toBe(
      '/v1/rotations/r-1/resume',
    );
  });

  it('exit 3 with the rotation as it stands where it is paused already', async () => {
    const refusal = { status: 409, code: 'rotation_paused', title: 'It is paused.' };
    const run = await transcript(['rotation', 'pause', '--json'], {
      answers: { pauseRotation: { refusal }, showRotation: leaked },
    });
    expect(run).toMatchObject({
      exit: 3,
      json: { error: { code: 'rotation_paused' }, rotation: { id: leaked.rotation.id } },
    });
  });
});

describe('rollcall rotation leave', () => {
  const words = ['rotation', 'leave', 'r-1', 'agent-9', 'agent-12'];

  it('names the hosts and the reason', async () => {
    const run = await transcript([...words, '--reason', 'gone'], { answers: { leaveRotation: leaked } });
    expect(run.asked[0]).toMatchObject({
      path: '/v1/rotations/r-1/leave',
      body: { leave: ['agent-9', 'agent-12'], reason: 'gone' },
    });
    expect(run.stdout).toContain('left behind');
  });

  it.each([
    [words, 'usage'],
    [['rotation', 'leave', 'r-1', '--reason', 'gone'], 'usage'],
    [['rotation', 'leave', 'r-1', 'no/t', '--reason', 'gone'], 'malformed_member'],
  ])('asks nothing without a reason, a host, or the right form: %j is %s', async (given, code) => {
    const run = await transcript([...given, '--json'], { answers: { leaveRotation: leaked } });
    expect(run).toMatchObject({ exit: 2, json: { error: { code } }, asked: [] });
  });
});

describe('rollcall rotation cut', () => {
  const words = ['rotation', 'cut', '--until', '10m', '--leave', 'agent-9'];
  const answers = { cutRotation: leaked };

  it('asks first, says what cannot be undone, and then what a thief can still do', async () => {
    const run = await transcript(words, { answers, terminal: ['yes'] });
    expect(run).toMatchObject({ exit: 0, asked: [{ body: { until: at(600), leave: ['agent-9'] } }] });
    expect(run.stderr).toContain(`at ${at(600)}? It cannot be opened again. Cut off are: agent-9. [y/N]`);
    expect(run.stdout).toContain('can still:');
    expect(await transcript(words, { answers, terminal: ['no'] })).toMatchObject({ exit: 1, asked: [] });
    expect(await transcript([...words, '--json'], { answers })).toMatchObject({
      exit: 2,
      asked: [],
      json: { error: { code: 'confirmation_required' } },
    });
  });

  it('exits 3 with the names that would be stranded', async () => {
    const refusal = {
      status: 409,
      code: 'would_strand',
      title: 'Hosts would be stranded.',
      details: { hosts: ['agent-3'] },
    };
    const run = await transcript([...words, '--yes', '--json'], {
      answers: { cutRotation: { refusal }, showRotation: rolling },
    });
    expect(run).toMatchObject({ exit: 3, json: { error: { code: 'would_strand', details: { hosts: ['agent-3'] } } } });
  });

  it('names them to a person too, some of many', async () => {
    const hosts = Array.from({ length: 13 }, (_, at) => `stranded-${at}`);
    const refusal = { status: 409, code: 'would_strand', title: 'Hosts would be stranded.', details: { hosts } };
    const { stdout } = await transcript([...words, '--yes'], {
      answers: { cutRotation: { refusal }, showRotation: rolling },
    });
    expect(stdout).toContain('stranded-9');
    expect(stdout).not.toContain('stranded-10');
    expect(stdout).toContain('3 more');
  });

  it('says that the door is closed once it is', async () => {
    const closed = { ...leaked, verifyUntil: at(0) };
    const { stdout } = await transcript([...words, '--yes'], { answers: { cutRotation: closed } });
    expect(stdout).toContain('The window is closed: nothing of master version 3 verifies any more.');
    expect(stdout).not.toContain('can still:');
  });
});
