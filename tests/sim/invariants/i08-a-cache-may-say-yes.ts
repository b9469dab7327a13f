/** I8: a no is asked of the source first, and a yes from memory dies 30 s after the source last answered. */
import { LONGEST_YES_MS } from '../cached-yes.ts';
import { assertThat, type Check } from './invariant.ts';

/** A store that does not answer has not said no: then the answer is "cannot tell". */
const noRefusalWithoutTheSource: Check = {
  onAnswered: (world, { request, nowMs }, { status }) => {
    if (request.path !== '/v1/heartbeat' || status !== 401) return;
    const wasDown = world.storeDownSinceMs !== undefined && world.storeDownSinceMs < nowMs;
    assertThat(!wasDown, 'I8', () => 'a refusal was answered while the source could not be read');
  },
};

const noOldYes: Check = {
  onAnswered: (world, { request, nowMs }, { status }) => {
    const { storeDownSinceMs } = world;
    if (request.path !== '/v1/heartbeat' || status !== 200 || storeDownSinceMs === undefined) return;
    assertThat(nowMs - storeDownSinceMs <= LONGEST_YES_MS, 'I8', () => `a yes was ${nowMs - storeDownSinceMs} ms old`);
  },
};

export const aCacheMaySayYes: readonly Check[] = [noRefusalWithoutTheSource, noOldYes];
