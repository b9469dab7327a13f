/** Starting the rotation of a shared token, shortening it, and how far it goes by itself (design 5). */
import { RollcallError } from '../errors.ts';
import type { Gate } from './gate.ts';
import { isWindowOpen } from './generations.ts';
import type { Holder } from './holder.ts';
import { assertTimeTrusted, type HubTime } from './hub-time.ts';
import { coverLeave } from './leave.ts';
import { type Auto, isRunning, type Phase, phases, type Rotation, type RotationReason } from './phases.ts';
import { lacksNothing } from './roll.ts';

export interface TokenStartRequest {
  readonly id: string;
  readonly secret: string;
  readonly reason: RotationReason;
  readonly leave: readonly string[];
  /** When the old version is refused, whoever presents it; a must after a leak, and only then. */
  readonly narrowByMs: number | null;
  readonly auto: Auto;
  /** How many callers switch at a time. */
  readonly batch: number;
  /** An old version lives for one heartbeat interval at least, or no host could come along. */
  readonly beatMs: number;
  readonly narrowByMaxMs: number;
}

/**
 * Decides a start, or throws: `rotation_running` (one rotation per secret at a time), `narrow_by_missing`, `window_out_of_bounds`,
 * `no_holder`, `hosts_without_pin` with the names. `latest` is the newest rotation of this secret, running or ended.
 */
export function decideTokenStart(
  latest: Rotation | null,
  currentVersion: number,
  highestVersion: number,
  request: TokenStartRequest,
  holders: readonly Holder[],
  time: HubTime,
): Rotation {
  assertTimeTrusted(time);
  if (latest !== null && isRunning(latest)) throw new RollcallError('rotation_running', { hosts: [] });
  const narrowByMs = readNarrowBy(request, time.nowMs);
  const hosts = holders.filter(({ kind }) => kind === 'host');
  if (holders.every(({ kind }) => kind === 'replica')) throw new RollcallError('no_holder');
  // Nothing can be sealed to them. After a leak every hour counts, so they are named by the gates, not waited for.
  const concerned = hosts.filter((host) => host.pin !== 'usable' && !lacksNothing(host)).map(({ id }) => id);
  const members = holders.map(({ id }) => id);
  const waitedFor = request.reason === 'leak' ? [] : concerned;
  return {
    id: request.id,
    secret: request.secret,
    from: currentVersion,
    // A version that was rolled back keeps its number: none is ever given to two values.
    to: highestVersion + 1,
    phase: 'widening',
    reason: request.reason,
    startedAtMs: time.nowMs,
    phaseStartedAtMs: time.nowMs,
    left: coverLeave({ leave: request.leave, left: [] }, waitedFor, members, 'hosts_without_pin'),
    pausedBecause: null,
    canary: null,
    terms: { auto: request.auto, batch: request.batch, narrowByMs },
  };
}

/** Whether the old version verifies at all: always in a planned walk; after a leak until the hub refuses it (I7). */
export function oldTokenVerifies({ reason, terms }: Rotation, nowMs: number): boolean {
  const narrowByMs = terms?.narrowByMs ?? null;
  if (reason === 'planned' && narrowByMs === null) return true;
  return isWindowOpen(narrowByMs, nowMs);
}

/**
 * When the old version is refused once `hub accept-time` has set the clock from `beforeMs` to `afterMs`: at no later time than was
 * said, and what has ended stays ended. Said by the time that was wrong, it is as long away as it was then, and no longer (I7).
 */
export function endAfterAcceptedTime(
  { startedAtMs, terms }: Rotation,
  {
    beforeMs,
    afterMs,
    narrowByMaxMs,
  }: { readonly beforeMs: number; readonly afterMs: number; readonly narrowByMaxMs: number },
): number | null {
  const narrowByMs = terms?.narrowByMs ?? null;
  if (narrowByMs === null) return null;
  if (!isWindowOpen(narrowByMs, beforeMs)) return Math.min(narrowByMs, afterMs);
  const wasSaidByIt = startedAtMs > afterMs || narrowByMs > afterMs + narrowByMaxMs;
  return wasSaidByIt ? Math.min(narrowByMs, afterMs + (narrowByMs - beforeMs)) : narrowByMs;
}

