import { describe, expect, it } from 'vitest';
import { agentStatus, auditRecords, PINNED } from '../answers.fixture.ts';
import type { Asked } from '../fake-operator.fixture.ts';
import type { AgentPackage } from '../optional-package.ts';
import { transcript } from '../transcript.fixture.ts';

describe('rollcall audit list', () => {
  /** A hub that keeps so many records and answers as the contract says. */
  function log(count: number): {
    answers: { listAudit: (asked: Asked) => { records: ReturnType<typeof auditRecords> } };
  } {
    return {
      answers: {
        listAudit: ({ path }) => {
          const query = new URLSearchParams(path.split('?')[1]);
          const after = Number(query.get('after'));
          return { records: auditRecords(after + 1, Math.max(0, Math.min(Number(query.get('limit')), count - after))) };
        },
      },
    };
  }

  const seqs = (json: unknown) => (json as { records: { seq: number }[] }).records.map((record) => record.seq);

  it('asks page by page until there is no more', async () => {
    const run = await transcript(['audit', 'list', '--json'], log(1_200));
    expect(seqs(run.json)).toEqual(Array.from({ length: 1_200 }, (_, n) => n + 1));
    expect(run.asked).toHaveLength(3);
  });

  it('asks for no more than is wanted, and says that there is more', async () => {
    const run = await transcript(['audit', 'list', '--after', '10', '--limit', '3', '--json'], log(1_200));
    expect(seqs(run.json)).toEqual([11, 12, 13]);
    expect(run.stderr).toContain('--after 13');
    expect(run.asked).toMatchObject([{ path: '/v1/audit?after=10&limit=3' }]);
  });

  it('sends filters with every page, times in UTC, durations counted back', async () => {
    const words = ['audit', 'list', '--actor', 'ada', '--action', 'pin', '--target', 'agent-7', '--outcome', 'refused'];
    const { asked } = await transcript([...words, '--since', '24h', '--json'], log(600));
    expect(asked).toHaveLength(2);
    for (const { path } of asked) {
      const query = Object.fromEntries(new URLSearchParams(path.split('?')[1]));
      expect(query).toMatchObject({
        actor: 'ada',
        action: 'pin',
        target: 'agent-7',
        outcome: 'refused',
        since: '2026-11-28T12:00:00.000Z',
      });
    }
    const exact = await transcript(['audit', 'list', '--since', '2026-11-01T00:00:00+02:00'], log(1));
    expect(exact.asked[0]?.path).toContain('since=2026-10-31T22%3A00%3A00.000Z');
  });

  it.each([
    [['--since', 'yesterday'], 'malformed_time'],
    [['--action', 'pin taken'], 'usage'],
    [['--outcome', 'perhaps'], 'usage'],
  ])('asks nothing for %j', async (words, code) => {
    const run = await transcript(['audit', 'list', ...words, '--json'], log(1));
    expect(run).toMatchObject({ exit: 2, asked: [], json: { error: { code } } });
  });

  it('keeps the newest of --last', async () => {
    expect(seqs((await transcript(['audit', 'list', '--last', '2', '--json'], log(1_001))).json)).toEqual([
      1_000, 1_001,
    ]);
    expect(seqs((await transcript(['audit', 'list', '--last', '5', '--json'], log(2))).json)).toEqual([1, 2]);
  });

  it('does not turn in circles on a hub that ignores the cursor', async () => {
    const run = await transcript(['audit', 'list', '--json'], {
      answers: { listAudit: { records: auditRecords(1, 500) } },
    });
    expect(run.asked).toHaveLength(2);
  });

  it('marks actors that are declared, and shows nothing that a terminal obeys', async () => {
    const { stdout } = await transcript(['audit', 'list'], log(2));
    expect(stdout).toMatch(/ 1 +2026-11-29T12:00:01Z +ada\? +pin_approved /);
    expect(stdout).toContain('note=a<1b>[2Jb');
    expect(stdout).toContain('hosts=["a","b"]');
    expect(stdout).toContain('new=9f8e7d6c… ');
    expect(stdout).toContain('declared, not verified');
  });
});

