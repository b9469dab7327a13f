import { describe, expect, it } from 'vitest';
import { HOST_TOKEN, host, hosts, LONG_ID, shownHost, TOKEN } from '../answers.fixture.ts';
import type { Answers } from '../fake-operator.fixture.ts';
import { at, transcript } from '../transcript.fixture.ts';

const added = { host: 'agent-7', life: 1, token: TOKEN, expiresAt: at(3_600) };

describe('rollcall host add', () => {
  it('prints the token once, on a line of its own, and what to run on the host', async () => {
    const { stdout, stderr, asked } = await transcript(['host', 'add', 'agent-7', '--token-life', '2h'], {
      answers: { addHost: added },
    });
    expect(stdout.split('\n').filter((line) => line === TOKEN)).toHaveLength(1);
    expect(stdout.split('\n').filter((line) => line.includes(TOKEN))).toHaveLength(1);
    expect(stdout).toContain('good until 2026-11-29T13:00:00Z (in 1 h)');
    expect(stdout).toContain('rollcall agent start --state /var/lib/rollcall-agent');
    expect(stderr).toBe('');
    expect(asked[0]?.body).toEqual({ host: 'agent-7', tokenLifeMs: 7_200_000 });
  });

  it('gives a host of an older fleet no token, but the command with its life', async () => {
    const { stdout, asked } = await transcript(['host', 'add', 'agent-7', '--existing', '--reach', 'pull'], {
      answers: { addHost: { host: 'agent-7', life: 3 } },
    });
    expect(stdout).toContain('--host agent-7 --life 3');
    expect(stdout).not.toContain('token');
    expect(asked[0]?.body).toEqual({ host: 'agent-7', reach: 'pull', existing: true });
  });
});

describe('a token of a host', () => {
  const lines = (stdout: string) => stdout.split('\n').filter((line) => line.includes(HOST_TOKEN));

  it('is printed once, on a line of its own, by the verb that adds the host', async () => {
    const answers = { addHost: { host: 'printer-1', life: 1, token: HOST_TOKEN } };
    const { stdout, asked } = await transcript(['host', 'add', 'printer-1', '--token'], { answers });
    expect(lines(stdout)).toEqual([HOST_TOKEN]);
    expect(stdout).toContain('is on the roll as active, life 1.');
    expect(stdout).not.toContain('enrol');
    expect(asked[0]?.body).toEqual({ host: 'printer-1', token: true });
  });

  it('is by the verb that issues a further one, with its id', async () => {
    const answers = { issueHostToken: { host: 'printer-1', life: 1, id: '00d1e2f3', token: HOST_TOKEN } };
    const { stdout, asked } = await transcript(['host', 'token', 'printer-1'], { answers });
    expect(lines(stdout)).toEqual([HOST_TOKEN]);
    expect(stdout).toContain('has a token 00d1e2f3, life 1.');
    expect(asked[0]?.path).toBe('/v1/hosts/printer-1/tokens');
  });

  it('has no end of its own', async () => {
    const run = await transcript(['host', 'add', 'printer-1', '--token', '--token-life', '1h'], { answers: {} });
    expect(run).toMatchObject({ exit: 2, asked: [] });
  });

  it('is ended by its id, after a question', async () => {
    const answers = { dropHostToken: { id: '00d1e2f3', issuedAt: at(-60), seenAt: null } };
    const words = ['host', 'drop-token', 'printer-1', '00d1e2f3'];
    expect(await transcript([...words, '--yes'], { answers })).toMatchObject({
      exit: 0,
      asked: [{ path: '/v1/hosts/printer-1/tokens/00d1e2f3/end' }],
    });
    expect(await transcript(words, { answers, terminal: ['n'] })).toMatchObject({ exit: 1, asked: [] });
    expect(await transcript(words, { answers })).toMatchObject({ exit: 2, asked: [] });
    const other = await transcript(['host', 'drop-token', 'printer-1', '../x', '--yes'], { answers });
    expect(other).toMatchObject({ exit: 2, asked: [] });
  });

  it('is shown by its id, never by its value', async () => {
    const { stdout } = await transcript(['host', 'show', LONG_ID], { answers: { showHost: shownHost } });
    expect(stdout).toMatch(/tokens +5f0c2a91 of .*, in use\n +00d1e2f3 of .*, not seen yet\n/);
    expect(stdout).not.toContain('rch_');
  });
});

describe('rollcall host list', () => {
  it('is a table, with flags below their host', async () => {
    const { stdout } = await transcript(['host', 'list'], { answers: { listHosts: { hosts } } });
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^HOST +STATUS +REACH +RUNG +SEEN +PIN +PROVEN$/);
    expect(lines[1]).toMatch(/^agent-7 +active +pull +derived +3 s ago +enrolment +master 4$/);
    expect(lines[3]).toBe('  clone, lower_rung_seen');
    expect(lines[5]).toMatch(/^new-1 +invited +pull +- +never +none +-$/);
    expect(lines.at(-1)).toBe('4 hosts, 2 fresh');
  });

  it('cuts ids in the middle alone, and never to one another here', async () => {
    const { stdout } = await transcript(['host', 'list'], { answers: { listHosts: { hosts } } });
    expect(stdout).toContain('…');
    const ids = stdout.split('\n').map((line) => line.split(' ')[0]);
    expect(new Set(ids).size).toBe(ids.length - 1); // A line of flags and the last, empty line begin alike.
  });

  it('uses the width of a wider terminal', async () => {
    const { stdout } = await transcript(['host', 'list'], {
      answers: { listHosts: { hosts: hosts.slice(0, 2) } },
      terminal: [],
      columns: 160,
    });
    expect(stdout).toContain(LONG_ID);
  });

  it('says what to do about an empty roll', async () => {
    expect((await transcript(['host', 'list'], { answers: { listHosts: { hosts: [] } } })).stdout).toContain(
      'rollcall host add',
    );
  });
});

