/** A program that holds the fleet's shared token, a process of its own: `main.js`, and its task comes over its channel. */
import { readFile } from 'node:fs/promises';
import { nodeClock } from '../../adapters/node-clock.ts';
import type { CallerMessage, CallerTask, Calls } from './messages.ts';
import { presentToken, type Verifier } from './present-token.ts';

const counted: Record<string, Record<string, number>> = {};

process.on('disconnect', () => process.exit());
process.once('message', (task) => void callForEver(task as CallerTask));

async function callForEver(task: CallerTask): Promise<void> {
  for (;;) {
    for (const verifier of task.verifiers) await call(task, verifier);
    process.send?.({ calls: counted satisfies Calls } satisfies CallerMessage);
    await nodeClock.sleep(task.everyMs);
  }
}

async function call({ name, tokenFile, ca, localAddress }: CallerTask, verifier: Verifier): Promise<void> {
  const token = await readFile(tokenFile, 'utf8').catch(() => '');
  // Before there is a file there is nothing to send.
  if (token === '') return;
  const present = { token: token.trim(), ca, localAddress, userAgent: name };
  const result = await presentToken(verifier, present).then(toResult, () => 'unanswered');
  const results = counted[verifier.name] ?? {};
  counted[verifier.name] = results;
  results[result] = (results[result] ?? 0) + 1;
}

function toResult(status: number): string {
  if (status === 200) return 'taken';
  return status === 401 ? 'refused' : String(status);
}
