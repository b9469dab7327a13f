/** A caller as the demo holds it: a child process that says after each round what it has counted. */
import { fileURLToPath } from 'node:url';
import type { OwnProcess, OwnProcesses } from '../adapters/child-processes.ts';
import type { CallerMessage, CallerTask, Calls } from './caller/messages.ts';

export interface Caller {
  readonly process: OwnProcess;
  /** What it said last. */
  calls(): Calls;
}

export function startCaller(processes: OwnProcesses, task: CallerTask, logFile: string): Caller {
  let calls: Calls = {};
  const child = processes.start({
    name: task.name,
    args: [fileURLToPath(new URL('./caller/main.js', import.meta.url))],
    logFile,
    onMessage: (message) => {
      ({ calls } = message as CallerMessage);
    },
  });
  child.send(task);
  return { process: child, calls: () => calls };
}

export interface Sum {
  /** How many requests came to anything. */
  readonly answered: number;
  readonly taken: number;
  /** Each kind of answer but being let in, with who gave it and how often. */
  readonly refused: readonly string[];
}

/** Over all verifiers. */
export function sumOf(calls: Calls): Sum {
  let [answered, taken] = [0, 0];
  const refused: string[] = [];
  for (const [verifier, results] of Object.entries(calls)) {
    for (const [result, n] of Object.entries(results)) {
      if (result === 'unanswered') continue;
      answered += n;
      if (result === 'taken') taken += n;
      else refused.push(`${verifier}: ${result} (${n})`);
    }
  }
  return { answered, taken, refused };
}
