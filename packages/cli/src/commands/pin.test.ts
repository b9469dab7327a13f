import { describe, expect, it } from 'vitest';
import { accepted, exposure, NEW, PINNED, pending, pendingBad } from '../answers.fixture.ts';
import { at, transcript } from '../transcript.fixture.ts';

const pin = { fingerprint: PINNED, anchor: 'first-use' as const, since: at(-9_000), lastSeenAt: at(-600) };
const shown = { host: pending.host, pin, approved: null, pending: [pending], unreadable: [] };

describe('a fingerprint that is to be read on the host', () => {
  it.each([
    ['list', { listPins: { pending: [pending, pendingBad], unreadable: [] } }],
    ['show', { showPin: shown }],
    ['exposure', { exposure }],
    ['accept-first-use', { acceptFirstUse: accepted }],
  ])('is shown by its first digits only in pin %s', async (verb, answers) => {
    const more =
      verb === 'show' ? ['agent-7'] : verb === 'accept-first-use' ? ['on', '--until', '24h', '--exposed', '2'] : [];
    const { stdout } = await transcript(['pin', verb, ...more], { answers });
    expect(stdout).toContain('9f8e7d6c…');
    expect(stdout).not.toContain(NEW.slice(0, 9));
    const { stdout: json } = await transcript(['pin', verb, ...more, '--json'], { answers });
    expect(json).toContain(NEW);
  });

  it.each([
    ['list', { listPins: { pending: [pending], unreadable: [] } }],
    ['show', { showPin: shown }],
  ])('stands beside the pinned one, whole, in pin %s', async (verb, answers) => {
    const { stdout } = await transcript(['pin', verb, ...(verb === 'show' ? ['agent-7'] : [])], { answers });
    expect(stdout).toContain(PINNED);
  });

  it.each([NEW.slice(0, 63), `${NEW}0`, NEW.slice(0, 8), NEW.toUpperCase(), `${NEW} `, ''])(
    'is taken whole alone: %s',
    async (text) => {
      for (const verb of ['approve', 'confirm', 'reject']) {
        const run = await transcript(['pin', verb, 'agent-7', '--fingerprint', text, '--json'], { terminal: ['y'] });
        expect(run).toMatchObject({ exit: 2, json: { error: { code: 'usage' } }, asked: [] });
      }
    },
  );

  it('is sent as it was typed', async () => {
    const answers = {
      approvePin: { host: 'agent-7', effect: 'taken', life: 3, pin: { fingerprint: NEW, anchor: 'operator' as const } },
    };
    const { asked, stdout } = await transcript(['pin', 'approve', 'agent-7', '--fingerprint', NEW, '--yes'], {
      answers,
    });
    expect(asked[0]).toMatchObject({ path: '/v1/pins/agent-7/approve', body: { fingerprint: NEW } });
    expect(stdout).toContain('has its new pin, life 3');
  });
});

describe('rollcall pin list', () => {
  it('tells a reinstalled host from two machines', async () => {
    const { stdout } = await transcript(['pin', 'list'], {
      answers: { listPins: { pending: [pending, pendingBad], unreadable: [] } },
    });
    expect(stdout).toContain('silent, last seen 10 min ago');
    expect(stdout).toContain('still publishing');
    expect(stdout).toContain('two alternate');
    expect(stdout).toContain('that its state was fresh at start');
    expect(stdout).toContain('rollcall agent status');
  });

  it('is short when there is nothing', async () => {
    expect((await transcript(['pin', 'list'], { answers: { listPins: { pending: [], unreadable: [] } } })).stdout).toBe(
      'No change of a pin is pending.\n',
    );
  });
});

describe('first use', () => {
  it('is turned on until a time of the hub, with the number that was read', async () => {
    const { asked, stdout } = await transcript(['pin', 'accept-first-use', 'on', '--until', '24h', '--exposed', '2'], {
      answers: { acceptFirstUse: accepted },
    });
    expect(asked[0]?.body).toEqual({ on: true, until: at(86_400), exposed: 2 });
    expect(stdout).toContain('pin confirm HOST');
    const dated = await transcript(
      ['pin', 'accept-first-use', 'on', '--until', '2026-12-01T01:00:00+01:00', '--exposed', '0'],
      { answers: { acceptFirstUse: accepted } },
    );
    expect(dated.asked[0]?.body).toEqual({ on: true, until: '2026-12-01T00:00:00.000Z', exposed: 0 });
  });

  it('is turned off', async () => {
    const { asked, stdout } = await transcript(['pin', 'accept-first-use', 'off'], {
      answers: { acceptFirstUse: { until: null, accepted: [], exposed: 0 } },
    });
    expect(asked[0]?.body).toEqual({ on: false });
    expect(stdout).toContain('First use is off.');
  });

  it('names who is exposed and why, and the command that would go on', async () => {
    const { stdout } = await transcript(['pin', 'exposure'], { answers: { exposure } });
    expect(stdout).toContain('12 hosts examined, 2 exposed, 1 eligible.');
    expect(stdout).toContain('two keys seen');
    expect(stdout).toContain('rollcall pin accept-first-use on --until 24h --exposed 2');
  });

  it('refused for hosts that were not counted names them, and exits 3', async () => {
    const refusal = {
      status: 409,
      code: 'exposure_not_acknowledged',
      details: { exposed: 30, hosts: Array.from({ length: 30 }, (_, n) => `old-${n}`) },
    };
    const run = await transcript(['pin', 'accept-first-use', 'on', '--until', '1h', '--exposed', '0'], {
      answers: { acceptFirstUse: { refusal } },
    });
    expect(run.exit).toBe(3);
    expect(run.stdout).toContain('old-0, old-1');
    expect(run.stdout.replace(/\s+/g, ' ')).toContain('… and 20 more; --json has all');
    expect(run.stderr).toContain('exposure_not_acknowledged');
  });
});
