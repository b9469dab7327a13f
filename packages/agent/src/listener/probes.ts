/** Which steps are still to be probed, and what was found at those that were: one step of each secret, the one that is held. */

import { errorTable, isRollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import type { Clock, Log, Random } from '@rollcall/core/ports';
import { type Assignment, isDrop } from '@rollcall/core/seal';
import type { ProbeReport } from '@rollcall/wire';
import { MASTER } from './acceptance.ts';
import { type Asked, hasPassed, type ProbePlan, performProbe, planAgain, planProbe } from './probe-plan.ts';

export interface ProbeListener {
  /** How a token is presented to the listener; `undefined` while it is closed. */
  readonly ask: () => ((token: string) => Promise<Asked>) | undefined;
  readonly onReport: () => void;
}

export interface Probes {
  /** With each change of what is held. */
  hold(assignments: ReadonlyMap<string, Assignment>): void;
  /** Probes what is still to be probed, if the listener is open. */
  start(): void;
  reports(): readonly ProbeReport[];
  /** Everything that is held, whatever was found before; it takes the place of no report. */
  now(assignments: ReadonlyMap<string, Assignment>): Promise<readonly (ProbeReport & { readonly passed: boolean })[]>;
}

export function createProbes(
  { clock, random, log }: { readonly clock: Clock; readonly random: Random; readonly log: Log },
  { ask, onReport }: ProbeListener,
): Probes {
  const at = { random, now: () => clock.now() };
  const held = new Map<string, Assignment>();
  const pending = new Map<string, ProbePlan>();
  const found = new Map<string, ProbeReport>();
  let isRunning = false;
  let notBeforeMs = Number.NEGATIVE_INFINITY;

  const runOne = async (plan: ProbePlan, present: (token: string) => Promise<Asked>): Promise<void> => {
    const report = await performProbe(plan, present, at);
    // What was held when it began may be past.
    if (pending.get(plan.secret) !== plan) return;
    pending.delete(plan.secret);
    found.set(plan.secret, report);
    if (!hasPassed(plan, report))
      log.error(errorTable.probe_failed.text, { code: 'probe_failed', of: plan.secret, step: plan.step });
    onReport();
  };
  const run = async (): Promise<void> => {
    for (const plan of [...pending.values()]) {
      const present = ask();
      if (present === undefined) return;
      await runOne(plan, present);
    }
  };

  const start = (): void => {
    if (isRunning || pending.size === 0 || clock.monotonic() < notBeforeMs || ask() === undefined) return;
    isRunning = true;
    run()
      .catch((error: unknown) => {
        notBeforeMs = clock.monotonic() + limits.probeAgainMs;
        log.warn('the listener of this host could not be probed; it is tried again', { cause: causeOf(error) });
      })
      .finally(() => {
        isRunning = false;
        // A step that came meanwhile.
        start();
      });
  };

  return {
    hold(all) {
      const assignments = new Map([...all].filter(([, assignment]) => !isDrop(assignment)));
      for (const secret of held.keys())
        if (!assignments.has(secret)) for (const of of [held, pending, found]) of.delete(secret);
      for (const [secret, assignment] of assignments) {
        const before = held.get(secret);
        if (secret === MASTER || before === assignment) continue;
        held.set(secret, assignment);
        found.delete(secret);
        pending.set(secret, planProbe(before, assignment));
      }
    },
    start,
    reports: () => [...found.values()].slice(0, limits.namedSecrets),
    async now(assignments) {
      const present = ask();
      if (present === undefined) return [];
      const results: (ProbeReport & { readonly passed: boolean })[] = [];
      for (const assignment of assignments.values()) {
        if (assignment.secret === MASTER || isDrop(assignment)) continue;
        const plan = planAgain(assignment);
        const report = await performProbe(plan, present, at);
        results.push({ ...report, passed: hasPassed(plan, report) });
      }
      return results;
    },
  };
}

function causeOf(error: unknown): string {
  if (isRollcallError(error)) return error.code;
  return error instanceof Error ? ((error as { readonly code?: string }).code ?? error.message) : 'unknown';
}
