/** I7: windows close on the hub's clock, and nothing extends or reopens one. */
import type { Hub } from '@rollcall/hub/parts';
import { CACHED_YES_MS } from '../ledger.ts';
import { assertThat, type Check } from './invariant.ts';

const lastReading = new WeakMap<Hub, number>();

const hubTimeNeverGoesBack: Check = {
  onHubStarted: (world, hub) => {
    const nowMs = hub.clock.now();
    assertThat(nowMs >= world.snapshot.clockFloorMs, 'I7', () => `hub time began at ${nowMs}, before the stored floor`);
  },
  onStep: (_world, hub) => {
    const nowMs = hub.clock.now();
    assertThat(nowMs >= (lastReading.get(hub) ?? 0), 'I7', () => `hub time went back to ${nowMs}`);
    lastReading.set(hub, nowMs);
  },
};

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
  onAnswered: ({ ledger }, { request, bearer, hubNowMs, nowMs }, { status }) => {
    if (status !== 200 || request.path !== '/v1/heartbeat' || bearer === undefined) return;
    const wasLive = ledger.wasLive(bearer.version, hubNowMs, nowMs, CACHED_YES_MS);
    assertThat(
      wasLive,
      'I7',
      () => `version ${bearer.version} was taken at ${new Date(hubNowMs).toISOString()}, after its window`,
    );
  },
};

/** Narrowing comes after the window: from then on the old version is refused, whatever a clock says later. */
const narrowedVersionsStayClosed: Check = {
  onAnswered: (_world, { request, bearer, before }, { status }) => {
    if (status !== 200 || request.path !== '/v1/heartbeat' || bearer === undefined) return;
    const isOver = before.rotations.some(
      ({ phase, from_version }) => from_version === bearer.version && (phase === 'narrowing' || phase === 'done'),
    );
    const isLive = before.generations.get(bearer.version)?.state === 'current';
    assertThat(!isOver || isLive, 'I7', () => `version ${bearer.version} was taken after its rotation had narrowed`);
  },
};

export const oneClock: readonly Check[] = [
  hubTimeNeverGoesBack,
  windowsOnlyShorten,
  closedVersionsTakeNobody,
  narrowedVersionsStayClosed,
];
