/** I5 for shared tokens: a walk goes on by what verifiers answered, counted and saw, and not by what is only said or not known. */
import type { HeartbeatBody } from '@rollcall/wire';
import { readJson } from '../machines/exchange.ts';
import type { StoreSnapshot, TokenRotationRow } from '../machines/store-snapshot.ts';
import { sidesOf } from '../own-phases.ts';
import { HUB, holds, type TokenLedger } from '../token-ledger.ts';
import type { World } from '../world.ts';
import { assertThat, type Check } from './invariant.ts';

/** Kept apart from the product: who let whom in, and which counts reached the hub. */
const noteEvidence: Check = {
  onCalled: (world, { text, verifier }, status) => {
    const ledger = world.tokens?.ledger;
    const known = ledger?.values.get(text);
    if (status === 200 && known !== undefined) ledger?.noteHit(verifier, known, world.scheduler.nowMs);
  },
  onAnswered: (world, { request, host, nowMs }, { status }) => {
    const ledger = world.tokens?.ledger;
    if (ledger === undefined || status !== 200 || host === undefined || request.path !== '/v1/heartbeat') return;
    const { tokens, instance, seq } = readJson(request.body) as HeartbeatBody;
    const sentMs = sentAt.get(request.body);
    if (tokens === undefined || sentMs === undefined) return;
    // Taken at some moment between its arrival and its answer: the earlier one is the better for the product.
    ledger.noteReport(host, { instance, seq, sentMs, takenMs: nowMs });
  },
  onRequest: (world, machine, { body, path }) => {
    if (world.tokens === undefined || body === undefined) return;
    sentAt.set(body, world.scheduler.nowMs);
    if (path === '/v1/heartbeat' && machine.name === machine.host) {
      world.tokens.ledger.noteSent(machine.host, world.scheduler.nowMs);
    }
  },
};

const sentAt = new WeakMap<Uint8Array, number>();

/** A count is of callers alone, and none is lost without a new name: what a counter says is what came since it began. */
const countsAreOfCallers: Check = {
  onRequest: (world, machine, { body, path }) => {
    const ledger = world.tokens?.ledger;
    if (ledger === undefined || body === undefined || path !== '/v1/heartbeat' || machine.place.takesAnything) return;
    // A copied or an earlier disk brings counts of another story.
    if (machine.name !== machine.host || world.ledger.tainted.has(machine.host)) return;
    const { tokens = [] } = readJson(body) as HeartbeatBody;
    const known = beganAt.get(world) ?? new Map<string, number>();
    beganAt.set(world, known);
    for (const { secret, counter, hits } of tokens)
      for (const { version, count } of hits) {
        const key = `${machine.name} ${secret} ${counter} ${version}`;
        const came = ledger.hits(machine.name, secret, version).length;
        const before = known.get(key);
        const began = before ?? came - count;
        known.set(key, began);
        assertThat(
          began >= 0 && came - began === count,
          'I5',
          () => `${machine.name} says ${count} hits of version ${version} of ${secret}, where ${came - began} came`,
        );
      }
  },
};

/** How many hits had come when a counter began, by counter. */
const beganAt = new WeakMap<World, Map<string, number>>();

/** Callers switch only after every verifier was asked for both, and for a value that nobody has. */
const callersSwitchAfterEveryVerifier: Check = {
  onCommit: (world, before, after) => {
    for (const [rotation, ledger] of leaving(world, before, after, 'widening', ['rolling'])) {
      const { secret, from_version, to_version } = rotation;
      for (const member of [HUB, ...verifiers(world, after, rotation)]) {
        const old = ledger.wasAnswered(rotation, member, from_version, true);
        const next = ledger.wasAnswered(rotation, member, to_version, true);
        const random = ledger.wasAnswered(rotation, member, 'random', false);
        assertThat(
          old && next && random,
          'I5',
          () =>
            `callers of ${secret} switch, and ${member} was not seen to take both (${old}, ${next}) and refuse (${random})`,
        );
      }
    }
  },
};

/** A version is dropped only after each verifier has reported for a whole window that nobody sent it. */
const nothingIsDroppedUnquiet: Check = {
  onCommit: (world, before, after) => {
    const drops = [
      ...leaving(world, before, after, 'proving', ['narrowing']),
      ...leaving(world, before, after, 'reverting', ['withdrawing']),
    ];
    for (const [rotation, ledger] of drops) {
      const { goes } = sidesOf(rotation);
      for (const member of [HUB, ...verifiers(world, after, rotation)])
        assertThat(
          wasQuiet(world, ledger, rotation.secret, goes, member),
          'I5',
          () => `version ${goes} of ${rotation.secret} is dropped, and ${member} was sent it within the quiet window`,
        );
    }
  },
};

/** A gate is read some statements before its step is committed. */
const STATEMENTS_OF_A_STEP = 60;

function wasQuiet(world: World, ledger: TokenLedger, secret: string, version: number, member: string): boolean {
  const { quietWindowMs } = (world.tokens as NonNullable<World['tokens']>).knobs;
  const { slow, slowMs } = world.knobs;
  const nowMs = world.scheduler.nowMs;
  const hits = ledger.hits(member, secret, version);
  // Hub time may run a little slow, and jumps where its wall clock was set forward.
  const windowMs = quietWindowMs * 0.99 - ledger.hubJumpsMs(nowMs - 2 * quietWindowMs);
  const readMs = nowMs - (slow > 0 ? STATEMENTS_OF_A_STEP * slowMs : 1);
  const isFree = (fromMs: number, untilMs: number) => !hits.some((atMs) => atMs > fromMs && atMs <= untilMs);
  if (member === HUB) return isFree(nowMs - windowMs, Math.min(readMs, nowMs));
  const sentMs = ledger.lastSent(member);
  if (sentMs !== undefined && isFree(nowMs - windowMs, sentMs)) return true;
  const reports = [...ledger.reportsAt(member, nowMs), ...ledger.reportsAt(member, readMs)];
  return reports.some(({ sentMs, takenMs }) => isFree(takenMs - windowMs, sentMs));
}

/** Rotations that leave this phase by their gates, and not by a time that was said. */
function leaving(
  world: World,
  before: StoreSnapshot,
  after: StoreSnapshot,
  phase: string,
  into: readonly string[],
): readonly (readonly [TokenRotationRow, TokenLedger])[] {
  const ledger = world.tokens?.ledger;
  if (ledger === undefined) return [];
  return [...after.tokenRotations.values()].flatMap((rotation) => {
    const former = before.tokenRotations.get(rotation.secret);
    const isMove = former?.id === rotation.id && former.phase === phase && into.includes(rotation.phase);
    const isByTime = ledger.hasEnded({ secret: rotation.secret, version: rotation.from_version });
    return isMove && !isByTime ? [[rotation, ledger] as const] : [];
  });
}

/** Hosts that hold the token and have a listener: all of the roll but those that are evicted, or named (I6). */
function verifiers(world: World, snapshot: StoreSnapshot, { secret, left }: TokenRotationRow): readonly string[] {
  return [...world.agents.values()]
    .filter(({ name, host, listens }) => {
      const status = snapshot.hosts.get(host)?.status;
      const isThere = status === 'active' || status === 'suspended';
      const isTrue = name === host && !world.ledger.tainted.has(host);
      return isThere && isTrue && listens && holds(snapshot, secret, host) && !left.includes(host);
    })
    .map(({ host }) => host);
}

export const evidenceOfTokens: readonly Check[] = [
  noteEvidence,
  countsAreOfCallers,
  callersSwitchAfterEveryVerifier,
  nothingIsDroppedUnquiet,
];
