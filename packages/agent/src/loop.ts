/** Performs what `tick` decides, and brings back what came of it. Nothing is decided here. */
import { isRollcallError } from '@rollcall/core/errors';
import type { Clock, Log, Random, Transport } from '@rollcall/core/ports';
import type { AgentEvent, AgentState, Effect, LogAction, Moment } from './agent-state.ts';
import { type DurableState, encodeDurableState } from './state/durable-state.ts';
import type { Persist } from './state/persist.ts';
import { tick } from './tick.ts';

export interface LoopPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly transport: Transport;
  readonly log: Log;
  readonly persist: Persist;
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
    const ticked = tick(state, moment(ports), event);
    state = ticked.state;
    onState?.(state);
    const logs = ticked.actions.slice(0, -1) as readonly LogAction[];
    for (const { level, message, fields } of logs) ports.log[level](message, fields);
    event = await perform(ports, ticked.actions.at(-1) as Effect, signal);
  }
}

function moment({ clock, random }: LoopPorts): Moment {
  return { wallMs: clock.now(), monotonicMs: clock.monotonic(), random };
}

async function perform(ports: LoopPorts, effect: Effect, signal: AbortSignal): Promise<AgentEvent> {
  switch (effect.type) {
    case 'wake_at':
      await ports.clock.sleep(Math.max(0, effect.monotonicMs - ports.clock.monotonic()), signal);
      return { type: 'woken' };
    case 'persist':
      return persist(ports, effect.next);
    case 'post_heartbeat':
    case 'post_enrol':
    case 'fetch_trust_bundle':
      return request(ports, effect, signal);
  }
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
