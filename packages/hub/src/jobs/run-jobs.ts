/** What the hub does by itself, at its own pace: rotation steps, the flush of liveness, the floor of the clock. */
import { limits } from '@rollcall/core/limits';
import type { Clock } from '@rollcall/core/ports';
import type { Hub } from '../hub.ts';
import { stepRotation } from '../operations/rotation/step.ts';
import { flushDirtyLiveness } from './flush-liveness.ts';

export interface Jobs {
  /** Runs the rotation job soon, rather than at its next turn. */
  nudge(): void;
  /** Whether every job ended a round lately. */
  areAlive(): boolean;
  /** Ends the jobs after their current round, and flushes a last time. */
  stop(): Promise<void>;
}

export function runJobs(hub: Hub, clock: Clock): Jobs {
  const liveness = loop(hub, clock, 'liveness', async () => {
    await flushDirtyLiveness(hub);
    return limits.livenessFlushMs;
  });
  // Also how the hub comes back by itself after a store that could not be read (I8).
  const generations = loop(hub, clock, 'generations', async () => {
    await hub.generations.reload();
    return limits.storePollMs;
  });
  const rotation = loop(hub, clock, 'rotation', async () => {
    const startedAt = clock.monotonic();
    const changed = await stepRotation(hub);
    if (changed) return 0;
    // A pass over a large roll costs; it must not become what the hub mainly does.
    return Math.max(limits.rotationStepMs, 20 * (clock.monotonic() - startedAt));
  });
  const loops = [liveness, generations, rotation];
  return {
    nudge: () => rotation.wake(),
    areAlive: () => loops.every((job) => clock.monotonic() - job.lastRoundAt() < limits.jobSilentMs),
    stop: async () => {
      await Promise.all(loops.map((job) => job.stop()));
      await flushDirtyLiveness(hub);
    },
  };
}

interface Loop {
  /** The next round is soon; one that is on its way is followed by another, since it may have looked before. */
  wake(): void;
  lastRoundAt(): number;
  /** Ends after the round that is on its way. */
  stop(): Promise<void>;
}

/** `round` returns how long to wait. One that fails is logged, and tried again at the usual pace. */
function loop(hub: Hub, clock: Clock, name: string, round: () => Promise<number>): Loop {
  let lastRoundAt = clock.monotonic();
  let isStopped = false;
  let nap = new AbortController();
  const run = async () => {
    while (!isStopped) {
      nap = new AbortController();
      const waitMs = await attempt(hub, name, round);
      if (waitMs !== null) lastRoundAt = clock.monotonic();
      await clock.sleep(waitMs ?? limits.rotationStepMs, nap.signal);
    }
  };
  const ended = run();
  return {
    wake: () => nap.abort(),
    lastRoundAt: () => lastRoundAt,
    stop: () => {
      isStopped = true;
      nap.abort();
      return ended;
    },
  };
}

async function attempt(hub: Hub, name: string, round: () => Promise<number>): Promise<number | null> {
  try {
    return await round();
  } catch (error) {
    hub.log.error('a job failed', { job: name, code: (error as { code?: string }).code ?? 'internal' });
    return null;
  }
}
