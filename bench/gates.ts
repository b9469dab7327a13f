/**
 * Does the time of a gate grow with the fleet, or faster? Per member, a fleet of 100,000 against fleets of 1,000, for every phase whose
 * gate asks the members; the worse of a fleet that lacks nothing and one in which every member lacks something. A hundred small fleets
 * and not one a hundred times: that would stay in the processor's cache, and what the cache is worth is not what is asked.
 */
import { evaluateGate, type Observations, type Phase, type Rotation } from '@rollcall/core/rotation';
import { type Kind, NOW_MS, observe, POLICY, rotationIn, type State } from './gates/fleet.ts';
import { atMost, type BenchResult, median } from './measure.ts';

const MANY = 100_000;
const FEW = 1_000;
const ROUNDS = 7;

/** Widening of the master asks its replicas alone. */
const phasesOf: Readonly<Record<Kind, readonly Phase[]>> = {
  token: ['widening', 'rolling', 'proving', 'narrowing', 'reverting', 'withdrawing'],
  master: ['rolling', 'proving', 'narrowing'],
};

export async function benchGates(): Promise<BenchResult[]> {
  const kinds = Object.entries(phasesOf) as [Kind, readonly Phase[]][];
  return kinds.flatMap(([kind, phases]) =>
    phases.map((phase) => {
      const [open, closed] = [measure(kind, phase, 'open'), measure(kind, phase, 'closed')];
      const unit = `times per member of 1,000; 100,000 take ${open.manyMs.toFixed(0)} ms open, ${closed.manyMs.toFixed(0)} ms closed`;
      return atMost(`gates.${kind}.${phase}`, Math.max(open.ratio, closed.ratio), unit, 1.5);
    }),
  );
}

/** As many members on either side of a round, one after the other, by processor time: collecting garbage is in it, other programs are not. */
function measure(kind: Kind, phase: Phase, state: State): { readonly ratio: number; readonly manyMs: number } {
  const few = Array.from({ length: MANY / FEW }, () => gateOf(kind, phase, state, FEW));
  const many = [gateOf(kind, phase, state, MANY)];
  const rounds: { readonly ratio: number; readonly manyMs: number }[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const fewMs = timeOf(few);
    const manyMs = timeOf(many);
    // The first one warms up.
    if (round > 0) rounds.push({ ratio: manyMs / fewMs, manyMs });
  }
  return { ratio: median(rounds.map(({ ratio }) => ratio)), manyMs: median(rounds.map(({ manyMs }) => manyMs)) };
}

/** Asserts beside it that it measures what it says: a gate that is open, or one that everybody holds up who was not left. */
function gateOf(kind: Kind, phase: Phase, state: State, members: number): () => void {
  const rotation: Rotation = rotationIn(kind, phase, members);
  const observations: Observations = observe(kind, phase, state, members);
  const evaluate = () => evaluateGate(rotation, observations, POLICY, NOW_MS);
  const lacking = new Set(evaluate().blockers.map(({ member }) => member)).size;
  const expected = state === 'open' ? 0 : members - rotation.left.length;
  if (lacking !== expected)
    throw new Error(`gates: ${lacking} of ${members} hold up ${kind} ${phase}, not ${expected}`);
  return evaluate;
}

function timeOf(evaluations: readonly (() => void)[]): number {
  const before = process.cpuUsage();
  for (const evaluate of evaluations) evaluate();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
