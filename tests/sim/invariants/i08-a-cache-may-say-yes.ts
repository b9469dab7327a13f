/** I8: a no is asked of the source first, and a yes from memory dies 30 s after the source last answered. */
import { limits } from '@rollcall/core/limits';
import { assertThat, type Check } from './invariant.ts';

/** A store that does not answer has not said no: then the answer is "cannot tell". */
const noRefusalWithoutTheSource: Check = {
  onAnswered: (world, { request, nowMs }, { status }) => {
    if (request.path !== '/v1/heartbeat' || status !== 401) return;
    const wasDown = world.storeDownSinceMs !== undefined && world.storeDownSinceMs < nowMs;
    assertThat(!wasDown, 'I8', () => 'a refusal was answered while the source could not be read');
  },
};

/** One poll may lie between the last good answer and the first failure; a busy machine's timers are late. */
const noOldYes: Check = {
  onAnswered: (world, { request, nowMs }, { status }) => {
    const { storeDownSinceMs, knobs } = world;
    if (request.path !== '/v1/heartbeat' || status !== 200 || storeDownSinceMs === undefined) return;
    const graceMs = limits.cachedYesMs + limits.storePollMs + knobs.hubTimerLateMs + SLACK_MS;
    assertThat(nowMs - storeDownSinceMs <= graceMs, 'I8', () => `a yes was ${nowMs - storeDownSinceMs} ms old`);
  },
};

const SLACK_MS = 5_000;

export const aCacheMaySayYes: readonly Check[] = [noRefusalWithoutTheSource, noOldYes];
