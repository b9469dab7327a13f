/** Which running agent speaks for a host: clones and replays, told apart by `instance` and `seq` (design 3). */

import { limits } from '../limits.ts';

export interface Speaker {
  /** Random per start of an agent. */
  readonly instance: string;
  /** The highest `seq` that was heard from it. */
  readonly seq: number;
}

export interface FormerSpeaker extends Speaker {
  /** How often it came back beside its successor. */
  readonly returns: number;
}

/** What is remembered per host. Bounded by `limits.supersededInstances`. */
export interface InstanceState {
  readonly current: Speaker | null;
  /** Newest first. */
  readonly superseded: readonly FormerSpeaker[];
}

export const noInstances: InstanceState = { current: null, superseded: [] };

/** The beat is answered as usual in every case. It moves fields of the registry only where `moves` is true. */
export interface InstanceNote {
  readonly kind:
    | 'new' // an agent that started; it supersedes the one before
    | 'rising' // the usual case
    | 'replay' // seq does not rise: counted
    | 'superseded' // a former one came back once: a late packet, perhaps
    | 'clone' // and again: two machines with one identity
    | 'returned'; // a former one came back and its successor has fallen silent
  readonly moves: boolean;
  /** `clone`: the two that alternate. */
  readonly evidence: { readonly current: string; readonly other: string } | null;
  readonly state: InstanceState;
}

/** Notes one authenticated beat. `currentIsFresh`: whether the host is fresh, that is, its current instance is. */
export function noteInstance(
  state: InstanceState,
  instance: string,
  seq: number,
  currentIsFresh: boolean,
): InstanceNote {
  const { current } = state;
  if (current === null) return succeed(state, 'new', { instance, seq });
  if (current.instance === instance) {
    if (!(seq > current.seq)) return unchanged(state, 'replay');
    // The text that is held stays: that of each beat would be kept for an interval, and grow old as garbage.
    const next = { instance: current.instance, seq };
    return { kind: 'rising', moves: true, evidence: null, state: { current: next, superseded: state.superseded } };
  }
  const former = state.superseded.find((speaker) => speaker.instance === instance);
  if (former === undefined) return succeed(state, 'new', { instance, seq });
  if (!(seq > former.seq)) return unchanged(state, 'replay');
  if (!currentIsFresh) return succeed(state, 'returned', { instance, seq });
  return comeBack(state, current, { instance, seq, returns: former.returns + 1 });
}

/** The registry's fields stay with the newest instance, so that two machines do not make them flap. */
function comeBack(state: InstanceState, current: Speaker, former: FormerSpeaker): InstanceNote {
  const superseded = state.superseded.map((speaker) => (speaker.instance === former.instance ? former : speaker));
  const isClone = former.returns >= limits.cloneReturns;
  return {
    kind: isClone ? 'clone' : 'superseded',
    moves: false,
    evidence: isClone ? { current: current.instance, other: former.instance } : null,
    state: { current, superseded },
  };
}

function succeed(state: InstanceState, kind: 'new' | 'returned', next: Speaker): InstanceNote {
  const others = state.superseded.filter((speaker) => speaker.instance !== next.instance);
  const former = state.current === null ? [] : [{ ...state.current, returns: 0 }];
  const superseded = [...former, ...others].slice(0, limits.supersededInstances);
  return { kind, moves: true, evidence: null, state: { current: next, superseded } };
}

function unchanged(state: InstanceState, kind: 'replay'): InstanceNote {
  return { kind, moves: false, evidence: null, state };
}
