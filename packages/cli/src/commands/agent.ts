/** `rollcall agent`: the daemon on a host. */
import { RollcallError } from '@rollcall/core/errors';
import { parseHostId } from '@rollcall/core/keys';
import {
  type AgentConfig,
  type AgentProbeAnswer,
  type AgentStatusAnswer,
  assertAgentConfig,
  readAgentConfig,
} from '@rollcall/wire';
import { configOption, given, readConfigSource } from '../config-source.ts';
import { type AgentPackage, type LogLevel, loadAgent } from '../optional-package.ts';
import { formatAge } from '../output/age.ts';
import { formatFields, indented, type View, wrap } from '../output/page.ts';
import { printable } from '../output/printable.ts';
import { sinkFields } from '../output/sinks.ts';
import { type Cell, formatTable } from '../output/table.ts';
import { usageError } from '../usage-error.ts';
import { type Context, defineVerb, type Noun, yesOption } from '../verb.ts';

interface StartOptions {
  readonly config?: string;
  readonly state?: string;
  readonly enrol?: string;
  readonly hub?: string;
  readonly host?: string;
  readonly hubRootFile?: string;
  readonly masterFile?: string;
  readonly life?: string;
  readonly listen?: string;
  readonly logLevel?: LogLevel;
}

const stateOption = { flags: '--state <dir>', description: 'state directory of the agent', required: true };

const start = defineVerb<StartOptions>({
  usage: 'start',
  summary: 'Run the agent until SIGTERM or Ctrl-C; its log goes to standard error',
  examples: [
    'rollcall agent start --state /var/lib/rollcall-agent --enrol /run/token',
    'rollcall agent start --state /var/lib/rollcall-agent      (every later start)',
    'rollcall agent start --state /var/lib/rollcall-agent --hub https://HUB:7443 \\',
    '    --host agent-9 --hub-root-file hub-root.json --master-file master',
    'rollcall agent start --config /etc/rollcall/agent.yaml',
  ],
  options: [
    configOption,
    { flags: '--state <dir>', description: 'state directory of the agent' },
    { flags: '--enrol <file>', description: 'enrolment token; - for standard input' },
    { flags: '--hub <url>', description: 'address of the hub, for a host of an older fleet' },
    { flags: '--host <id>', description: 'its id on the roll' },
    { flags: '--hub-root-file <file>', description: 'what `rollcall hub status` prints' },
    { flags: '--master-file <file>', description: 'the secret that it derives its keys from' },
    { flags: '--life <n>', description: 'its life, as `rollcall host add` prints it (1)' },
    { flags: '--listen <host:port>', description: 'where the hub and holders of a shared token reach this host' },
    { flags: '--log-level <level>', description: 'what to log', choices: ['debug', 'info', 'warn', 'error', 'silent'] },
  ],
  run: async (context, _args, options) => {
    const agent = await loadAgent(context.io);
    const read = () => readOptions(context, options);
    const reload = options.config === undefined ? {} : { reload: read };
    await agent.runAgent({ ...(await read()), ...reload });
    return { json: { stopped: true }, text: ['The agent has stopped.'] };
  },
});

const status = defineVerb<{ readonly state: string }>({
  usage: 'status',
  summary: 'Show what the agent on this host says: its fingerprint, what it holds, what is wrong',
  examples: ['rollcall agent status --state /var/lib/rollcall-agent'],
  options: [stateOption],
  run: async (context, _args, { state }) => {
    const agent = await loadAgent(context.io);
    const answer = await agent.readAgentStatus(state);
    return { json: answer, text: formatStatus(answer, context.view) };
  },
});

const reload = defineVerb<{ readonly state: string }>({
  usage: 'reload',
  summary: 'Let the running agent read its configuration again; a bad one changes nothing',
  examples: ['rollcall agent reload --state /var/lib/rollcall-agent'],
  options: [stateOption],
  run: async (context, _args, { state }) => {
    const agent = await loadAgent(context.io);
    const answer = await agent.reloadAgent(state);
    const changed = answer.changed.length === 0 ? 'Nothing has changed.' : `Taken: ${answer.changed.join(', ')}.`;
    const waiting = answer.needRestart.length === 0 ? [] : [`After a restart: ${answer.needRestart.join(', ')}.`];
    return { json: answer, text: [changed, ...waiting] };
  },
});

const probe = defineVerb<{ readonly state: string }>({
  usage: 'probe',
  summary:
    'Let the agent present to its own listener what it is to take, and what it is not; exit 3 when it does otherwise',
  examples: ['rollcall agent probe --state /var/lib/rollcall-agent'],
  options: [stateOption],
  run: async (context, _args, { state }) => {
    const agent = await loadAgent(context.io);
    const answer = await agent.probeAgent(state);
    const result = { json: answer, text: formatProbes(answer, context.view) };
    if (!answer.probes.every(({ passed }) => passed)) {
      return { ...result, exit: 3, failure: new RollcallError('probe_failed') };
    }
    // A pass over nothing is none.
    return answer.probes.length === 0 ? { ...result, exit: 3 } : result;
  },
});

const resetWrapKey = defineVerb<{ readonly state: string; readonly yes?: boolean }>({
  usage: 'reset-wrap-key',
  summary: 'Give a stopped agent another wrap key; the hub takes it when an operator approves it',
  examples: ['rollcall agent reset-wrap-key --state /var/lib/rollcall-agent'],
  options: [stateOption, yesOption],
  run: async (context, _args, { state, yes }) => {
    const agent = await loadAgent(context.io);
    await context.confirm(
      `Make another wrap key in ${state}? Until it is approved on the hub, this host opens nothing new.`,
      yes === undefined ? {} : { yes },
    );
    const answer = await agent.resetWrapKey(state);
    return { json: answer, text: formatReset(answer, context.view) };
  },
});

