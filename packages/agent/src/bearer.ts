/**
 * Which of its bearers a host presents. The assignment says which; but a hub that was restored from before that version
 * existed, or that has retired it while the host was away, knows only the other one that the host accepts. So after
 * repeated refusals the other is tried, and once it works, the right one is tried again from time to time.
 */
import type { SecretBytes } from '@rollcall/core/keys';
import { limits } from '@rollcall/core/limits';
import type { Assignment } from '@rollcall/core/seal';

export interface BearerMemory {
  /** Refusals (401) in a row. */
  readonly refusals: number;
  /** Until when the other version is presented, since it was taken and the right one was not. */
  readonly otherUntilMs?: number;
}

export interface Bearer {
  readonly version: number;
  readonly key: SecretBytes<'host-key'>;
}

export const freshBearerMemory: BearerMemory = { refusals: 0 };

/** The bearer for the next beat; `undefined` when the assignment gives none. */
export function chooseBearer(master: Assignment | undefined, memory: BearerMemory, nowMs: number): Bearer | undefined {
  const [present, other] = bearersOf(master);
  if (other === undefined) return present;
  if (memory.otherUntilMs !== undefined && nowMs < memory.otherUntilMs) return other;
  // Where the other has worked before, one refusal of the right one is enough to go back.
  const threshold = memory.otherUntilMs === undefined ? limits.refusedBearersBeforeOther : 1;
  const past = memory.refusals - threshold;
  return past >= 0 && past % 2 === 0 ? other : present;
}

/** What a taken heartbeat teaches. */
export function noteAccepted(
  master: Assignment | undefined,
  memory: BearerMemory,
  version: number | undefined,
  nowMs: number,
): BearerMemory {
  if (master === undefined || version === undefined || version === master.present) return freshBearerMemory;
  const isStill = memory.otherUntilMs !== undefined && nowMs < memory.otherUntilMs;
  return { refusals: 0, otherUntilMs: isStill ? (memory.otherUntilMs as number) : nowMs + limits.otherBearerMs };
}

/** What a 401 teaches. It never costs an identity (design 7). */
export function noteRefused(
  master: Assignment | undefined,
  memory: BearerMemory,
  version: number | undefined,
): BearerMemory {
  const refusals = memory.refusals + 1;
  const wasOther = master !== undefined && version !== undefined && version !== master.present;
  if (wasOther || memory.otherUntilMs === undefined) return { refusals };
  return { refusals, otherUntilMs: memory.otherUntilMs };
}

/** The one to present first. A version without a heartbeat key gives no bearer. */
function bearersOf(master: Assignment | undefined): readonly Bearer[] {
  if (master === undefined) return [];
  const bearers = master.accept.flatMap(({ version, value }) => {
    const key = 'keys' in value ? value.keys['heartbeat'] : undefined;
    return key === undefined ? [] : [{ version, key }];
  });
  return bearers.sort((a, b) => Number(b.version === master.present) - Number(a.version === master.present));
}
