import { errorTable } from '@rollcall/core/errors';
import type { RouteName } from '@rollcall/wire';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import * as given from './answers.fixture.ts';
import type { Answers } from './fake-operator.fixture.ts';
import { createProgram } from './program.ts';
import { at, transcript } from './transcript.fixture.ts';

const change = { host: given.LONG_ID, status: 'evicted' as const, life: 3, heldSecrets: ['master', 'ci-token'] };
const pinChange = {
  host: given.LONG_ID,
  effect: 'when_published',
  life: 3,
  pin: { fingerprint: given.PINNED, anchor: 'operator' as const },
};

const answers: Answers = {
  hubStatus: given.hubStatus,
  readiness: given.notReady,
  listHosts: { hosts: given.hosts },
  addHost: { host: given.LONG_ID, life: 1, token: given.TOKEN, expiresAt: at(3_600) },
  showHost: given.shownHost,
  importHosts: {
    rows: [
      { host: 'agent-1', outcome: 'would_add' },
      { host: given.LONG_ID, outcome: 'would_add' },
    ],
    added: 0,
    refused: 0,
  },
  suspendHost: { ...change, status: 'suspended' },
  resumeHost: { ...change, status: 'active' },
  unbanHost: change,
  reenrolHost: { host: given.LONG_ID, life: 2, token: given.TOKEN, expiresAt: at(3_600) },
  issueHostToken: { host: given.LONG_ID, life: 1, id: '00d1e2f3', token: given.HOST_TOKEN },
  dropHostToken: { id: '00d1e2f3', issuedAt: at(-60), seenAt: null },
  evictHost: change,
  removeHost: { ...change, status: 'removed' },
  listRungs: given.listedRungs,
  decideRung: { rung: 'fleet-token', accepted: false, decidedFor: 'fleet', reason: 'done', since: at(-5) },
  clearRung: { rung: 'fleet-token', accepted: true, decidedFor: 'nobody', reason: 'Open.', since: null },
  listPins: { pending: [given.pending, given.pendingBad], unreadable: ['agent-9'] },
  showPin: {
    host: given.LONG_ID,
    pin: { fingerprint: given.PINNED, anchor: 'first-use', since: at(-9_000), lastSeenAt: at(-600) },
    approved: given.NEW,
    pending: [given.pending],
    unreadable: [],
  },
  approvePin: pinChange,
  confirmPin: pinChange,
  rejectPin: pinChange,
  exposure: given.exposure,
  acceptFirstUse: given.accepted,
  listSecrets: { secrets: [given.secret] },
  showSecret: given.secret,
  changeHolders: given.secret,
  rollBackRotation: given.rolling,
  createSecret: given.secret,
  listRotations: { rotations: [given.leaked.rotation, given.done.rotation] },
  startRotation: given.leaked,
  showRotation: given.leaked,
  advanceRotation: given.openGate,
  retireRotation: given.done,
  pauseRotation: given.leaked,
  resumeRotation: given.rolling,
  leaveRotation: given.leaked,
  cutRotation: given.leaked,
  listOperators: { operators: [{ name: 'ada', role: 'admin', addedAt: at(-9_000) }] },
  addOperator: { name: 'ada', role: 'admin', token: given.OPERATOR_TOKEN },
  removeOperator: { name: 'ada', role: 'admin', addedAt: at(-9_000) },
  rotateOperatorToken: { name: 'ada', role: 'admin', token: given.OPERATOR_TOKEN },
  listAudit: { records: given.auditRecords(1, 3) },
};

