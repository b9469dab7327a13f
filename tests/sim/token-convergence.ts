/** After faults have stopped: every walk of a shared token comes to its end where all that hold it do, and each host has its last step. */
import { limits } from '@rollcall/core/limits';
import { createCalmOperator } from './acts/calm-operator.ts';
import { supervise } from './acts/faults.ts';
import { repairListener } from './acts/token-operator.ts';
import { isCutOff } from './convergence.ts';
import { Violation } from './engine/scheduler.ts';
import type { AgentMachine } from './machines/agent-machine.ts';
import { runningOf } from './own-phases.ts';
import { holds } from './token-ledger.ts';
import type { World } from './world.ts';

const CALM_OPERATOR_MS = 5_000;
/** Of a walk and of the way back: probes, a wave for each host, proofs, and what narrows. */
const ROUNDS = 12;

/** A person looks after what is left: who is paused goes on, who was forgotten is repointed, what is open is gone through. */
export function calmTokens(world: World): void {
  const { tokens } = world;
  if (tokens === undefined) return;
  for (const machine of world.agents.values()) repairListener(machine);
  const goOnCalmly = createCalmOperator(world, tokens);
  const next = () =>
    world.scheduler.after(CALM_OPERATOR_MS, 'a calm operator', () => {
      // What was asked to stop when faults did has stopped since.
      supervise(world);
      goOnCalmly();
      next();
    });
  next();
}

/** Where the clock of the hub has jumped nothing is given up until a person has accepted the time. */
export function isTimeTrusted({ hub: { hub } }: World): boolean {
  return hub?.clock.read().jumped === false;
}

export function tokenBoundMs({ tokens, knobs }: World): number {
  if (tokens === undefined) return 0;
  const roundMs = knobs.beatMs * 1.1 + knobs.hubTimerLateMs + 4 * knobs.latencyMs + 8 * knobs.slowMs + CALM_OPERATOR_MS;
  return tokens.knobs.quietWindowMs + limits.freshMinMs + ROUNDS * roundMs;
}

/**
 * The tokens whose walk must end: all who hold them come along, or are not waited for. A host that was let go as a holder is told
 * nothing of it yet, and goes on sending what it holds: docs/simulator.md, What it found.
 */
export function expectedToEnd(world: World, expected: readonly AgentMachine[]): readonly string[] {
  const { snapshot } = world;
  const comes = new Set(expected.map(({ host }) => host));
  return [...snapshot.currentTokens.keys()].filter((secret) => {
    const left = runningOf(snapshot, secret)?.left ?? [];
    const wasLetGo = [...world.agents.values()].some(
      ({ host, told }) => told.has(secret) && !holds(snapshot, secret, host),
    );
    // Where nobody is left to be asked there is no evidence, and the walk waits for somebody to hold the token.
    const isHeld = [...snapshot.hosts.values()].some(
      ({ id, status }) => status === 'active' && holds(snapshot, secret, id),
    );
    if (wasLetGo || !isHeld) return false;
    return [...snapshot.hosts.values()].every(
      ({ id, status }) =>
        status === 'removed' ||
        status === 'evicted' ||
        !holds(snapshot, secret, id) ||
        left.includes(id) ||
        (comes.has(id) && status === 'active'),
    );
  });
}

/** What is missing yet; `undefined`: nothing. */
export function whatTokensLack(
  world: World,
  ends: readonly string[],
  expected: readonly AgentMachine[],
): string | undefined {
  const { snapshot } = world;
  const able = expected.filter((machine) => !isCutOff(world, machine));
  for (const secret of ends) {
    const running = runningOf(snapshot, secret);
    // An operator's last word was still on its way: he let somebody in who does not come along, or let the last one go.
    if (running !== undefined && expectedToEnd(world, able).includes(secret))
      return `the rotation of ${secret} stands still in ${running.phase}`;
  }
  for (const { host, state, name } of able)
    for (const secret of ends) {
      const wanted = snapshot.tokenAssignments.get(`${secret} ${host}`);
      if (wanted === undefined || !holds(snapshot, secret, host) || snapshot.hosts.get(host)?.status !== 'active')
        continue;
      const held = state?.durable.assignments.get(secret);
      // After a restored backup, or a row that was put back: it is left behind, as with the master.
      if (held !== undefined && held.step > wanted.step && held.epoch >= wanted.epoch) continue;
      if (held?.step !== wanted.step)
        return `${name} holds step ${held?.step} of ${secret} where ${wanted.step} is wanted`;
      if (wanted.acked_step !== wanted.step) return `${name} has not proven step ${wanted.step} of ${secret}`;
    }
  return undefined;
}

export function assertTokensEnded(world: World, ends: readonly string[], expected: readonly AgentMachine[]): void {
  const lack = whatTokensLack(world, ends, expected);
  if (lack !== undefined) throw new Violation('liveness', lack);
  if (ends.length > 0) world.sometimes.note('the tokens of a fleet came to rest');
}
