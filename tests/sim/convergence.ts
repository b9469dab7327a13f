/** After faults have stopped: who must come along, by when, and what it is to have come along. */
import { equalBytes } from '@rollcall/core/bytes';
import { limits } from '@rollcall/core/limits';
import { Violation } from './engine/scheduler.ts';
import type { AgentMachine } from './machines/agent-machine.ts';
import type { GenerationRow } from './machines/store-snapshot.ts';
import { ownHeartbeatKey } from './own-derivation.ts';
import type { World } from './world.ts';

/** Waves that a rotation may still have before it: a canary, everyone, narrowing. */
const WAVES = 3;

/** The backoff cap plus three intervals for each wave; and what is under way must first be given up, or its window end. */
export function boundMs(world: World): number {
  const { beatMs, hubTimerLateMs, latencyMs, slowMs } = world.knobs;
  const intervalMs = beatMs * 1.1 + limits.firstBeatSpreadMs + 2 * hubTimerLateMs + 8 * latencyMs + 8 * slowMs;
  return limits.backoffMaxMs + limits.otherBearerMs + limits.answerTimeoutMs + 3 * WAVES * intervalMs;
}

/** The hosts that have a way: their own machine holds the pinned key and a bearer that stays live, and its hub can go on from where it stands. */
export function expectedToConverge(world: World): readonly AgentMachine[] {
  return [...world.agents.values()].filter((machine) => machine.name === machine.host && hasAWay(world, machine));
}

function hasAWay(world: World, machine: AgentMachine): boolean {
  const { snapshot } = world;
  const row = snapshot.hosts.get(machine.host);
  const durable = readDurable(machine);
  if (row?.status !== 'active' || durable === undefined || isBeyondItsHub(world, machine)) return false;
  if (snapshot.pins.get(machine.host) !== durable.fingerprint) return false;
  const hubNowMs = world.hub.hub?.clock.now() ?? 0;
  const untilMs = hubNowMs + 2 * boundMs(world);
  return durable.held.some((bearer) => {
    const generation = snapshot.generations.get(bearer.version);
    return bearer.life === row.life && staysLive(generation, untilMs) && isOf(generation, machine.host, bearer);
  });
}

/** A hub that was restored may draw another value for the same version. */
function isOf(generation: GenerationRow | undefined, host: string, { life, key }: HeldOnDisk['held'][number]): boolean {
  return generation?.master !== undefined && equalBytes(ownHeartbeatKey(generation.master, host, life), key);
}

/** It holds a step that its hub has not issued, since that, or a row of it, was put back: it refuses what is not above it. */
function isBeyondItsHub({ snapshot }: World, machine: AgentMachine): boolean {
  const wanted = snapshot.assignments.get(machine.host);
  const held = machine.state?.durable.assignments.get('master');
  if (held === undefined) return false;
  if (wanted === undefined || held.epoch > wanted.epoch) return true;
  // The clock was set back since: every step of now is above those of before.
  if (held.epoch < wanted.epoch) return false;
  return held.step > wanted.step || (held.step === wanted.step && textOfSets(held) !== setsOf(wanted));
}

function setsOf({ accept, present }: { readonly accept: string; readonly present: number }): string {
  return `${accept} ${present}`;
}

function textOfSets({ accept, present }: { accept: readonly { version: number }[]; present: number }): string {
  return `${JSON.stringify(accept.map(({ version }) => version))} ${present}`;
}

function staysLive(generation: GenerationRow | undefined, untilMs: number): boolean {
  if (generation?.state === 'current') return true;
  return generation?.state === 'previous' && (generation.verify_until ?? 0) > untilMs;
}

export function isConverged(world: World, expected: readonly AgentMachine[]): boolean {
  const isComplete = expected.every((machine) => whatIsMissing(world, machine) === undefined);
  return isComplete && !isWaitingForNobody(world) && whatMemoryHasWrong(world) === undefined;
}

export function assertConverged(world: World, expected: readonly AgentMachine[]): void {
  for (const machine of expected) {
    const missing = whatIsMissing(world, machine);
    if (missing !== undefined) throw new Violation('liveness', `${machine.name} ${missing}`);
  }
  if (isWaitingForNobody(world)) throw new Violation('liveness', 'a rotation stands still and waits for nobody');
  if (expected.length > 0) world.sometimes.note('a fleet converged');
  const wrong = whatMemoryHasWrong(world);
  if (wrong !== undefined) throw new Violation('I8', wrong);
}

