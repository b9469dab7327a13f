/** What an invariant can look at, and when. Each is written once, in the file of its number, and throws what it found. */
import type { AgentState } from '@rollcall/agent';
import type { TransportAnswer, TransportRequest } from '@rollcall/core/ports';
import type { Hub } from '@rollcall/hub/parts';
import type { Call } from '../acts/callers.ts';
import { type Task, Violation } from '../engine/scheduler.ts';
import type { Bearer } from '../ledger.ts';
import type { AgentMachine } from '../machines/agent-machine.ts';
import type { Request } from '../machines/exchange.ts';
import type { StoreSnapshot } from '../machines/store-snapshot.ts';
import type { World } from '../world.ts';

/** A request in the hands of the hub, with what was true when it arrived. */
export interface Handling {
  readonly request: Request;
  /** That it claims to be of. */
  readonly host: string | undefined;
  /** What its bearer really is; `undefined`: none of this host. */
  readonly bearer: Bearer | undefined;
  readonly before: StoreSnapshot;
  readonly hubNowMs: number;
  readonly nowMs: number;
}

export interface Check {
  /** After a change that is in the store for good. `by`: the task that made it. */
  readonly onCommit?: (world: World, before: StoreSnapshot, after: StoreSnapshot, by: Task | undefined) => void;
  readonly onHandling?: (world: World, handling: Handling) => void;
  readonly onAnswered?: (world: World, handling: Handling, answer: TransportAnswer) => void;
  readonly onRequest?: (world: World, machine: AgentMachine, request: TransportRequest) => void;
  readonly onLoaded?: (world: World, machine: AgentMachine, wasEmpty: boolean, initial: AgentState) => void;
  readonly onAgentState?: (world: World, machine: AgentMachine, state: AgentState) => void;
  /** It could not start, or it broke: with this code. */
  readonly onEnded?: (world: World, machine: AgentMachine, code: string) => void;
  readonly onHubStarted?: (world: World, hub: Hub) => void;
  readonly onLog?: (world: World, line: string) => void;
  /** A caller beside the hub was answered, by the hub or by the listener of a host. */
  readonly onCalled?: (world: World, call: Call, status: number) => void;
  readonly onStep?: (world: World, hub: Hub) => void;
}

export type InvariantNumber = `I${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13 | 14}`;

export function assertThat(holds: boolean, number: InvariantNumber, otherwise: () => string): asserts holds {
  if (!holds) throw new Violation(number, otherwise());
}
