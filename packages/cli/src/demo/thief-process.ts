/** The thief as the demo holds it: a child process that does as it is told, and a deadline for each act. */
import { fileURLToPath } from 'node:url';
import type { Clock } from '@rollcall/core/ports';
import type { OwnProcess, OwnProcesses } from '../adapters/child-processes.ts';
import type { ActName, Answer, Ask, ThiefMessage, ThiefRequest } from './thief/messages.ts';

export interface Thief {
  readonly process: OwnProcess;
  /** Where the network that the thief owns is entered. */
  readonly networkPort: number;
  act<Act extends ActName>(act: Act, ask: Ask<Act>): Promise<Answer<Act>>;
}

const ACT_MS = 10_000;

export async function startThief(at: {
  readonly processes: OwnProcesses;
  readonly clock: Clock;
  readonly hub: string;
  readonly masterFile: string;
  readonly logFile: string;
}): Promise<Thief> {
  const { processes, clock, hub, masterFile, logFile } = at;
  const waiting = new Map<number, (message: ThiefMessage) => void>();
  let lastId = 0;
  const child = processes.start({
    name: 'the thief',
    args: [fileURLToPath(new URL('./thief/main.js', import.meta.url)), hub, masterFile],
    logFile,
    onMessage: (received) => {
      const message = received as ThiefMessage;
      const id = 'id' in message ? message.id : 0;
      waiting.get(id)?.(message);
      waiting.delete(id);
    },
  });
  const reply = (id: number): Promise<ThiefMessage> =>
    new Promise((resolve, reject) => {
      const cancel = clock.after(ACT_MS, () => reject(new Error('the thief does not answer')));
      waiting.set(id, (message) => {
        cancel();
        resolve(message);
      });
    });
  const ready = await reply(0);
  return {
    process: child,
    networkPort: 'networkPort' in ready ? ready.networkPort : 0,
    act: async (act, ask) => {
      lastId += 1;
      const answered = reply(lastId);
      child.send({ id: lastId, act, ask } satisfies ThiefRequest);
      const message = await answered;
      if ('answer' in message) return message.answer as Answer<typeof act>;
      throw new Error(`the thief could not ${act}: ${'failure' in message ? message.failure : 'no reason given'}`);
    },
  };
}
