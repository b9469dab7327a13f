/** One run: a fleet begins, things go wrong for a while, then faults stop and all that is not left behind must converge. */
import { createSecret } from '@rollcall/hub/parts';
import { beginCalls } from './acts/callers.ts';
import { heal, strike, supervise } from './acts/faults.ts';
import { actAsOperator, addNew, operator } from './acts/operator.ts';
import { actAsThief } from './acts/thief.ts';
import { actAsTokenOperator, beginTokens } from './acts/token-operator.ts';
import { assertConverged, boundMs, expectedToConverge, isConverged } from './convergence.ts';
import { createDice } from './engine/dice.ts';
import { Violation } from './engine/scheduler.ts';
import { takeSprungTrap } from './engine/traps.ts';
import type { Founded } from './found.ts';
import { drawKnobs, type Knobs } from './knobs.ts';
import type { AgentMachine } from './machines/agent-machine.ts';
import {
  assertTokensEnded,
  calmTokens,
  expectedToEnd,
  isTimeTrusted,
  tokenBoundMs,
  whatTokensLack,
} from './token-convergence.ts';
import { drawTokenKnobs, withTokens } from './token-knobs.ts';
import { TokenWorld } from './token-world.ts';
import { World } from './world.ts';

export interface RunResult {
  readonly seed: string;
  readonly hash: string;
  readonly steps: number;
  readonly events: number;
  readonly virtualMs: number;
  readonly sometimes: ReadonlyMap<string, number>;
  readonly violation?: {
    readonly rule: string;
    readonly message: string;
    readonly story: readonly string[];
    readonly knobs: Knobs;
  };
}

const LONGEST_MS = 3 * 3_600_000;
const MOST_STEPS = 40_000;

export async function run(seed: string, founded: Founded): Promise<RunResult> {
  const dice = createDice(seed);
  const ofTokens = createDice(`${seed} tokens`);
  const tokenKnobs = drawTokenKnobs(ofTokens);
  const tokens = tokenKnobs === undefined ? undefined : new TokenWorld(ofTokens, tokenKnobs);
  const drawn = drawKnobs(dice);
  const knobs = tokens === undefined ? drawn : withTokens(drawn, ofTokens);
  const world = new World(dice, knobs, founded, tokens);
  let violation: Violation | undefined;
  try {
    await begin(world);
    await goWrong(world);
    await converge(world);
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    violation = error;
    for (const machine of world.agents.values()) world.tell(describe(world, machine));
  }
  const { trace, scheduler, sometimes } = world;
  return {
    seed,
    hash: trace.hash,
    steps: scheduler.steps,
    events: scheduler.events,
    virtualMs: scheduler.nowMs,
    sometimes: sometimes.counts,
    ...(violation === undefined
      ? {}
      : { violation: { rule: violation.rule, message: violation.message, story: trace.story, knobs } }),
  };
}

async function begin(world: World): Promise<void> {
  world.hub.start();
  while (world.hub.hub === undefined) await step(world, LONGEST_MS);
  const { hosts, olderFleet } = world.knobs;
  let hasBegun = false;
  world.hub.act('begin', async (hub) => {
    await createSecret(hub, { name: 'master' }, operator);
    for (let n = 1; n <= hosts; n += 1) await addNew(world, hub, `agent-${n}`, olderFleet);
    if (world.tokens !== undefined) await beginTokens(world, world.tokens, hub);
    hasBegun = true;
  });
  // To its end, and not until the last host is there: nothing may go wrong with what a run begins with.
  while (!hasBegun) await step(world, LONGEST_MS);
}

async function goWrong(world: World): Promise<void> {
  const { dice, knobs, scheduler } = world;
  repeat(
    world,
    'operator',
    () => knobs.operatorEveryMs,
    () => actAsOperator(world),
  );
  repeat(
    world,
    'supervisor',
    () => 10_000,
    () => supervise(world),
  );
  const { tokens } = world;
  if (tokens !== undefined) {
    repeat(
      world,
      'operator of tokens',
      () => tokens.knobs.operatorEveryMs,
      () => actAsTokenOperator(world, tokens),
    );
    beginCalls(world, tokens);
  }
  if (knobs.thiefEveryMs > 0)
    repeat(
      world,
      'thief',
      () => knobs.thiefEveryMs,
      () => actAsThief(world),
    );
  while (scheduler.events < knobs.faultyEvents && scheduler.nowMs < LONGEST_MS) {
    await step(world, LONGEST_MS);
    if (knobs.faultPerStep > 0 && dice.chance(knobs.faultPerStep)) strike(world);
  }
}

async function converge(world: World): Promise<void> {
  world.tell('faults stop');
  heal(world);
  calmTokens(world);
  const isReady = () => world.hub.hub !== undefined && (world.tokens === undefined || isTimeTrusted(world));
  while (!isReady()) await step(world, LONGEST_MS * 2);
  const expected = expectedToConverge(world);
  const ends = expectedToEnd(world, expected);
  const untilMs = world.scheduler.nowMs + boundMs(world) + tokenBoundMs(world);
  const isOver = () => isConverged(world, expected) && whatTokensLack(world, ends, expected) === undefined;
  while (world.scheduler.nowMs < untilMs && !isOver()) await step(world, untilMs);
  assertConverged(world, expected);
  assertTokensEnded(world, ends, expected);
}

async function step(world: World, untilMs: number): Promise<void> {
  await world.scheduler.step(untilMs);
  world.afterStep();
  const name = takeSprungTrap();
  if (name !== undefined) throw new Violation('real-world', `${name} was reached for, beside the port`);
  if (world.violation !== undefined) throw world.violation;
  if (world.scheduler.steps > MOST_STEPS) throw new Violation('simulator', 'the run does not end');
}

/** Now and then, at random times around this mean, until faults stop. */
function repeat(world: World, what: string, meanMs: () => number, act: () => void): void {
  const next = () =>
    world.scheduler.after(-Math.log(1 - world.dice.next()) * meanMs(), what, () => {
      if (world.isCalm) return;
      act();
      next();
    });
  next();
}

/** The last line of a story: where each machine stood. */
function describe({ snapshot }: World, { name, host, isUp, ended, state }: AgentMachine): string {
  const row = snapshot.hosts.get(host);
  const wanted = snapshot.assignments.get(host);
  const held = state?.durable.assignments.get('master');
  const doing =
    state === undefined ? (ended ?? (isUp ? 'starting' : 'down')) : `${state.doing.kind}, ${state.problem ?? 'well'}`;
  const store = `${row?.status} life ${row?.life} wants ${wanted?.step} ${wanted?.accept} acked ${wanted?.acked_step}`;
  return `${name}: ${doing}; holds step ${held?.step} of ${held?.accept.map(({ version }) => version)}; store: ${store}`;
}