/** Whether the time has come at which nobody is waited for any more: the walk stands before narrowing, and the old one is refused. */
export function mustNarrowNow(rotation: Rotation, nowMs: number): boolean {
  return standsBeforeNarrowing(rotation.phase) && !oldTokenVerifies(rotation, nowMs);
}

/** `rotation cut --until TIME --leave NAME…` of a token: an earlier end than before, never a later one. */
export function decideTokenCut(
  rotation: Rotation,
  { untilMs, leave }: { readonly untilMs: number; readonly leave: readonly string[] },
  holders: readonly Holder[],
  nowMs: number,
): Rotation {
  if (!standsBeforeNarrowing(rotation.phase)) throw new RollcallError('rotation_moved_on', { phase: rotation.phase });
  const { terms } = rotation;
  if (terms === undefined) throw new TypeError('rotation of a token without terms');
  if (!(untilMs < (terms.narrowByMs ?? Number.POSITIVE_INFINITY))) {
    throw new RollcallError('window_not_shortened', { untilMs: terms.narrowByMs });
  }
  const stranded = holders.filter((holder) => isStranded(holder, rotation)).map(({ id }) => id);
  const left = coverLeave(
    { leave, left: rotation.left },
    stranded,
    holders.map(({ id }) => id),
    'would_strand',
  );
  return { ...rotation, left, terms: { ...terms, narrowByMs: Math.max(untilMs, nowMs) } };
}

/**
 * Whether an open gate is gone through without an operator. Narrowing has no way back: `--auto` stops before it unless it is
 * `--auto=all`. No version is dropped, nor the new one on the way back, where a verifier's evidence is its own report alone
 * (design 5, Probes).
 */
export function goesOnByItself(rotation: Rotation, gate: Gate, holders: readonly Holder[]): boolean {
  if (!gate.open || rotation.pausedBecause !== null) return false;
  const { next, rollback } = phases[rotation.phase];
  const drops = next === 'narrowing' || next === 'withdrawing';
  if (drops && holders.some((holder) => isKnownByReportAlone(holder, rotation))) return false;
  // Once narrowed, or on its way back, nothing is left to decide.
  if (rollback === null) return true;
  const auto = rotation.terms?.auto ?? 'off';
  return next === 'narrowing' ? auto === 'all' : auto !== 'off';
}

function isKnownByReportAlone({ id, verifies, hadListener = false, probedBy }: Holder, { left }: Rotation): boolean {
  return (verifies === true || hadListener) && probedBy === 'itself' && !left.includes(id);
}

/** Who would be refused when the old version is. Nothing is known of a declared caller, so it always might be. */
function isStranded(holder: Holder, { to }: Rotation): boolean {
  if (lacksNothing(holder)) return false;
  return holder.kind === 'caller' || (holder.presents && holder.provenVersion !== to);
}

function standsBeforeNarrowing(phase: Phase): boolean {
  return phases[phase].rollback !== null;
}

/** When the old one is to be refused: `narrow_by_missing` after a leak without it, `window_out_of_bounds`. */
export function readNarrowBy(
  {
    reason,
    narrowByMs,
    beatMs,
    narrowByMaxMs,
  }: Pick<TokenStartRequest, 'reason' | 'narrowByMs' | 'beatMs' | 'narrowByMaxMs'>,
  nowMs: number,
): number | null {
  if (narrowByMs === null) {
    if (reason === 'leak') throw new RollcallError('narrow_by_missing');
    return null;
  }
  // Written so that an unreadable time (NaN) is none: as an end it would have passed, and cut everyone off (I7).
  if (narrowByMs >= nowMs + beatMs && narrowByMs <= nowMs + narrowByMaxMs) return narrowByMs;
  throw new RollcallError('window_out_of_bounds', { minMs: beatMs, maxMs: narrowByMaxMs });
}
