/**
 * What an agent does with deliveries that reach it, seen without TLS in between: the loop that ships, over a copy of a
 * real agent's state on the disk, answered by this process in place of a hub.
 */
import { utf8 } from '@rollcall/core/bytes';
import type { Log, Random, Transport } from '@rollcall/core/ports';
import type { Envelope } from '@rollcall/core/seal';
import type { Io } from '../ports.ts';

export interface Taken {
  /** `taken`, or the code of the refusal. */
  readonly outcome: string;
  /** The step of the master that the state on the disk holds afterwards. */
  readonly step: number;
}

const silentLog: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** Hands over one envelope with each answer, in order, and says what became of each. */
export async function handOver(at: {
  readonly io: Io;
  readonly random: Random;
  readonly uid: number;
  /** A copy: the agent it comes from must not share it. */
  readonly stateDirectory: string;
  readonly envelopes: readonly Envelope[];
}): Promise<readonly Taken[]> {
  const { io, random, uid, stateDirectory: directory, envelopes } = at;
  const agent = await import('@rollcall/agent');
  const place = { files: agent.systemFiles, directory, uid };
  const loaded = await agent.loadState(place);
  if (loaded === undefined) throw new TypeError('demo: the copy holds no state');
  const initial = agent.decideStart(loaded.state, {}, random);
  const outcomes: Taken[] = [];
  const ended = new AbortController();
  let state = initial;
  let sent = 0;

  const observe = async () => {
    const written = await agent.loadState(place);
    const refusal = state.refused.get('master')?.reason;
    outcomes.push({ outcome: refusal ?? 'taken', step: written?.state.assignments.get('master')?.step ?? 0 });
  };
  const transport: Transport = {
    // A request is made once the answer before has been dealt with, disk included.
    request: async () => {
      if (sent > 0) await observe();
      const envelope = envelopes[sent];
      sent += 1;
      if (envelope === undefined) ended.abort();
      return { status: 200, headers: {}, body: utf8(answerWith(io.clock.now(), envelope)) };
    },
  };
  await agent.runLoop(
    {
      clock: io.clock,
      random,
      transport,
      log: silentLog,
      persist: agent.createPersist(agent.systemFiles, directory, loaded.inForce),
    },
    initial,
    {
      signal: ended.signal,
      onState: (next) => {
        state = next;
      },
    },
  );
  return outcomes;
}

function answerWith(nowMs: number, envelope: Envelope | undefined): string {
  return JSON.stringify({
    time: new Date(nowMs).toISOString(),
    nextBeatMs: 100,
    pin: { state: 'pinned' },
    deliveries: envelope === undefined ? [] : [envelope],
    statements: [],
  });
}

/** The same envelope with one bit of what is sealed in it changed. */
export function flipped(envelope: Envelope): Envelope {
  const { ct } = envelope;
  return { ...envelope, ct: (ct.startsWith('A') ? 'B' : 'A') + ct.slice(1) };
}