/** One run of every verb that asks a hub, and what it asks. */
const runs: readonly [string, RouteName, number][] = [
  ['hub status', 'hubStatus', 0],
  ['hub readiness', 'readiness', 3],
  ['host add agent-7 --reach push --address 10.0.0.7:7444 --token-life 2h', 'addHost', 0],
  ['host list', 'listHosts', 0],
  ['host show agent-7', 'showHost', 0],
  ['host reenrol agent-7', 'reenrolHost', 0],
  ['host token agent-7', 'issueHostToken', 0],
  ['host drop-token agent-7 00d1e2f3 --yes', 'dropHostToken', 0],
  ['host evict agent-7 --yes', 'evictHost', 0],
  ['host remove agent-7 --yes', 'removeHost', 0],
  ['host import /fleet.csv --existing', 'importHosts', 0],
  ['host suspend agent-7', 'suspendHost', 0],
  ['host resume agent-7', 'resumeHost', 0],
  ['host unban agent-7', 'unbanHost', 0],
  ['rung list', 'listRungs', 0],
  ['rung accept fleet-token --reason yes', 'decideRung', 0],
  ['rung refuse fleet-token --reason no --leave agent-9', 'decideRung', 0],
  ['rung clear fleet-token --host agent-7 --reason gone', 'clearRung', 0],
  ['pin list', 'listPins', 0],
  ['pin show agent-7', 'showPin', 0],
  ['pin exposure', 'exposure', 0],
  ['pin accept-first-use on --until 24h --exposed 2', 'acceptFirstUse', 0],
  [`pin approve agent-7 --fingerprint ${given.NEW} --yes`, 'approvePin', 0],
  [`pin confirm agent-7 --fingerprint ${given.NEW}`, 'confirmPin', 0],
  [`pin reject agent-7 --fingerprint ${given.NEW}`, 'rejectPin', 0],
  ['secret create master', 'createSecret', 0],
  ['secret import master --file -', 'createSecret', 0],
  ['secret list', 'listSecrets', 0],
  ['secret show master', 'showSecret', 0],
  ['secret versions master', 'showSecret', 0],
  ['secret hold fleet-token agent-7 caller:cron', 'changeHolders', 0],
  ['secret release fleet-token agent-7', 'changeHolders', 0],
  ['rotation rollback fleet-token --reason no --yes', 'rollBackRotation', 0],
  ['rotation start master --reason leak --narrow-by 2h --leave agent-9', 'startRotation', 0],
  ['rotation list', 'listRotations', 0],
  ['rotation status master', 'showRotation', 0],
  ['rotation watch master --until rolling', 'showRotation', 0],
  ['rotation advance', 'advanceRotation', 0],
  ['rotation retire --yes', 'retireRotation', 0],
  ['rotation pause --reason freeze', 'pauseRotation', 0],
  ['rotation resume', 'resumeRotation', 0],
  ['rotation leave master agent-9 --reason gone', 'leaveRotation', 0],
  ['rotation cut --until 10m --leave agent-9 --yes', 'cutRotation', 0],
  ['operator add ada --role admin', 'addOperator', 0],
  ['operator list', 'listOperators', 0],
  ['operator remove ada --yes', 'removeOperator', 0],
  ['operator rotate-token ada', 'rotateOperatorToken', 0],
  ['audit list', 'listAudit', 0],
  ['audit list --action pin --since 24h --outcome refused', 'listAudit', 0],
];

const stdin = 'm'.repeat(48);
const files = { '/fleet.csv': { text: `host,reach,address\nagent-1,push,10.0.0.1:7444\n${given.LONG_ID},,\n` } };

const noOther = {
  examineAgent: () => Promise.reject(new Error('not asked for')),
  reloadAgent: () => Promise.reject(new Error('not asked for')),
  probeAgent: () => Promise.reject(new Error('not asked for')),
  resetWrapKey: () => Promise.reject(new Error('not asked for')),
};

/** Documents that are a part of the answer. */
const parts: Readonly<Record<string, unknown>> = {
  'secret show master': given.secret,
  'secret versions master': { versions: given.secret.versions },
};

