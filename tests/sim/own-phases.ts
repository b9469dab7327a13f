/** The table of design 5, written once more: what verifiers take and callers present in each phase of a token's rotation. */
import { isOver, type StoreSnapshot, type TokenRotationRow } from './machines/store-snapshot.ts';

type Side = 'old' | 'new';

interface Row {
  readonly takes: readonly Side[];
  readonly presents: readonly Side[];
}

const phases: Readonly<Record<string, Row>> = {
  planned: { takes: ['old'], presents: ['old'] },
  widening: { takes: ['old', 'new'], presents: ['old'] },
  rolling: { takes: ['old', 'new'], presents: ['old', 'new'] },
  proving: { takes: ['old', 'new'], presents: ['new'] },
  narrowing: { takes: ['new'], presents: ['new'] },
  reverting: { takes: ['old', 'new'], presents: ['old'] },
  withdrawing: { takes: ['old'], presents: ['old'] },
};

export interface OwnSets {
  readonly takes: readonly number[];
  readonly presents: readonly number[];
}

/** `hasEnded`: the time has come at which the old one is refused, whoever presents it. */
export function ownSets(snapshot: StoreSnapshot, secret: string, hasEnded: boolean): OwnSets {
  const rotation = runningOf(snapshot, secret);
  if (rotation === undefined) {
    const current = [snapshot.currentTokens.get(secret) ?? 0];
    return { takes: current, presents: current };
  }
  const { from_version, to_version, phase } = rotation;
  if (hasEnded) return { takes: [to_version], presents: [to_version] };
  const { takes, presents } = phases[phase] as Row;
  const numbers = (sides: readonly Side[]) => sides.map((side) => (side === 'old' ? from_version : to_version));
  return { takes: numbers(takes), presents: numbers(presents) };
}

export function runningOf(snapshot: StoreSnapshot, secret: string): TokenRotationRow | undefined {
  const newest = snapshot.tokenRotations.get(secret);
  return newest === undefined || isOver(newest) ? undefined : newest;
}

/** Which version is on its way out, and which stays. */
export function sidesOf({ phase, from_version, to_version }: TokenRotationRow): {
  readonly goes: number;
  readonly stays: number;
} {
  const isBack = phase === 'reverting' || phase === 'withdrawing' || phase === 'rolled_back';
  return isBack ? { goes: to_version, stays: from_version } : { goes: from_version, stays: to_version };
}