/** What the hub holds in memory and its store does not say, or the other way; when all is at rest, nothing (I8). */
function whatMemoryHasWrong({ hub: { hub }, snapshot }: World): string | undefined {
  for (const entry of hub?.roll.entries() ?? []) {
    const row = snapshot.hosts.get(entry.id);
    const wanted = snapshot.assignments.get(entry.id);
    const held = [entry.status, entry.life, entry.pinFingerprint, entry.wantedStep, entry.ackedStep].join();
    const stored = [row?.status, row?.life, snapshot.pins.get(entry.id) ?? '', wanted?.step, wanted?.acked_step].join();
    if (held !== stored) return `of ${entry.id} the hub holds ${held} where its store says ${stored}`;
  }
  return undefined;
}

/** A rotation that waits for nobody goes on by itself, as far as it does without a person. */
function isWaitingForNobody({ snapshot }: World): boolean {
  const rotation = snapshot.rotations.at(-1);
  if (rotation === undefined || rotation.paused_because !== null) return false;
  if (rotation.phase !== 'widening' && rotation.phase !== 'rolling') return false;
  return [...snapshot.hosts.values()].every(
    ({ id, status, proven_version }) =>
      status === 'removed' ||
      status === 'evicted' ||
      rotation.left.includes(id) ||
      (proven_version ?? 0) >= rotation.to_version,
  );
}

/**
 * Every version that it holds has ended, and it was named with `--leave`, or after a leak the end was said to be nearer than the time
 * in which anybody is bound to come along.
 */
export function isCutOff(world: World, machine: AgentMachine): boolean {
  const { snapshot, hub } = world;
  const isNamed = snapshot.rotations.some(({ left }) => left.includes(machine.host));
  const isShort = snapshot.rotations.some(({ reason, from_version, started_at }) => {
    const untilMs = snapshot.generations.get(from_version)?.verify_until ?? 0;
    return reason === 'leak' && untilMs - started_at < boundMs(world);
  });
  if (!isNamed && !isShort) return false;
  const nowMs = hub.hub?.clock.now() ?? 0;
  const held = readDurable(machine)?.held ?? [];
  return held.every(({ version }) => !staysLive(snapshot.generations.get(version), nowMs));
}

function whatIsMissing(world: World, machine: AgentMachine): string | undefined {
  const { snapshot } = world;
  const row = snapshot.hosts.get(machine.host);
  const wanted = snapshot.assignments.get(machine.host);
  const held = machine.state?.durable.assignments.get('master');
  // An operator's last word was still on its way when faults stopped: he took it off, or went on without it.
  if (row?.status !== 'active' || isCutOff(world, machine)) return undefined;
  if (!machine.isUp) return `does not run: ${machine.ended}`;
  if (wanted === undefined) return 'has no assignment';
  if (held?.step !== wanted.step) return `holds step ${held?.step} where ${wanted.step} is wanted`;
  if (wanted.acked_step !== wanted.step) return `has not proven step ${wanted.step}`;
  const current = [...snapshot.generations.values()].find(({ state }) => state === 'current')?.version;
  if (row.proven_version !== current && wanted.present === current) return `has not proven version ${current}`;
  return undefined;
}

interface HeldOnDisk {
  readonly fingerprint: string;
  readonly held: readonly { readonly version: number; readonly life: number; readonly key: Uint8Array }[];
}

/** Of the running agent, or nothing: one that cannot start is left behind, by name. */
function readDurable(machine: AgentMachine): HeldOnDisk | undefined {
  const durable = machine.state?.durable;
  const key = durable?.wrapKeys[0];
  if (durable === undefined || key === undefined) return undefined;
  const accept = durable.assignments.get('master')?.accept ?? [];
  const held = accept.flatMap(({ version, value }) => {
    const key = 'keys' in value ? value.keys['heartbeat'] : undefined;
    return key === undefined || !('life' in value) ? [] : [{ version, life: value.life, key: key.reveal() }];
  });
  return { fingerprint: key.public.fingerprint, held };
}
