/** What an agent knows, what can happen to it, and what it can do: the types that `tick` goes between (design 2). */
import type { ErrorCode } from '@rollcall/core/errors';
import type { SecretBytes } from '@rollcall/core/keys';
import type { LogFields, Random, TransportAnswer, TransportRequest } from '@rollcall/core/ports';
import type { HeartbeatBody, PinState } from '@rollcall/wire';
import type { BearerMemory } from './bearer.ts';
import type { Confirmation } from './listener/decide-listener.ts';
import type { CertificateMemory } from './listener-certificate.ts';
import type { SinkFact } from './sinks/attempt-sink.ts';
import type { DurableState, PendingEnrolment, StatementTime } from './state/durable-state.ts';
import type { AskedCertificate } from './state/listener-keys.ts';

export interface AgentState {
  /** What is in force. It changes only after the disk has (design 4). */
  readonly durable: DurableState;
  /** False until the very first state has been written. Before that nothing is said to anyone (I11). */
  readonly onDisk: boolean;
  readonly startup: 'fresh' | 'restored';
  /** 16 random bytes of this start. */
  readonly instance: Uint8Array;
  /** Addresses given at start, instead of the stored ones. */
  readonly hubs?: readonly string[];
  /** Of a host of an older fleet: what it presents until it holds an assignment. */
  readonly fleet?: FleetBearer;
  /** A token given at start, not yet durable as `durable.enrolment`. */
  readonly toRedeem?: PendingEnrolment;
  /** The hub refused the token while this host has another identity: it is not tried again before the next start. */
  readonly enrolmentRefused: boolean;
  /** Found at start; shown until the end. */
  readonly warnings: readonly ErrorCode[];

  readonly doing: Doing;
  /** Of the last heartbeat that was sent; rises with each attempt. */
  readonly seq: number;
  /** Failures in a row, of whatever kind. */
  readonly failures: number;
  /** Which address is next: counted up, taken modulo. */
  readonly hubIndex: number;
  readonly lastRoute?: AgentRoute;
  readonly bearer: BearerMemory;
  /** Of the listener, where there is one. */
  readonly certificate: CertificateMemory;
  /** Deliveries that the last answer brought and that were not applied, by secret. */
  readonly refused: ReadonlyMap<string, Refusal>;
  /** Times of statements, ahead of the durable ones. */
  readonly statements: ReadonlyMap<string, StatementTime>;
  /** Which generations the hub verifies, as it last said since this start. */
  readonly confirmation?: Confirmation;
  /** Why the last write failed; absent when it did not. */
  readonly diskProblem?: 'disk_full' | 'state_unwritable';
  /** Why the last attempt failed; absent when it did not. */
  readonly problem?: ErrorCode;
  readonly hubReachable: boolean;
  readonly lastAnswer?: { readonly wallMs: number; readonly monotonicMs: number; readonly pin: PinState };
  /** Whether the last beat was sent at once, to prove what had been applied. */
  readonly hurried: boolean;
  /** Heartbeats of this start by what came back. */
  readonly heartbeats: ReadonlyMap<string, number>;
}

export interface FleetBearer {
  readonly life: number;
  readonly key: SecretBytes<'host-key'>;
}

export interface Refusal {
  readonly reason: ErrorCode;
  /** Answers in a row in which a delivery of this secret was refused. */
  readonly times: number;
}

export type AgentRoute = 'enrol' | 'trustBundle' | 'challenge' | 'certificate' | 'heartbeat';

/** One thing at a time; each ends with the one event that belongs to it. */
export type Doing =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'asking'; readonly route: AgentRoute; readonly bearerVersion?: number }
  | ({ readonly kind: 'persisting' } & Write);

export interface Write {
  readonly next: DurableState;
  /** Secrets whose deliveries are in `next`: they count as refused when the disk does not take it. */
  readonly secrets: readonly string[];
  /** What was refused before the answer that is being written, to count from. */
  readonly refusedBefore: ReadonlyMap<string, Refusal>;
  /** Whether this is what a start has to write before it can ask: without it nothing may be lost but the enrolment. */
  readonly isBeginning: boolean;
  /** Whether there is something to prove or to go on with, or only to wait for. */
  readonly thenAtOnce: boolean;
  /** When to go on otherwise, and when the write fails. */
  readonly wakeAtMs: number;
}

export interface Moment {
  readonly wallMs: number;
  readonly monotonicMs: number;
  readonly random: Random;
  /** What this host's verifiers and sinks have to say in the next beat. */
  readonly reports?: BeatReports;
  /** How the token files for other programs stand, which are kept beside the loop. */
  readonly sinks?: readonly SinkFact[];
  /** Only where this agent is to have a listener. */
  readonly makeListenerRequest?: MakeListenerRequest;
}

/** A new key and a request for its certificate. A port: keys are made in adapters. */
export type MakeListenerRequest = (host: string) => AskedCertificate;

export type BeatReports = Pick<HeartbeatBody, 'listener' | 'tokens' | 'probes' | 'sinks'>;

export type AgentEvent =
  | { readonly type: 'started' }
  | { readonly type: 'woken' }
  | { readonly type: 'answered'; readonly answer: TransportAnswer }
  | { readonly type: 'failed'; readonly code: ErrorCode; readonly cause: string }
  | { readonly type: 'persisted' }
  | { readonly type: 'persist_failed'; readonly code: 'disk_full' | 'state_unwritable'; readonly cause: string };

export interface LogAction {
  readonly type: 'log';
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields?: LogFields;
}

/** What is awaited: each gives the event that `tick` is called with next. */
export type Effect =
  | { readonly type: 'wake_at'; readonly monotonicMs: number }
  | { readonly type: 'persist'; readonly next: DurableState }
  | { readonly type: 'post_heartbeat'; readonly request: TransportRequest }
  | { readonly type: 'post_enrol'; readonly request: TransportRequest }
  | { readonly type: 'fetch_trust_bundle'; readonly request: TransportRequest }
  | { readonly type: 'post_challenge'; readonly request: TransportRequest }
  | { readonly type: 'post_certificate'; readonly request: TransportRequest };

/** Any number of log lines, and exactly one effect, which is last. */
export type Actions = readonly [...LogAction[], Effect];

export interface Ticked {
  readonly state: AgentState;
  readonly actions: Actions;
}
