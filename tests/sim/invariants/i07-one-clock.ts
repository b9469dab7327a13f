/** I7: windows close on the hub's clock, and nothing extends or reopens one. */
import { equalBytes } from '@rollcall/core/bytes';
import type { Hub } from '@rollcall/hub/parts';
import { ACCEPT_TIME } from '../acts/operator.ts';
import type { StoreSnapshot } from '../machines/store-snapshot.ts';
import type { World } from '../world.ts';
import { assertThat, type Check } from './invariant.ts';

const lastReading = new WeakMap<Hub, number>();
/** Hubs whose operator has just said that the wall clock is right, and it was committed. */
const accepting = new WeakSet<Hub>();
/** Since when hub time is past the end of a window, by its version and value. */
const ended = new WeakMap<World, Map<string, number>>();

const hubTimeNeverGoesBack: Check = {
  onHubStarted: (world, hub) => {
    const nowMs = hub.clock.now();
    assertThat(nowMs >= world.snapshot.clockFloorMs, 'I7', () => `hub time began at ${nowMs}, before the stored floor`);
  },
  onStep: (_world, hub) => {
    const nowMs = hub.clock.now();
    const isBack = nowMs < (lastReading.get(hub) ?? 0);
    assertThat(!isBack || accepting.delete(hub), 'I7', () => `hub time went back to ${nowMs}`);
    lastReading.set(hub, nowMs);
  },
  onCommit: ({ hub: { hub } }, before, after, by) => {
    const isAccepted = by?.name === `operator: ${ACCEPT_TIME}`;
    if (isAccepted && hub !== undefined) accepting.add(hub);
    const isBack = after.clockFloorMs < before.clockFloorMs;
    assertThat(!isBack || isAccepted, 'I7', () => `the floor of hub time went back to ${after.clockFloorMs}`);
  },
};

/**
 * A window that has ended stays closed, also where a person takes the time back that ended it. What a hub knew and could not write
 * ends with its process: until then it has refused nobody for it.
 */
const endedWindowsStayClosed: Check = {
  onHubStarted: (world) => {
    const { generations, clockFloorMs } = world.snapshot;
    for (const generation of generations.values())
      if (clockFloorMs < (generation.verify_until ?? 0)) ended.get(world)?.delete(windowOf(generation));
  },
  onStep: (world, hub) => {
    const known = ended.get(world) ?? new Map<string, number>();
    ended.set(world, known);
    const nowMs = hub.clock.now();
    for (const generation of world.snapshot.generations.values()) {
      const isOver = generation.state === 'previous' && nowMs >= (generation.verify_until ?? 0);
      if (isOver && !known.has(windowOf(generation))) known.set(windowOf(generation), world.scheduler.nowMs);
    }
  },
  onAnswered: (world, { request, bearer, before, nowMs }, { status }) => {
    if (status !== 200 || request.path !== '/v1/heartbeat' || bearer === undefined) return;
    const generation = before.generations.get(bearer.version);
    // A restored backup may hold a generation as the current one whose window was over.
    if (generation === undefined || generation.state === 'current') return;
    const endedMs = ended.get(world)?.get(windowOf(generation)) ?? Number.POSITIVE_INFINITY;
    assertThat(
      nowMs <= endedMs + world.yesMs,
      'I7',
      () => `version ${bearer.version} was taken after its window had ended`,
    );
  },
};

/** A refusal for a window that has closed is given once the store knows how late it is. */
const refusedIsWritten: Check = {
  onAnswered: (world, { request, host, bearer, before, hubNowMs }, { status }) => {
    if (status !== 401 || request.path !== '/v1/heartbeat' || request.tokens.length > 0 || bearer === undefined) return;
    const rows = [before, world.snapshot].map(({ hosts }) => hosts.get(host ?? ''));
    if (rows.some((row) => row?.status !== 'active' || row.life !== bearer.life)) return;
    const generations = [before, world.snapshot].map((snapshot) => snapshot.generations.get(bearer.version));
    const [generation, now] = generations;
    if (generation?.state !== 'previous' || now?.state !== 'previous' || windowOf(generation) !== windowOf(now)) return;
    const endMs = now.verify_until ?? 0;
    if (hubNowMs < endMs || !equalBytes(bearer.master, now.master ?? new Uint8Array())) return;
    assertThat(
      world.snapshot.clockFloorMs >= endMs,
      'I7',
      () => `version ${bearer.version} was refused, and a restart would open its window again`,
    );
  },
};

type Generation = NonNullable<ReturnType<StoreSnapshot['generations']['get']>>;

function windowOf({ version, master }: Generation): string {
  return `${version} ${Buffer.from(master ?? []).toString('hex')}`;
}

const windowsOnlyShorten: Check = {
  onCommit: (_world, before, after) => {
    for (const { version, state, verify_until } of after.generations.values()) {
      const former = before.generations.get(version);
      if (former?.state !== 'previous' || state === 'destroyed') continue;
      const isShorter = state === 'previous' && (verify_until ?? 0) <= (former.verify_until ?? 0);
      assertThat(isShorter, 'I7', () => `the window of version ${version} was extended`);
    }
  },
};

/** A closed version takes nobody; what was read of the store may say yes for a while after it was changed (I8). */
const closedVersionsTakeNobody: Check = {
  onAnswered: ({ ledger, yesMs }, { request, bearer, hubNowMs, nowMs }, { status }) => {
    if (status !== 200 || request.path !== '/v1/heartbeat' || bearer === undefined) return;
    const wasLive = ledger.wasLive(bearer.version, hubNowMs, nowMs, yesMs);
    assertThat(
      wasLive,
      'I7',
      () => `version ${bearer.version} was taken at ${new Date(hubNowMs).toISOString()}, after its window`,
    );
  },
};

/** Narrowing comes after the window: from then on the old version is refused, whatever a clock says later. */
const narrowedVersionsStayClosed: Check = {
  onCommit: (world, _before, { rotations }) => {
    const known = narrowed.get(world) ?? new Map<string, number>();
    narrowed.set(world, known);
    for (const { id, phase } of rotations)
      if ((phase === 'narrowing' || phase === 'done') && !known.has(id)) known.set(id, world.scheduler.nowMs);
  },
  onAnswered: (world, { request, bearer, before, nowMs }, { status }) => {
    if (status !== 200 || request.path !== '/v1/heartbeat' || bearer === undefined) return;
    const { yesMs } = world;
    const isOver = before.rotations.some(({ id, from_version, phase }) => {
      const sinceMs = narrowed.get(world)?.get(id) ?? Number.POSITIVE_INFINITY;
      return from_version === bearer.version && (phase === 'narrowing' || phase === 'done') && sinceMs + yesMs < nowMs;
    });
    const isLive = before.generations.get(bearer.version)?.state === 'current';
    assertThat(!isOver || isLive, 'I7', () => `version ${bearer.version} was taken after its rotation had narrowed`);
  },
};

/** Since when a rotation is known to have narrowed, by its id. */
const narrowed = new WeakMap<World, Map<string, number>>();

export const oneClock: readonly Check[] = [
  hubTimeNeverGoesBack,
  endedWindowsStayClosed,
  refusedIsWritten,
  windowsOnlyShorten,
  closedVersionsTakeNobody,
  narrowedVersionsStayClosed,
];