describe('rollcall agent', () => {
  function fakeAgent() {
    const given: unknown[] = [];
    const agent: AgentPackage = {
      runAgent: async (options) => {
        given.push(options);
      },
      readAgentStatus: async (stateDir) => {
        given.push(stateDir);
        return agentStatus;
      },
      examineAgent: () => Promise.reject(new Error('not asked for')),
      reloadAgent: () => Promise.reject(new Error('not asked for')),
      probeAgent: () => Promise.reject(new Error('not asked for')),
      resetWrapKey: () => Promise.reject(new Error('not asked for')),
    };
    return { given, parts: { '@rollcall/agent': async () => agent } };
  }

  it('start hands its options over, --hub among them, and none of the environment', async () => {
    const { given, parts } = fakeAgent();
    const words = [
      'agent',
      'start',
      '--state',
      '/s',
      '--hub',
      'https://hub:7443',
      '--host',
      'agent-9',
      '--hub-root-file',
      'r',
      '--master-file',
      'm',
      '--life',
      '3',
    ];
    const run = await transcript(words, { parts });
    expect(run).toMatchObject({ exit: 0, stdout: 'The agent has stopped.\n' });
    expect(given).toEqual([
      { stateDir: '/s', hub: 'https://hub:7443', host: 'agent-9', hubRootFile: 'r', masterFile: 'm', life: 3 },
    ]);
    const enrolled = fakeAgent();
    await transcript(['agent', 'start', '--state', '/s', '--enrol', '-', '--log-level', 'debug'], enrolled);
    expect(enrolled.given).toEqual([{ stateDir: '/s', enrol: '-', logLevel: 'debug' }]);
  });

  it('status shows the fingerprint whole, for a person who types it', async () => {
    const { given, parts } = fakeAgent();
    const { exit, stdout } = await transcript(['agent', 'status', '--state', '/s'], { parts });
    expect(exit).toBe(0);
    expect(given).toEqual(['/s']);
    expect(stdout).toContain(PINNED);
    expect(stdout).toContain('NOT reachable, last answer 1 min ago');
    expect(stdout).toContain('pin_contested');
    expect(stdout.split('\n').filter((line) => [...line].length > 80)).toEqual([]);
    expect((await transcript(['agent', 'status', '--state', '/s', '--json'], { parts })).json).toEqual(agentStatus);
  });

  it('start takes an address to listen on', async () => {
    const { given, parts } = fakeAgent();
    await transcript(['agent', 'start', '--state', '/s', '--listen', '0.0.0.0:7444'], { parts });
    expect(given).toEqual([{ stateDir: '/s', listen: '0.0.0.0:7444' }]);
  });

  it.each([
    [{ open: true, address: '0.0.0.0:7444', reason: null }, /open on 0\.0\.0\.0:7444/],
    [{ open: false, address: '0.0.0.0:7444', reason: 'listener_unconfirmed' }, /CLOSED, for .*: listener_unconfirmed/],
  ])('status shows tokens by version, and the listener: %j', async (listener, shown) => {
    const tokens = [{ secret: 'api', accepts: [3, 4], presents: 4 }];
    const agent = { readAgentStatus: async () => ({ ...agentStatus, tokens, listener }) } as unknown as AgentPackage;
    const parts = { '@rollcall/agent': async () => agent };
    const { stdout } = await transcript(['agent', 'status', '--state', '/s'], { parts });
    expect(stdout).toContain('api: takes 3 and 4, presents 4');
    expect(stdout).toMatch(shown);
  });
});

describe('rollcall agent probe', () => {
  const report = { secret: 'api', step: 4, takes: [2], refuses: [], randomRefused: true, at: '2026-11-30T03:00:00Z' };

  it.each([
    ['nothing is wrong', [{ ...report, passed: true }], 0],
    [
      'one fails',
      [
        { ...report, passed: true },
        { ...report, secret: 'other', takes: [], passed: false },
      ],
      3,
    ],
    ['a random value is taken', [{ ...report, randomRefused: false, passed: false }], 3],
    ['there is nothing to probe: a pass over nothing is none', [], 3],
  ])('shows what the listener did, and how it ends when %s', async (_, probes, exit) => {
    const answer = { address: '127.0.0.1:7444', probes };
    const agent = { probeAgent: () => Promise.resolve(answer) } as unknown as AgentPackage;
    const parts = { '@rollcall/agent': async () => agent };
    const run = await transcript(['agent', 'probe', '--state', '/s'], { parts });
    expect(run.exit).toBe(exit);
    expect(run.stdout).toContain('127.0.0.1:7444');
    for (const { secret, passed } of probes)
      expect(run.stdout).toMatch(new RegExp(`${secret}.*${passed ? 'passed' : 'FAILED'}`));
    expect((await transcript(['agent', 'probe', '--state', '/s', '--json'], { parts })).json).toMatchObject(answer);
  });
});

describe('rollcall demo', () => {
  it('hands over, and exits as the demo does', async () => {
    const given: unknown[] = [];
    const demo = async () => ({
      runDemo: async (options: unknown) => {
        given.push(options);
        return 1;
      },
    });
    const run = await transcript(['demo', '--once', '--hosts', '8', '--dir', '/d', '--port', '0'], { parts: { demo } });
    expect(run).toMatchObject({ exit: 1, stdout: '', stderr: '' });
    expect(given).toEqual([{ once: true, json: false, hosts: 8, dir: '/d', port: 0 }]);
  });
});