export const agentNoun: Noun = {
  name: 'agent',
  summary: 'The daemon on a host',
  verbs: [start, status, reload, probe, resetWrapKey],
};

/** Flags over environment over file; contradictions are looked for in what comes of it. */
async function readOptions(
  context: Context,
  options: StartOptions,
): Promise<AgentConfig & { readonly stateDir: string }> {
  const { state, enrol, hub, host, hubRootFile, masterFile, life, listen, logLevel } = options;
  const config: AgentConfig = {
    ...readAgentConfig(await readConfigSource(context, options.config), context.io.env),
    ...given({
      stateDir: state,
      enrol,
      hub,
      host: host === undefined ? undefined : parseHostId(host),
      hubRootFile,
      masterFile,
      life: life === undefined ? undefined : wholeLife(life),
      listen,
      logLevel,
    }),
  };
  assertAgentConfig(config);
  const { stateDir } = config;
  if (stateDir === undefined)
    throw usageError('an agent needs its state directory', 'Name it: --state DIR, or `state:` in the file.');
  return { ...config, stateDir };
}

function wholeLife(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw usageError('--life takes a whole number from 1 on', '`rollcall host show HOST` prints it.');
}

function formatStatus(answer: AgentStatusAnswer, view: View): string[] {
  const { style } = view;
  const held = Object.entries(answer.held).map(([secret, at]) => `${secret} at ${at.epoch}.${at.step}`);
  const beats = Object.entries(answer.heartbeats).map(([result, n]) => `${n} ${result}`);
  const { presents } = answer;
  const fields: [string, Cell][] = [
    ['fingerprint', answer.fingerprint],
    ['life', answer.life === null ? 'unknown' : String(answer.life)],
    [
      'hub',
      answer.hubReachable
        ? { text: `reachable, last answer ${formatAge(answer.lastAnswerAt, view.nowMs)}`, paint: style.good }
        : { text: `NOT reachable, last answer ${formatAge(answer.lastAnswerAt, view.nowMs)}`, paint: style.bad },
    ],
    ['pin', { text: answer.pin ?? 'unknown', paint: answer.pin === 'pinned' ? style.good : style.warn }],
    ['holds', held.join(', ') || 'nothing yet'],
    [
      'presents',
      presents === null
        ? 'nothing'
        : `${presents.secret}${presents.version === null ? '' : ` version ${presents.version}`}`,
    ],
    ['heartbeats', beats.join(', ') || 'none yet'],
    ...(answer.tokens ?? []).map(({ secret, accepts, presents: version }): [string, Cell] => [
      'token',
      `${secret}: takes ${accepts.join(' and ')}, presents ${version}`,
    ]),
    ...formatListener(answer.listener, view),
    ...sinkFields(answer.sinks, view),
  ];
  return [
    style.bold(printable(answer.host)),
    ...formatFields(fields, view),
    ...(answer.problems.length === 0 ? [] : ['', 'What is wrong:']),
    ...answer.problems.flatMap((problem) => [
      `  ${style.bad(printable(problem.code))}`,
      ...indented(problem.hint, view, 4),
    ]),
  ];
}

function formatListener(listener: AgentStatusAnswer['listener'], { style }: View): [string, Cell][] {
  if (listener === undefined || listener.address === null) return [];
  const { open, address, reason } = listener;
  return [
    [
      'listener',
      open
        ? { text: `open on ${address}`, paint: style.good }
        : { text: `CLOSED, for ${address}: ${reason ?? 'not opened yet'}`, paint: style.bad },
    ],
  ];
}

function formatProbes({ address, probes }: AgentProbeAnswer, view: View): string[] {
  if (probes.length === 0) return [`Nothing to probe at ${address}: this host holds no shared token.`];
  const { style } = view;
  const rows = probes.map(({ secret, step, takes, refuses, randomRefused, passed }) => ({
    cells: [
      secret,
      String(step),
      takes.join(', ') || 'nothing',
      refuses.join(', ') || 'none',
      randomRefused ? 'refused' : { text: 'TAKEN', paint: style.bad },
      passed ? { text: 'passed', paint: style.good } : { text: 'FAILED', paint: style.bad },
    ],
  }));
  return [`Probed at ${address}:`, ...formatTable(probeColumns, rows, view.width)];
}

const probeColumns = [
  { title: 'SECRET', elastic: 12 },
  { title: 'STEP', align: 'right' },
  { title: 'TAKES' },
  { title: 'REFUSES' },
  { title: 'RANDOM' },
  { title: 'RESULT' },
] as const;

function formatReset(answer: Awaited<ReturnType<AgentPackage['resetWrapKey']>>, view: View): string[] {
  const { host, former, fingerprint, keptAs } = answer;
  return [
    `${view.style.bold(printable(host))} has another wrap key.`,
    ...formatFields(
      [
        ['new', fingerprint],
        ['former', former],
        ['kept as', keptAs],
      ],
      view,
    ),
    ...wrap(
      'What it holds stays in force. Once the agent runs, the hub shows the new key as pending, and goes on sealing to the former one, which this host opens no more. On the hub:',
      view.width,
    ),
    `  rollcall pin approve ${printable(host)} --fingerprint FULL`,
    ...wrap('Remove the kept file when that is done: the former key is in it.', view.width),
  ];
}
