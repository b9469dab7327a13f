/** What a doctor says of token files for other programs: by the agent that runs, or by what lies at their paths while none does. */
import { type ErrorCode, errorTable } from '@rollcall/core/errors';
import { type Finding, type SinkStatus, shellWord } from '@rollcall/wire';
import type { GivenSink, ObservedAgent } from './observed-agent.ts';

export function judgeSinks({ directory, running, sinks = [], uid }: ObservedAgent): Finding[] {
  if (running !== null) return (running.sinks ?? []).flatMap((sink) => judgeRunningSink(sink, directory));
  return sinks.flatMap((sink) => judgeGivenSink(sink, uid));
}

function judgeRunningSink({ name, path, problem }: SinkStatus, directory: string): Finding[] {
  if (problem === null) return [];
  const text = Object.hasOwn(errorTable, problem) ? errorTable[problem as ErrorCode].text : problem;
  const remedy = remedies[problem]?.(path) ?? `rollcall agent status --state ${shellWord(directory)}`;
  return [{ code: problem, about: path, text: `${text} (sink ${name})`, remedy }];
}

/** The first step; the hint of the error in `agent status` says the rest. */
const remedies: Readonly<Record<string, (path: string) => string>> = {
  sink_in_the_way: (path) => `mv ${shellWord(path)} ${shellWord(`${path}.before`)}`,
  sink_drifted: (path) =>
    `ls -la ${shellWord(`${path}/`)}; rm ${shellWord(path)}  # the agent writes it anew within a minute`,
  sink_parent_missing: (path) => `mkdir -p ${shellWord(parentOf(path))}`,
  sink_parent_unsafe: (path) => `chmod go-w ${shellWord(parentOf(path))}; ls -ld ${shellWord(parentOf(path))}`,
  sink_disk_full: (path) => `df ${shellWord(parentOf(path))}`,
};

function judgeGivenSink({ name, path, kind, parent, isSticky }: GivenSink, uid: number): Finding[] {
  const finding = (problem: 'sink_in_the_way' | 'sink_parent_missing' | 'sink_parent_unsafe'): Finding[] => {
    const text = `${errorTable[problem].text} (sink ${name})`;
    return [{ code: problem, about: path, text, remedy: remedies[problem]?.(path) ?? '' }];
  };
  if (parent.state === 'absent') return finding('sink_parent_missing');
  if (parent.state === 'there' && (parent.mode & 0o022) !== 0 && !isSticky) return finding('sink_parent_unsafe');
  if (parent.state === 'there' && parent.uid !== 0 && parent.uid !== uid) return finding('sink_parent_unsafe');
  return kind === 'foreign' ? finding('sink_in_the_way') : [];
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf('/')));
}
