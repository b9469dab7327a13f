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

/** Over all verifiers: how many requests came to anything, and how many of these to anything but being let in. */
export function sumOf(calls: Calls): { readonly answered: number; readonly refused: number } {
  let [answered, refused] = [0, 0];
  for (const results of Object.values(calls)) {
    for (const [result, n] of Object.entries(results)) {
      if (result === 'unanswered') continue;
      answered += n;
      if (result !== 'taken') refused += n;
    }
  }
  return { answered, refused };
}
