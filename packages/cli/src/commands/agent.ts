/** `rollcall agent`: the daemon on a host. */
import { parseHostId } from '@rollcall/core/keys';
import type { AgentStatusAnswer } from '@rollcall/wire';
import { type LogLevel, loadAgent } from '../optional-package.ts';
import { formatAge } from '../output/age.ts';
import { formatFields, indented, type View } from '../output/page.ts';
import { printable } from '../output/printable.ts';
import type { Cell } from '../output/table.ts';
import { usageError } from '../usage-error.ts';
import { defineVerb, type Noun } from '../verb.ts';

interface StartOptions {
  readonly state: string;
  readonly enrol?: string;
  readonly hub?: string;
  readonly host?: string;
  readonly hubRootFile?: string;
  readonly masterFile?: string;
  readonly life?: string;
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
  ],
  options: [
    stateOption,
    { flags: '--enrol <file>', description: 'enrolment token; - for standard input' },
    { flags: '--hub <url>', description: 'address of the hub, for a host of an older fleet' },
    { flags: '--host <id>', description: 'its id on the roll' },
    { flags: '--hub-root-file <file>', description: 'what `rollcall hub status` prints' },
    { flags: '--master-file <file>', description: 'the secret that it derives its keys from' },
    { flags: '--life <n>', description: 'its life, as `rollcall host add` prints it (1)' },
    { flags: '--log-level <level>', description: 'what to log', choices: ['debug', 'info', 'warn', 'error', 'silent'] },
  ],
  run: async (context, _args, options) => {
    const agent = await loadAgent(context.io);
    await agent.runAgent(startOptions(options));
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

export const agentNoun: Noun = { name: 'agent', summary: 'The daemon on a host', verbs: [start, status] };

function startOptions({ state, enrol, hub, host, hubRootFile, masterFile, life, logLevel }: StartOptions) {
  return {
    stateDir: state,
    ...(enrol === undefined ? {} : { enrol }),
    ...(hub === undefined ? {} : { hub }),
    ...(host === undefined ? {} : { host: parseHostId(host) }),
    ...(hubRootFile === undefined ? {} : { hubRootFile }),
    ...(masterFile === undefined ? {} : { masterFile }),
    ...(life === undefined ? {} : { life: wholeLife(life) }),
    ...(logLevel === undefined ? {} : { logLevel }),
  };
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