describe.each(runs)('rollcall %s', (line, route, exit) => {
  const words = line.split(' ');

  it('asks what it is named for, and says who asks', async () => {
    const run = await transcript(words, { answers, stdin, files });
    expect(run).toMatchObject({ exit, asked: [{ route }] });
    expect(run.asked[0]?.headers).toMatchObject({ 'x-rollcall-actor': 'ada' });
  });

  it('fits 80 columns, in plain text', async () => {
    const { stdout, stderr } = await transcript(words, { answers, stdin, files });
    const lines = `${stdout}${stderr}`
      .split('\n')
      .filter((each) => each !== given.TOKEN && each !== given.OPERATOR_TOKEN);
    expect(lines.filter((each) => [...each].length > 80)).toEqual([]);
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    expect(stdout.trim()).not.toBe('');
  });

  it('fits 80 columns on a terminal too, in colour', async () => {
    const { stdout } = await transcript(words, { answers, stdin, files, terminal: [] });
    const shown = stdout
      .replace(/\u001b\[\d+m/g, '')
      .split('\n')
      .filter((each) => each !== given.TOKEN && each !== given.OPERATOR_TOKEN);
    expect(shown.filter((each) => [...each].length > 80)).toEqual([]);
  });

  it('prints the answer whole, as the one document of --json', async () => {
    const run = await transcript([...words, '--json'], { answers, stdin, files });
    expect(run).toMatchObject({ exit, json: parts[line] ?? answers[route] });
    const first = await transcript(['--json', ...words], { answers, stdin, files });
    expect(first.stdout).toBe(run.stdout);
  });

  it('says nothing but errors on standard error with --quiet', async () => {
    const { stderr } = await transcript([...words, '--quiet'], { answers, stdin, files });
    expect(stderr).toBe('');
  });

  it('fails as the hub says', async () => {
    const refusal = {
      status: 503,
      code: 'unavailable',
      title: 'The hub cannot answer.',
      hint: 'Wait for the database.',
      details: { store: 'pins' },
    };
    const refused = { [route]: { refusal } } as Answers;
    const run = await transcript(words, { answers: refused, stdin, files });
    expect(run).toMatchObject({ exit: 1, stdout: '' });
    expect(run.stderr).toContain(
      'unavailable: The hub cannot answer.\n  store  pins\n  hint   Wait for the database.\n',
    );
    const json = await transcript([...words, '--json'], { answers: refused, stdin, files });
    expect(json).toMatchObject({
      exit: 1,
      json: {
        error: {
          code: 'unavailable',
          message: 'The hub cannot answer.',
          hint: 'Wait for the database.',
          details: { store: 'pins' },
        },
      },
    });
  });
});

describe('help', () => {
  const program = createProgram(
    { ...({} as Parameters<typeof createProgram>[0]), version: '0.1.0' },
    async () => undefined,
  );
  const paths = pathsOf(program).map((path) => path.slice(1));

  it('covers every noun and verb of this release', () => {
    expect(paths.map((path) => path.join(' '))).toEqual(
      expect.arrayContaining([...new Set(runs.map(([line]) => line.split(' ').slice(0, 2).join(' ')))]),
    );
    expect(paths.map((path) => path.join(' '))).toEqual(
      expect.arrayContaining(['hub init', 'hub start', 'agent start', 'agent status', 'demo']),
    );
  });

  it.each(paths.filter((path) => path.length > 0))(
    'of %s %s fits 80 columns, and shows an example where it is a verb',
    async (...path) => {
      const words = path.filter((word) => word !== undefined);
      const { exit, stdout, stderr } = await transcript([...words, '--help']);
      expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
      expect(stdout.split('\n').filter((each) => [...each].length > 80)).toEqual([]);
      expect(stdout).toContain('--json');
      if (words.length === 2 || words[0] === 'demo') expect(stdout).toMatch(/\nExamples?:\n {2}rollcall /);
      expect((await transcript(['help', ...words])).stdout).toBe(stdout);
    },
  );

  it('says what the exit codes mean', async () => {
    expect((await transcript(['--help'])).stdout).toContain('0 done, 1 failed, 2 usage or configuration, 3 blocked');
  });

  it('explains --hub of an agent as the agent means it', async () => {
    expect((await transcript(['agent', 'start', '--help'])).stdout.match(/--hub </g)).toHaveLength(1);
  });

  it('prints the version', async () => {
    expect(await transcript(['--version'])).toMatchObject({ exit: 0, stdout: '0.1.0\n' });
  });
});

describe('a command line that does not fit together', () => {
  it.each([
    ['', 'a verb is missing', 'rollcall --help'],
    ['host', 'a verb is missing', 'rollcall host --help'],
    ['hots list', "unknown command 'hots' (Did you mean host?)", 'rollcall --help'],
    ['host lst', "unknown command 'lst' (Did you mean list?)", 'rollcall host --help'],
    ['host list --jsno', "unknown option '--jsno' (Did you mean --json?)", 'rollcall host list --help'],
    ['status', "unknown command 'status'", 'Is it `rollcall hub status` or `rollcall agent status`'],
    ['help hots', "unknown command 'hots'", 'See `rollcall --help`'],
    ['help host lst', "unknown command 'lst'", 'See `rollcall host --help`'],
    ['list', "unknown command 'list'", 'See `rollcall --help`'],
    ['host show', "missing required argument 'host'", 'rollcall host show --help'],
    ['host show a b', "too many arguments for 'show'", 'rollcall host show --help'],
    ['host add a --reach sideways', "argument 'sideways' is invalid", 'rollcall host add --help'],
    ['pin approve a', "required option '--fingerprint <full>' not specified", 'rollcall pin approve --help'],
    ['rotation watch --until latest', "argument 'latest' is invalid", 'rollcall rotation watch --help'],
    ['hub status --hub unix:/x --dir /y', '--dir and --hub both say', 'Give one of them'],
    ['audit list --last 0', '--last takes a whole number from 1 on', 'See --help'],
    ['audit list --last 5 --limit 5', 'exclude each other', 'See --help'],
    ['rotation start master --narrow-by 2h', '--narrow-by belongs to --reason leak', 'keeps its window'],
    ['pin accept-first-use on', 'on needs --until TIME and --exposed N', 'pin exposure'],
    ['pin accept-first-use off --exposed 2', 'belong to on', 'accept-first-use off'],
    ['pin accept-first-use perhaps', 'say on or off', '--until 24h --exposed N'],
    ['pin accept-first-use on --until 1h --exposed many', 'takes a whole number', 'pin exposure'],
    ['host add a --existing --token-life 1h', '--existing makes no token', 'Leave out'],
    ['host add a --reach push', '--reach push takes an address', 'Add --address HOST:PORT'],
    ['agent start --state s --life latest', '--life takes a whole number', 'host show'],
    ['secret create master --holders all', '--holders belongs to a shared token', 'Every host holds'],
    ['rotation start api --batch 0', '--batch takes a whole number from 1 on', 'See --help'],
    ['rotation start master --auto', '--auto and --batch belong to a shared token', 'rolls by itself'],
    ['rotation start master --batch 2', '--auto and --batch belong to a shared token', 'rolls by itself'],
    ['secret hold master agent-7', 'hold and release belong to a shared token', 'Every host holds'],
    ['secret release master agent-7', 'hold and release belong to a shared token', 'Every host holds'],
    ['demo --hosts 0', '--hosts takes a whole number', 'See --help'],
  ])('rollcall %s', async (line, reason, hint) => {
    const words = line.split(' ').filter((word) => word !== '');
    const agent = {
      '@rollcall/agent': async () => ({
        runAgent: async () => undefined,
        readAgentStatus: async () => given.agentStatus,
        ...noOther,
      }),
    };
    const demo = async () => ({ runDemo: async () => 0 });
    const options = { answers, parts: { ...agent, demo } };
    const run = await transcript(words, options);
    expect(run).toMatchObject({ exit: 2, stdout: '', asked: [] });
    expect(run.stderr.replace(/\n +/g, ' ')).toContain(reason);
    expect(run.stderr.replace(/\n +/g, ' ')).toContain(hint);
    // What stands between backquotes is never broken, and may be longer.
    const wide = run.stderr.split('\n').filter((each) => [...each].length > 80);
    expect(wide.filter((each) => !/^ *`[^`]+`\S*$/.test(each))).toEqual([]);
    const json = await transcript([...words, '--json'], options);
    expect(json).toMatchObject({ exit: 2, json: { error: { code: 'usage' } }, asked: [] });
  });

  it.each([
    ['host show -x-', 'malformed_host_id'],
    [`host show ${'x'.repeat(129)}`, 'malformed_host_id'],
    ['host show ../hosts', 'malformed_host_id'],
    ['host add agent_', 'malformed_host_id'],
    ['rotation start Master', 'malformed_secret_name'],
    ['rotation start master --leave ok no/t', 'malformed_member'],
    ['pin accept-first-use on --until tomorrow --exposed 1', 'malformed_time'],
    ['host add a --token-life 0s', 'malformed_time'],
    ['rotation watch --timeout latest', 'malformed_time'],
    ['host list --hub http://hub:7443', 'hub_address_unsupported'],
  ])('rollcall %s is %s', async (line, code) => {
    const words = line.replace('show -x-', 'show -- -x-').split(' ');
    const run = await transcript(words.includes('--') ? ['--json', ...words] : [...words, '--json'], { answers });
    expect(run).toMatchObject({ exit: 2, json: { error: { code } }, asked: [] });
  });

  it('names the option whose time it cannot read', async () => {
    const { json } = await transcript(['host', 'add', 'a', '--token-life', '1 hour', '--json'], { answers });
    expect(json).toMatchObject({ error: { details: { option: '--token-life' } } });
  });
});

describe('what is not a failure of the hub', () => {
  it('is internal, and does not repeat what it may not', async () => {
    const run = await transcript(['agent', 'status', '--state', 's', '--json'], {
      parts: {
        '@rollcall/agent': async () => ({
          runAgent: async () => undefined,
          readAgentStatus: () => Promise.reject(new Error('the secret is hunter2')),
          ...noOther,
        }),
      },
    });
    expect(run).toMatchObject({ exit: 1, json: { error: { code: 'internal' } } });
    expect(`${run.stdout}${run.stderr}`).not.toContain('hunter2');
  });

  it('has an exit code for every error that there is', () => {
    expect(Object.values(errorTable).every((row) => [1, 2, 3].includes(row.exit))).toBe(true);
  });
});

function pathsOf(command: Command): string[][] {
  return [
    [command.name()],
    ...command.commands.flatMap((each) => pathsOf(each).map((path) => [command.name(), ...path])),
  ];
}
