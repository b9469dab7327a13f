/** The roll call: one pass over the registry that fills every counter, and what it says about retiring (design 5). */

import { currentGeneration, type Generation, isWindowOpen, previousGeneration } from './generations.ts';
import { hasProven, lacksNothing, type RollHost } from './roll.ts';

type Counter =
  | 'notProvenOnCurrent'
  | 'unattributed'
  | 'withoutUsablePin'
  | 'rowsUnreadable'
  | 'unusableKey'
  | 'presentingOld'
  | 'holdingMaster'
  | 'pendingPin';

/** Who is counted in what. A host is in each that fits (design 11). */
const counters: Readonly<Record<Counter, (host: RollHost, current: number | null) => boolean>> = {
  notProvenOnCurrent: (host, current) => current === null || !hasProven(host, current),
  unattributed: (host) => host.provenVersion === null,
  withoutUsablePin: (host) => host.pin !== 'usable',
  rowsUnreadable: (host) => host.unreadable.length > 0,
  unusableKey: (host) => host.unusableKey,
  presentingOld: (host) => host.presentingOld,
  holdingMaster: (host) => host.holdsMaster,
  pendingPin: (host) => host.pendingPins > 0,
};

/** Every counter is a list of names, in the order of the roll. */
export interface Sweep extends Readonly<Record<Counter, readonly string[]>> {
  /** How many rows of the registry query were looked at: all of them. */
  readonly examined: number;
  /** The id of each. */
  readonly roll: readonly string[];
  /** Examined, and lacking nothing, so in no counter. */
  readonly evicted: readonly string[];
  /** The sum over all hosts; `pendingPin` names the hosts. */
  readonly pendingPins: number;
  readonly currentVersion: number | null;
  readonly previousVersion: number | null;
  readonly previousVerifiesUntilMs: number | null;
  readonly previousLeaked: boolean;
  readonly windowClosed: boolean;
}

/**
 * Calls the roll.
 *
 * Do not "align" the set that is examined here with a smaller one. Every row of the registry is looked at before any
 * filter of status, age or reach: an invited host can hold key material by the time it matters, a suspended one comes
 * back, and a stale one is the very host that retirement would strand. The question is always "is the number of hosts
 * that lack X zero", never whether two totals from two sources agree: a removed host's leftover pin would then stand
 * in for a host that has none. And a pass over nothing is no readiness, hence `examined` (I6; design 5, 9).
 */
export function sweepRoll(hosts: Iterable<RollHost>, generations: readonly Generation[], nowMs: number): Sweep {
  const current = currentGeneration(generations)?.version ?? null;
  const previous = previousGeneration(generations);
  const names = Object.fromEntries(counterNames.map((name) => [name, []])) as unknown as Record<Counter, string[]>;
  const evicted: string[] = [];
  const roll: string[] = [];
  let pendingPins = 0;
  for (const host of hosts) {
    roll.push(host.id);
    if (lacksNothing(host)) {
      evicted.push(host.id);
      continue;
    }
    pendingPins += host.pendingPins;
    for (const name of counterNames) if (counters[name](host, current)) names[name].push(host.id);
  }
  return {
    ...names,
    examined: roll.length,
    roll,
    evicted,
    pendingPins,
    currentVersion: current,
    previousVersion: previous?.version ?? null,
    previousVerifiesUntilMs: previous?.verifyUntilMs ?? null,
    previousLeaked: previous?.leaked ?? false,
    windowClosed: previous === null || !isWindowOpen(previous.verifyUntilMs, nowMs),
  };
}

const counterNames = Object.keys(counters) as readonly Counter[];

/** Whether retiring the previous generation strands nobody, and its window is closed. */
export function safeToRetire(sweep: Sweep): boolean {
  return (
    sweep.previousVersion !== null &&
    sweep.examined > 0 &&
    sweep.notProvenOnCurrent.length === 0 &&
    sweep.unattributed.length === 0 &&
    sweep.withoutUsablePin.length === 0 &&
    sweep.windowClosed
  );
}

/** Whether `retire --now` strands nobody: everything but the window, and nobody is still sending the old one. */
export function retireNow(sweep: Sweep): boolean {
  return sweep.previousVersion !== null && sweep.examined > 0 && strandedByRetiring(sweep).length === 0;
}

/**
 * Who would be stranded if the previous generation stopped verifying at this moment, sorted. After a leak
 * a host that presents the old one again has no say: it may be the thief (design 11, proven).
 */
export function strandedByRetiring(sweep: Sweep): readonly string[] {
  const old = sweep.previousLeaked ? [] : sweep.presentingOld;
  return [...new Set([...sweep.notProvenOnCurrent, ...sweep.unattributed, ...sweep.withoutUsablePin, ...old])].sort();
}
