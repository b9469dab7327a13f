/** What the hub does by itself, at its own pace: rotation steps, the flush of liveness, the floor of the clock. */
import { limits } from '@rollcall/core/limits';
import { retryJob } from '@rollcall/core/liveness';
import type { Clock } from '@rollcall/core/ports';
import { createHistogram, durationBounds, type Histogram } from '../histogram.ts';
import type { Hub } from '../hub.ts';
import { observeRotations, stepMaster, stepRungs, stepTokens } from '../operations/rotation/walk.ts';
import type { ServerCertificate } from '../server-certificate.ts';
import { flushDirtyLiveness } from './flush-liveness.ts';

export interface Jobs {
  /** Runs the rotation job soon, rather than at its next turn. */
  nudge(): void;
  /** Whether every job ended a round lately whose time no host decides. */
  areAlive(): boolean;
  /** For metrics, one for each job. */
  states(): readonly JobState[];
  /** Ends the jobs after their current round, and flushes a last time. */
  stop(): Promise<void>;
}

export interface JobState {
  readonly name: JobName;
  /** 0: its last round succeeded. */
  readonly failuresInARow: number;
  readonly failures: number;
  /** Of rounds that ended, however they ended; in seconds. */
  readonly durations: Histogram;
}

export const jobNames = ['liveness', 'generations', 'roll', 'certificate', 'rotation', 'tokens', 'probes'] as const;
export type JobName = (typeof jobNames)[number];

export function runJobs(hub: Hub, clock: Clock, certificate: Pick<ServerCertificate, 'renewIfDue'>): Jobs {
  const liveness = loop(hub, clock, 'liveness', async () => {
    hub.attendance.tick();
    await flushDirtyLiveness(hub);
    return limits.livenessFlushMs;
  });
  // Also how the hub comes back by itself after a store that could not be read (I8).
  const generations = loop(hub, clock, 'generations', async () => {
    await hub.generations.reload();
    return limits.storePollMs;
  });
  const roll = loop(hub, clock, 'roll', async () => {
    await hub.roll.catchUp();
    return limits.storePollMs;
  });
  const renewal = loop(hub, clock, 'certificate', async () => {
    certificate.renewIfDue();
    return limits.certificateCheckMs;
  });
  const rotation = loop(hub, clock, 'rotation', async () => {
    const startedAt = clock.monotonic();
    const changed = await stepMaster(hub);
    if (changed) return 0;
    // A pass over a large roll costs; it must not become what the hub mainly does.
    return Math.max(limits.rotationStepMs, 20 * (clock.monotonic() - startedAt));
  });
  // Apart from the master's, which must not wait for a verifier that does not answer.
  const tokens = loop(hub, clock, 'tokens', async () => {
    const startedAt = clock.monotonic();
    await hub.tokens.reload();
    const stepped = await stepTokens(hub);
    if ((await stepRungs(hub)) || stepped) return 0;
    return Math.max(limits.rotationStepMs, 20 * (clock.monotonic() - startedAt));
  });
  // Apart from all others: how long it takes is up to the hosts that are asked, and what waits for them waits in its gate.
  const stopping = new AbortController();
  const probes = loop(hub, clock, 'probes', async () => {
    await observeRotations(hub, stopping.signal);
    return limits.rotationStepMs;
  });
  const own = [liveness, generations, roll, renewal, rotation, tokens];
  const loops = [...own, probes];
  return {
    nudge: () => {
      rotation.wake();
      tokens.wake();
      probes.wake();
    },
    areAlive: () => own.every((job) => clock.monotonic() - job.lastRoundAt() < limits.jobSilentMs),
    states: () => loops.map((job) => job.state()),
    stop: async () => {
      stopping.abort();
      await Promise.all(loops.map((job) => job.stop()));
      await flushDirtyLiveness(hub);
      await hub.tokenHits.save(hub.clock.now());
      await hub.tokenReports.save();
      await hub.rungSightings.save();
    },
  };
}

interface Loop {
  /** The next round is soon; one that is on its way is followed by another, since it may have looked before. */
  wake(): void;
  lastRoundAt(): number;
  state(): JobState;
  /** Ends after the round that is on its way. */
  stop(): Promise<void>;
}

/** `round` returns how long to wait. One that fails is logged, and tried again after a pause that grows. */
function loop(hub: Hub, clock: Clock, name: JobName, round: () => Promise<number>): Loop {
  const durations = createHistogram(durationBounds);
  let lastRoundAt = clock.monotonic();
  let failuresInARow = 0;
  let failures = 0;
  let isStopped = false;
  let nap = new AbortController();

  const attempt = async (): Promise<number> => {
    const startedAt = clock.monotonic();
    try {
      const waitMs = await round();
      lastRoundAt = clock.monotonic();
      if (failuresInARow > 0) hub.log.info('a job works again', { job: name, failures: failuresInARow });
      failuresInARow = 0;
      return waitMs;
    } catch (error) {
      failures += 1;
      failuresInARow += 1;
      const { waitMs, isLogged } = retryJob(failuresInARow);
      const code = (error as { code?: string }).code ?? 'internal';
      if (isLogged) hub.log.error('a job failed', { job: name, code, failures: failuresInARow, retryInMs: waitMs });
      return waitMs;
    } finally {
      durations.observe((clock.monotonic() - startedAt) / 1_000);
    }
  };
  const run = async () => {
    while (!isStopped) {
      nap = new AbortController();
      await clock.sleep(await attempt(), nap.signal);
    }
  };
  const ended = run();
  return {
    // Whoever is told of something new by every beat must not make a job that fails run at every beat.
    wake: () => {
      if (failuresInARow === 0) nap.abort();
    },
    lastRoundAt: () => lastRoundAt,
    state: () => ({ name, failuresInARow, failures, durations }),
    stop: () => {
      isStopped = true;
      nap.abort();
      return ended;
    },
  };
}
