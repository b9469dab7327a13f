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
  const stopped = new AbortController();
  let nudged: () => void = () => undefined;
  const loops = [
    loop(hub, clock, stopped.signal, 'liveness', async () => {
      await flushDirtyLiveness(hub);
      return limits.livenessFlushMs;
    }),
    // Also how the hub comes back by itself after a store that could not be read (I8).
    loop(hub, clock, stopped.signal, 'generations', async () => {
      await hub.generations.reload();
      return limits.storePollMs;
    }),
    loop(
      hub,
      clock,
      stopped.signal,
      'rotation',
      async () => {
        const startedAt = clock.monotonic();
        const changed = await stepRotation(hub);
        if (changed) return 0;
        // A pass over a large roll costs; it must not become what the hub mainly does.
        return Math.max(limits.rotationStepMs, 20 * (clock.monotonic() - startedAt));
      },
      (wake) => {
        nudged = wake;
      },
    ),
  ];
  return {
    nudge: () => nudged(),
    areAlive: () => loops.every((job) => clock.monotonic() - job.lastRoundAt() < limits.jobSilentMs),
    stop: async () => {
      stopped.abort();
      await Promise.all(loops.map((job) => job.ended));
      await flushDirtyLiveness(hub);
    },
  };
}

interface Loop {
  readonly ended: Promise<void>;
  lastRoundAt(): number;
}

/** `round` returns how long to wait. One that fails is logged, and tried again at the usual pace. */
function loop(
  hub: Hub,
  clock: Clock,
  stop: AbortSignal,
  name: string,
  round: () => Promise<number>,
  onWake: (wake: () => void) => void = () => undefined,
): Loop {
  let lastRoundAt = clock.monotonic();
  const run = async () => {
    while (!stop.aborted) {
      const waitMs = await attempt(hub, name, round);
      if (waitMs !== null) lastRoundAt = clock.monotonic();
      const nap = new AbortController();
      const end = () => nap.abort();
      stop.addEventListener('abort', end, { once: true });
      onWake(end);
      await clock.sleep(waitMs ?? limits.rotationStepMs, nap.signal);
      stop.removeEventListener('abort', end);
    }
  };
  return { ended: run(), lastRoundAt: () => lastRoundAt };
}

async function attempt(hub: Hub, name: string, round: () => Promise<number>): Promise<number | null> {
  try {
    return await round();
  } catch (error) {
    hub.log.error('a job failed', { job: name, code: (error as { code?: string }).code ?? 'internal' });
    return null;
  }
}
