/** A member of the rotation of a shared token, as it is seen at one moment: who takes the token, who sends it, or both (design 5). */
import { phases, type Rotation, type Side } from './phases.ts';
import type { RollHost } from './roll.ts';

/**
 * A holder is a row of the roll with what is known of it and this one token. `provenVersion` is here the version that its own
 * step tells it to present, once a verifier has seen it do so beside its own credential while it reported that step (I5);
 * `presentingOld`: since then it was seen with another one; `narrowed`: of a step that accepts the new version alone.
 * A replica of the hub and a declared caller are active, fresh and pinned, and have nothing to be delivered.
 */
export interface Holder extends RollHost {
  readonly kind: 'host' | 'replica' | 'caller';
  /**
   * It has a listener that takes the token, open or closed, or is a replica. A host without one is no verifier. `null`: it was not
   * heard since the hub began, and whether it has one is not known (I10).
   */
  readonly verifies: boolean | null;
  /** It said in the course of this rotation that it has a listener, whatever it says now: that there is none is its own word. */
  readonly hadListener?: boolean;
  /** Its listener was closed when it was heard last: it takes nothing and counts nothing, and may open at any time. */
  readonly isClosed: boolean;
  /** It sends the token, and says so beside a credential of its own. Of a declared caller nothing is known. */
  readonly presents: boolean;
  /** It holds the token no more, and was not seen without it since it was told so. Until then it may take and send it. */
  readonly isReleased: boolean;
  /** Who asks its listener. What a host finds at itself is a report, on which alone nothing is ever narrowed by itself. */
  readonly probedBy: 'hub' | 'itself';
  /** What was found at its listener since its present step began; `null`: nothing yet. */
  readonly probe: Probe | null;
  /** Its count of the retiring version; `null`: it has not reported one, or not lately. */
  readonly quiet: Quiet | null;
  /** Who still sent the retiring version to it, the newest first. */
  readonly sources: readonly HitSource[];
  /** `null`: it was not heard since the hub began, and what it keeps is not known (I10). */
  readonly sinks: readonly SinkState[] | null;
}

export interface Probe {
  readonly takes: readonly number[];
  readonly refuses: readonly number[];
  /** The control: a random value was refused. Without it a listener that takes anything would pass. */
  readonly randomRefused: boolean;
}

/** Of a counter that is cumulative: what is not in one report is in the next, so that one missed report is no gap yet. */
export interface Quiet {
  /** Since when the count is what it is, on the hub's clock. A counter that began anew has been flat since then. */
  readonly flatSinceMs: number;
  /** When it was reported last. */
  readonly reportedAtMs: number;
}

export interface HitSource {
  readonly address: string;
  readonly userAgent: string;
  readonly route: string;
  /** Declared with the token, or verified beside it; `null`: neither. */
  readonly host: string | null;
  /** That `host` was verified is said; of what nobody verified it never is. */
  readonly proven?: true;
  readonly atMs: number;
}

export interface SinkState {
  readonly name: string;
  /** The keyed digest of its live file is that of the version that its host is to present. */
  readonly isCurrent: boolean;
  /** Whoever reads it was told of what its host is to accept by its present step. */
  readonly isTold: boolean;
  /** Why not, in the agent's word; `null` when it gave none. */
  readonly problem: string | null;
}

/** The version that is on its way out: the old one, or on the way back the new one. */
export function retiringVersion(rotation: Rotation): number {
  return goesBack(rotation) ? rotation.to : rotation.from;
}

/** The version that stays. */
export function stayingVersion(rotation: Rotation): number {
  return goesBack(rotation) ? rotation.from : rotation.to;
}

function goesBack({ phase }: Rotation): boolean {
  return phase === 'reverting' || phase === 'withdrawing' || phase === 'rolled_back';
}

/** The versions that a replica of the hub takes. `oldVerifies`: see `assignmentSets`. */
export function replicaAccepts(rotation: Rotation, oldVerifies: boolean): readonly number[] {
  if (!oldVerifies) return [rotation.to];
  return phases[rotation.phase].verifierAccepts.map((side: Side) => (side === 'old' ? rotation.from : rotation.to));
}
