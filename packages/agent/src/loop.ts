/** Performs what `tick` decides, and brings back what came of it. Nothing is decided here. */
import { isRollcallError } from '@rollcall/core/errors';
import type { Clock, Log, Random, Transport } from '@rollcall/core/ports';
import type {
  AgentEvent,
  AgentState,
  BeatReports,
  Effect,
  LogAction,
  MakeListenerRequest,
  Moment,
} from './agent-state.ts';
import type { SinkFact } from './sinks/attempt-sink.ts';
import { type DurableState, encodeDurableState } from './state/durable-state.ts';
import type { Persist } from './state/persist.ts';
import { tick } from './tick.ts';

export interface LoopPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly transport: Transport;
  readonly log: Log;
  readonly persist: Persist;
  /** Where this agent is to have a listener. */
  readonly makeListenerRequest?: MakeListenerRequest;
  readonly reports?: ReportsPort;
  /** How the token files for other programs stand at this moment. */
  readonly sinks?: () => readonly SinkFact[];
}

/** What there is to report in a beat, from the parts of an agent that are no part of `tick`. */
export interface ReportsPort {
  take(): BeatReports;
  /** The hub has answered the beat that said this. */
  taken(reports: BeatReports): void;
  /** Aborted as soon as there is something that should not wait for the next beat. */
  news(): AbortSignal;
}

/** Resolves once `signal` is aborted: after a write that is under way, and without waiting for the hub. */
export async function runLoop(
  ports: LoopPorts,
  initial: AgentState,
  options: { readonly signal: AbortSignal; readonly onState?: (state: AgentState) => void },
): Promise<void> {
  const { signal, onState } = options;
  let state = initial;
  let event: AgentEvent = { type: 'started' };
  while (!signal.aborted) {
    const now = moment(ports);
    const ticked = tick(state, now, event);
    state = ticked.state;
    onState?.(state);
    const logs = ticked.actions.slice(0, -1) as readonly LogAction[];
    for (const { level, message, fields } of logs) ports.log[level](message, fields);
    const effect = ticked.actions.at(-1) as Effect;
    event = await perform(ports, effect, signal);
    if (effect.type === 'post_heartbeat' && event.type === 'answered' && event.answer.status === 200) {
      if (now.reports !== undefined) ports.reports?.taken(now.reports);
    }
  }
}

function moment({ clock, random, reports, sinks, makeListenerRequest }: LoopPorts): Moment {
  return {
    wallMs: clock.now(),
    monotonicMs: clock.monotonic(),
    random,
    ...(reports === undefined ? {} : { reports: reports.take() }),
    ...(sinks === undefined ? {} : { sinks: sinks() }),
    ...(makeListenerRequest === undefined ? {} : { makeListenerRequest }),
  };
}

async function perform(ports: LoopPorts, effect: Effect, signal: AbortSignal): Promise<AgentEvent> {
  switch (effect.type) {
    case 'wake_at':
      await ports.clock.sleep(Math.max(0, effect.monotonicMs - ports.clock.monotonic()), wakeSignal(ports, signal));
      return { type: 'woken' };
    case 'persist':
      return persist(ports, effect.next);
    case 'post_heartbeat':
    case 'post_enrol':
    case 'fetch_trust_bundle':
    case 'post_challenge':
    case 'post_certificate':
      return request(ports, effect, signal);
  }
}

function wakeSignal({ reports }: LoopPorts, signal: AbortSignal): AbortSignal {
  return reports === undefined ? signal : AbortSignal.any([signal, reports.news()]);
}

async function persist({ persist: write, log }: LoopPorts, next: DurableState): Promise<AgentEvent> {
  try {
    await write(encodeDurableState(next));
    return { type: 'persisted' };
  } catch (error) {
    if (!isRollcallError(error)) log.error('the state could not be encoded or written', { cause: nameOf(error) });
    const code = isRollcallError(error, 'disk_full') ? 'disk_full' : 'state_unwritable';
    const cause = isRollcallError(error) ? String(error.details['cause'] ?? error.code) : nameOf(error);
    return { type: 'persist_failed', code, cause };
  }
}

async function request(
  { transport, log }: LoopPorts,
  effect: Extract<Effect, { readonly request: unknown }>,
  signal: AbortSignal,
): Promise<AgentEvent> {
  try {
    return { type: 'answered', answer: await transport.request(effect.request, signal) };
  } catch (error) {
    if (isRollcallError(error)) {
      return {
        type: 'failed',
        code: error.code,
        cause: String(error.details['reason'] ?? error.details['cause'] ?? ''),
      };
    }
    log.error('the request failed in an unforeseen way', { cause: nameOf(error) });
    return { type: 'failed', code: 'internal', cause: nameOf(error) };
  }
}

/** The kind alone: a message may quote what it was about. */
function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown';
}
