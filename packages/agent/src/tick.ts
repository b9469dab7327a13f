/**
 * The agent as a pure function (design 2): what it knows, the moment and one event give what it knows then and what it
 * does next. It does one thing at a time: it waits, asks the hub, or writes its state. Each ends in one event.
 */
import { limits } from '@rollcall/core/limits';
import { firstBeatMs } from '@rollcall/core/liveness';
import type { AgentEvent, AgentState, Moment, Ticked } from './agent-state.ts';
import { goOn } from './go-on.ts';
import { onAnswer, onFailure } from './on-answer.ts';
import { onPersisted, onPersistFailed } from './on-write.ts';
import { assertDoing, wait } from './step.ts';

export function tick(state: AgentState, now: Moment, event: AgentEvent): Ticked {
  switch (event.type) {
    case 'started':
      return start(state, now);
    case 'woken':
      assertDoing(state, 'waiting');
      return goOn(state, now);
    case 'answered':
      return onAnswer(state, now, event.answer);
    case 'failed':
      return onFailure(state, now, { code: event.code, cause: event.cause, hasAnswered: false });
    case 'persisted':
      return onPersisted(state, now);
    case 'persist_failed':
      return onPersistFailed(state, now, event);
  }
}

/** Hosts that restart as one must not arrive as one. A host that was never here before is waited for. */
function start(state: AgentState, now: Moment): Ticked {
  assertDoing(state, 'waiting');
  if (state.startup === 'fresh') return goOn(state, now);
  return wait(state, now.monotonicMs + firstBeatMs(limits.firstBeatSpreadMs, now.random));
}
