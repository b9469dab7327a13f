/** Waves: which callers switch next while a rotation is rolling (design 5). */

import assert from 'node:assert/strict';
import { phases, type Rotation } from './phases.ts';
import { hasProven, isAssignable, lacksNothing, type RollHost } from './roll.ts';

export interface WavePolicy {
  /**
   * How many switch at a time once the canary has proven, and a refusal pauses. `everyone` for the master: its verifiers
   * hold both, a host that refuses harms nobody, and a refusal is a host's own word: a thief with the bearer of one
   * host must not stop the rotation of all. There another canary goes first, and the gate names the one that refuses.
   */
  readonly batch: number | 'everyone';
  /**
   * The canary has had its time (`limits.canaryMs`). One that beats and never proves may be a thief's: with `everyone`
   * the others wait for it no longer, or the end of the window would strand them all.
   */
  readonly canaryIsOver?: boolean;
}

export type Wave =
  /** Switch these. Empty: wait for those that are on their way. */
  | { readonly kind: 'switch'; readonly members: readonly string[]; readonly canary: string | null }
  /** A member refused the delivery: nobody else is switched until a person has looked. */
  | { readonly kind: 'paused'; readonly member: string; readonly because: string };

/** Plans the next wave over every host of the roll. Whoever was switched stays switched. */
export function planWave(rotation: Rotation, members: readonly RollHost[], policy: WavePolicy): Wave {
  assert(policy.batch === 'everyone' || policy.batch >= 1, 'a wave has members');
  const wait: Wave = { kind: 'switch', members: [], canary: rotation.canary };
  if (!phases[rotation.phase].switches || rotation.pausedBecause !== null) return wait;

  const refusing = members.find((host) => isAwaited(rotation, host) && host.switched && host.refusal !== null);
  if (refusing !== undefined && policy.batch !== 'everyone')
    return { kind: 'paused', member: refusing.id, because: refusing.refusal ?? '' };

  const isCanaryAlone = policy.batch !== 'everyone' || policy.canaryIsOver !== true;
  if (isCanaryAlone && !members.some((host) => hasProven(host, rotation.to))) return planCanary(rotation, members);
  const waiting = members.filter((host) => !host.switched && isAssignable(host)).sort(freshFirst);
  if (policy.batch === 'everyone') return { ...wait, members: waiting.map((host) => host.id) };
  // Each wave must have proven before the next one starts. A silent member holds it, and is named by the gate.
  const onTheirWay = members.some((host) => host.switched && isAwaited(rotation, host));
  if (onTheirWay) return wait;
  return { ...wait, members: waiting.slice(0, policy.batch).map((host) => host.id) };
}

/** One fresh, pinned host goes first. If it falls silent another one does: silence is no failure. */
function planCanary(rotation: Rotation, members: readonly RollHost[]): Wave {
  const canary = members.find((host) => host.id === rotation.canary);
  if (canary !== undefined && canCarry(rotation, canary)) {
    return { kind: 'switch', members: canary.switched ? [] : [canary.id], canary: canary.id };
  }
  const chosen = members.filter((host) => canCarry(rotation, host)).sort(freshFirst)[0];
  if (chosen === undefined) return { kind: 'switch', members: [], canary: rotation.canary };
  return { kind: 'switch', members: chosen.switched ? [] : [chosen.id], canary: chosen.id };
}

/** Who was left is waited for no longer, so it leads nobody. */
function canCarry(rotation: Rotation, host: RollHost): boolean {
  const isWell = host.status === 'active' && host.fresh && host.pin === 'usable' && host.refusal === null;
  return isWell && isAssignable(host) && !rotation.left.includes(host.id);
}

/** Whether the rotation waits for this host's proof. */
function isAwaited(rotation: Rotation, host: RollHost): boolean {
  return !lacksNothing(host) && !rotation.left.includes(host.id) && !hasProven(host, rotation.to);
}

function freshFirst(a: RollHost, b: RollHost): number {
  if (a.fresh !== b.fresh) return a.fresh ? -1 : 1;
  return a.id < b.id ? -1 : 1;
}
