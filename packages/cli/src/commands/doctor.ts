/** `rollcall doctor`: what is wrong with a hub or an agent on this machine, each finding with the command that mends it. */
import { isRollcallError } from '@rollcall/core/errors';
import {
  type AgentConfig,
  assertAgentConfig,
  assertHubConfig,
  type Examination,
  type Finding,
  type HubConfig,
  readAgentConfig,
  readHubConfig,
  shellWord,
} from '@rollcall/wire';
import { given, readConfigSource } from '../config-source.ts';
import { loadAgent, loadHub } from '../optional-package.ts';
import { countOf, firstOf, indented, type View, wrap } from '../output/page.ts';
import { printable } from '../output/printable.ts';
import { usageError } from '../usage-error.ts';
import { type Context, defineVerb, type Verb } from '../verb.ts';

interface DoctorOptions {
  readonly dir?: string;
  readonly kekFile?: string;
  readonly state?: string;
  readonly config?: string;
}

/** What there is to look at, from flags and a configuration. */
interface Subject {
  readonly hub?: HubConfig;
  readonly agent?: AgentConfig;
  readonly findings: readonly Finding[];
}

export const doctorVerb: Verb = defineVerb<DoctorOptions>({
  usage: 'doctor',
  summary: 'Look for what is wrong here, changing nothing; exits 3 with findings, each with its remedy',
  examples: [
    'rollcall doctor --dir /var/lib/rollcall',
    'rollcall doctor --state /var/lib/rollcall-agent',
    'rollcall doctor --config /etc/rollcall/hub.yaml',
  ],
  options: [
    { flags: '--dir <dir>', description: 'data directory of a hub' },
    { flags: '--kek-file <file>', description: 'its key-encryption key, where it is not beside the directory' },
    { flags: '--state <dir>', description: 'state directory of an agent' },
    { flags: '--config <file>', description: 'configuration of a hub or an agent, which is looked at too' },
  ],
  run: async (context, _args, options) => {
    const subject = await readSubject(context, options);
    const examined: Examination[] = [];
    if (subject.hub?.dir !== undefined) {
      const hub = await loadHub(context.io);
      examined.push(await hub.examineHub({ dir: subject.hub.dir, kekFile: subject.hub.kekFile }));
    }
    if (subject.agent?.stateDir !== undefined) examined.push(await examineAgent(context, subject.agent));
    const findings = [...subject.findings, ...examined.flatMap((each) => each.findings)];
    return {
      json: { findings, examined: examined.map(({ part, place, isRunning }) => ({ part, place, isRunning })) },
      text: [
        ...formatConfig(subject, options, context.view),
        ...examined.flatMap((each) => formatExamination(each, context.view)),
      ],
      exit: findings.length === 0 ? 0 : 3,
    };
  },
});

async function readSubject(context: Context, options: DoctorOptions): Promise<Subject> {
  const { dir, kekFile, state, config: file } = options;
  if (dir === undefined && state === undefined && file === undefined)
    throw usageError(
      'nothing is named to look at',
      'Name it: --dir DIR for a hub, --state DIR for an agent, or --config FILE.',
    );
  const source = await readConfigSource(context, file);
  const isOfAgent =
    source !== undefined && /^(?:state|enrol|hub_url|host|master_file|hub_root_file)\s*:/m.test(source.text);
  const findings: Finding[] = [];
  const hub: HubConfig = {
    ...(isOfAgent ? {} : read(() => readHubConfig(source, {}), file, findings)),
    ...given({ dir, kekFile }),
  };
  const agent: AgentConfig = {
    ...(isOfAgent ? read(() => readAgentConfig(source, {}), file, findings) : {}),
    ...given({ stateDir: state }),
  };
  // A file was judged where it was read; with flags over it, what comes of both is.
  if (findings.length === 0) {
    read(() => assertHubConfig(hub), file, findings);
    read(() => assertAgentConfig(agent), file, findings);
  }
  return { hub, agent, findings };
}

/** Every problem of a configuration is a finding of its own. */
function read<T>(act: () => T, file: string | undefined, findings: Finding[]): T | undefined {
  try {
    return act();
  } catch (error) {
    if (!isRollcallError(error, 'config_invalid')) throw error;
    for (const problem of [error.details['problems'] ?? []].flat()) {
      const [, line] = /:(\d+): /.exec(String(problem)) ?? [];
      const remedy =
        file === undefined
          ? 'rollcall hub start --help'
          : `\${EDITOR:-vi}${line === undefined ? '' : ` +${line}`} ${shellWord(file)}`;
      findings.push({ code: 'config_invalid', about: file ?? 'the command line', text: String(problem), remedy });
    }
    return undefined;
  }
}

async function examineAgent(context: Context, config: AgentConfig): Promise<Examination> {
  const { stateDir = '', enrol, masterFile, hubRootFile, hub, sinks } = config;
  const files = [
    { key: 'enrol' as const, path: enrol },
    { key: 'master_file' as const, path: masterFile },
    { key: 'hub_root_file' as const, path: hubRootFile },
  ].flatMap(({ key, path }) => (path === undefined ? [] : [{ key, path }]));
  const agent = await loadAgent(context.io);
  return agent.examineAgent({ stateDir, given: files, ...given({ sinks, hub }) });
}

function formatConfig({ findings }: Subject, { config }: DoctorOptions, view: View): string[] {
  if (config === undefined) return [];
  return [
    headline(`configuration ${config}`, findings.length, view),
    ...findings.flatMap((finding) => formatFinding(finding, view)),
  ];
}

function formatExamination(examined: Examination, view: View): string[] {
  const { part, place, isRunning, findings, decidedRungs = [] } = examined;
  // One that another user runs cannot be asked either: no answer is all that is known.
  const how = isRunning ? 'running' : 'it does not answer, so its files alone were looked at';
  return [
    headline(`${part} in ${place} (${how})`, findings.length, view),
    ...findings.flatMap((finding) => formatFinding(finding, view)),
    ...firstOf(decidedRungs, ({ whose, rung, accepted, reason }) => {
      const verdict = accepted === null ? 'unreadable' : accepted ? 'accepted' : 'refused';
      return indented(`${rung} is ${verdict} of ${whose}: ${reason}`, view, 2);
    }),
  ];
}

function headline(what: string, count: number, { style, width }: View): string {
  const verdict = count === 0 ? style.good('nothing found') : style.bad(countOf(count, 'finding'));
  const text = printable(what);
  return text.length + 17 > width ? [...wrap(`${text}:`, width), `  ${verdict}`].join('\n') : `${text}: ${verdict}`;
}

function formatFinding({ code, about, text, remedy }: Finding, view: View): string[] {
  return [
    `  ${view.style.bad(code)}`,
    ...indented(about, view, 4),
    ...indented(text, view, 4),
    // To be copied: never broken.
    `    $ ${printable(remedy)}`,
  ];
}
