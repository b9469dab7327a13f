/** The three things that an agent does, as what `tick` returns: it waits, writes its state, or asks the hub. */
import type { AgentRoute, AgentState, Doing, Effect, LogAction, Ticked, Write } from './agent-state.ts';

export function wait(state: AgentState, monotonicMs: number, logs: readonly LogAction[] = []): Ticked {
  return perform({ ...state, doing: { kind: 'waiting' } }, { type: 'wake_at', monotonicMs }, logs);
}

export function write(state: AgentState, writing: Write, logs: readonly LogAction[]): Ticked {
  const effect: Effect = { type: 'persist', next: writing.next };
  return perform({ ...state, doing: { kind: 'persisting', ...writing } }, effect, logs);
}

export function send(
  state: AgentState,
  asking: { readonly route: AgentRoute; readonly bearerVersion?: number },
  effect: Effect,
  logs: readonly LogAction[],
): Ticked {
  return perform({ ...state, doing: { kind: 'asking', ...asking }, lastRoute: asking.route }, effect, logs);
}

/** What is being done. An event that belongs to something else is a programmer's error, in the loop or in a simulator. */
export function assertDoing<Kind extends Doing['kind']>(
  { doing }: AgentState,
  kind: Kind,
): Extract<Doing, { kind: Kind }> {
  if (doing.kind !== kind) throw new TypeError(`tick: this event belongs to ${kind}, not to ${doing.kind}`);
  return doing as Extract<Doing, { kind: Kind }>;
}

/** A write that carries no delivery. */
export const nothingDelivered: Pick<Write, 'secrets' | 'refusedBefore' | 'isBeginning'> = {
  secrets: [],
  refusedBefore: new Map(),
  isBeginning: false,
};

function perform(state: AgentState, effect: Effect, logs: readonly LogAction[]): Ticked {
  return { state, actions: [...logs, effect] };
}
