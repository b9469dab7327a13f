/** The processes of the demo: one hub, and an agent for each host, all started as an operator would start them. */
import { fileURLToPath } from 'node:url';
import type { AgentStatusAnswer, HostRow } from '@rollcall/wire';
import type { OwnProcess, OwnProcesses } from '../adapters/child-processes.ts';
import { loadAgent } from '../optional-package.ts';
import type { Io } from '../ports.ts';
import type { Narrator } from './narration.ts';
import { type Operator, shortened } from './operator.ts';

export interface Fleet {
  /** Runs one command of `rollcall` to its end, in a process of its own. */
  run(name: string, ...words: readonly string[]): Promise<string>;
  /** Starts one that stays, under a name. */
  start(name: string, ...words: readonly string[]): void;
  /** Takes one in that was started elsewhere: it is ended with the others, and missed as they are. */
  adopt(process: OwnProcess): void;
  /** One that was started. */
  process(name: string): OwnProcess;
  /** What the agent says on its own socket. */
  status(host: string): Promise<AgentStatusAnswer>;
  /** Names of the running ones, in the order of their start. */
  readonly all: ReadonlyMap<string, OwnProcess>;
}

export function createFleet(at: {
  readonly processes: OwnProcesses;
  readonly io: Io;
  readonly narrator: Narrator;
  readonly dir: string;
}): Fleet {
  const { processes, io, narrator, dir } = at;
  const program = fileURLToPath(new URL('../main.js', import.meta.url));
  const all = new Map<string, OwnProcess>();
  const spawn = (name: string, words: readonly string[], suffix: readonly string[]) => {
    narrator.command(['rollcall', ...words.map((word) => shortened(word, dir)), ...suffix]);
    return processes.start({ name, args: [program, ...words], logFile: `${dir}/logs/${name}.log` });
  };
  return {
    all,
    run: (name, ...words) => spawn(name, words, []).ended,
    start: (name, ...words) => {
      all.set(name, spawn(name, words, ['&']));
    },
    adopt: (process) => {
      all.set(process.name, process);
    },
    process: (name) => {
      const found = all.get(name);
      if (found === undefined) throw new TypeError(`demo: ${name} was not started`);
      return found;
    },
    status: async (host) => (await loadAgent(io)).readAgentStatus(`${dir}/hosts/${host}`),
  };
}

/** How the first process ended that should not have. */
export function lostProcess(processes: Iterable<OwnProcess>): string | undefined {
  for (const { name, end } of processes) {
    const how = end();
    if (how !== undefined) return `${name} ended: ${how}`;
  }
  return undefined;
}

export function stopAll(fleet: Fleet): Promise<unknown> {
  const hub = fleet.all.get('hub');
  const agents = [...fleet.all.values()].filter((process) => process !== hub);
  return Promise.all(agents.map((agent) => agent.stop())).then(() => hub?.stop());
}

/** The rows of these hosts, in this order. */
export async function rowsOf(operator: Operator, hosts: readonly string[]): Promise<readonly (HostRow | undefined)[]> {
  const { hosts: rows } = await operator.ask<{ hosts: readonly HostRow[] }>('host', 'list');
  return hosts.map((id) => rows.find((row) => row.id === id));
}