describe('rollcall host show', () => {
  it('shows the fingerprint whole, and the assignments', async () => {
    const { stdout } = await transcript(['host', 'show', LONG_ID], { answers: { showHost: shownHost } });
    expect(stdout).toContain(host.pin?.fingerprint);
    expect(stdout).toMatch(/ASSIGNED +WANTED +HELD +ACCEPTS +PRESENTS\nmaster +1\.9 +1\.8 +3, 4 +4\n/);
    expect(stdout).toContain('it refused master: delivery_unopenable');
    expect(stdout).toContain(`rollcall pin show ${LONG_ID}`);
  });

  it('says of a token that it was released from that it may have it still, and of no other', async () => {
    const { stdout } = await transcript(['host', 'show', LONG_ID], { answers: { showHost: shownHost } });
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('it still has to drop deploy-token: released by 1.4');
    const { released: _released, ...older } = shownHost;
    for (const showHost of [older, { ...shownHost, released: [] }]) {
      expect((await transcript(['host', 'show', LONG_ID], { answers: { showHost } })).stdout).not.toContain('drop');
    }
  });

  it('names what is damaged, and says what to do', async () => {
    const damaged = { ...shownHost, addedAt: null, unreadable: ['hosts', 'pins'] };
    const { stdout } = await transcript(['host', 'show', LONG_ID], { answers: { showHost: damaged } });
    expect(stdout).toContain('hosts, pins');
    expect(stdout).toContain(`rollcall host reenrol ${LONG_ID}`);
    expect((await transcript(['host', 'show', LONG_ID], { answers: { showHost: shownHost } })).stdout).not.toContain(
      'reenrol',
    );
  });

  it('keeps the id in one segment of the path', async () => {
    const { asked } = await transcript(['host', 'show', 'a.b_c-d'], { answers: { showHost: shownHost } });
    expect(asked[0]?.path).toBe('/v1/hosts/a.b_c-d');
  });
});

describe('verbs that cannot be undone', () => {
  const answers = {
    evictHost: { host: 'agent-7', status: 'evicted', life: 2, heldSecrets: ['master'] },
    removeHost: { host: 'agent-7', status: 'removed', life: 2, heldSecrets: [] },
    approvePin: { host: 'agent-7', effect: 'taken', life: 3, pin: null },
  } satisfies Answers;
  const verbs = [
    ['host', 'evict', 'agent-7'],
    ['host', 'remove', 'agent-7'],
    ['pin', 'approve', 'agent-7', '--fingerprint', 'ab'.repeat(32)],
  ];

  it.each(verbs)('%s %s ask on a terminal, and go on after yes alone', async (...words) => {
    for (const yes of ['y', 'Y', 'yes', ' YES ']) {
      const run = await transcript(words, { answers, terminal: [yes] });
      expect(run).toMatchObject({ exit: 0, asked: [{}] });
      expect(run.stderr).toMatch(/agent-7.*\? .*\[y\/N\] /);
    }
    for (const no of ['', 'n', 'no', 'yess', 'yep', 'j']) {
      const run = await transcript(words, { answers, terminal: [no] });
      expect(run).toMatchObject({ exit: 1, asked: [], stdout: '' });
      expect(run.stderr).toContain('not_confirmed');
    }
  });

  it.each(verbs)('%s %s need --yes elsewhere', async (...words) => {
    const run = await transcript([...words, '--json'], { answers, stdin: 'y\n' });
    expect(run).toMatchObject({
      exit: 2,
      asked: [],
      json: { error: { code: 'confirmation_required', hint: expect.stringContaining('--yes') } },
    });
    expect(await transcript([...words, '--yes'], { answers })).toMatchObject({ exit: 0, asked: [{}] });
  });

  it('evict says what the host goes on knowing', async () => {
    const { stdout } = await transcript(['host', 'evict', 'agent-7', '--yes', '--ban'], { answers });
    const text = stdout.replaceAll('\n', ' ');
    expect(text).toContain('agent-7 knows the master, so this revokes nothing of what it can derive');
    expect(stdout).toContain('\n  rollcall rotation start master --reason leak\n');
    expect(text).not.toContain('It held');
    const shared = { ...answers.evictHost, heldSecrets: ['ci-token'] };
    const other = await transcript(['host', 'evict', 'agent-7', '--yes'], { answers: { evictHost: shared } });
    expect(other.stdout).toContain('It held ci-token');
    expect(other.stdout).not.toContain('knows the master');
    const nothing = { ...answers.evictHost, heldSecrets: [] };
    const own = await transcript(['host', 'evict', 'agent-7', '--yes'], { answers: { evictHost: nothing } });
    expect(own.stdout).toBe('agent-7 is evicted.\nIt may enrol again: rollcall host reenrol agent-7\n');
    expect(stdout).not.toContain('reenrol');
    const { asked } = await transcript(['host', 'evict', 'agent-7', '--yes', '--ban'], { answers });
    expect(asked[0]?.body).toEqual({ ban: true });
  });
});
