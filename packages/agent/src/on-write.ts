/** What follows from a write of the state, whether the disk took it or not (design 4). */
import { limits } from '@rollcall/core/limits';
import { isDrop, NOTHING } from '@rollcall/core/seal';
import type { AgentEvent, AgentState, LogAction, Moment, Ticked, Write } from './agent-state.ts';
import { freshBearerMemory } from './bearer.ts';
import { ask, goOn, presentedBearer } from './go-on.ts';
import { rememberWrite } from './listener-certificate.ts';
import { assertDoing, wait } from './step.ts';
import { refuseUnwritten } from './take-deliveries.ts';

export function onPersisted(before: AgentState, now: Moment): Ticked {
  const writing = assertDoing(before, 'persisting');
  const { diskProblem, toRedeem, ...rest } = before;
  const isBegun = toRedeem === undefined || writing.next.enrolment?.token === toRedeem.token;
  const state: AgentState = {
    ...rest,
    durable: writing.next,
    onDisk: true,
    ...(isBegun ? {} : { toRedeem }),
    certificate: rememberWrite(before, writing.next, now),
    bearer: writing.secrets.includes('master') ? freshBearerMemory : before.bearer,
  };
  const logs = [...diskRecoveryLine(diskProblem), ...enrolledLine(before, writing), ...appliedLines(writing)];
  if (!writing.thenAtOnce) return wait({ ...state, hurried: false }, writing.wakeAtMs, logs);
  // One beat at once proves what was applied. A hub that has something new each time is not followed at that pace.
  if (!before.hurried) return goOn({ ...state, hurried: writing.secrets.length > 0 }, now, logs);
  const pacedMs = now.monotonicMs + limits.backoffFirstMs;
  return wait({ ...state, hurried: false }, Math.min(writing.wakeAtMs, pacedMs), logs);
}

/** The former state stays in force, the hub hears why, and what it had delivered comes again. */
export function onPersistFailed(
  before: AgentState,
  now: Moment,
  { code, cause }: Extract<AgentEvent, { readonly type: 'persist_failed' }>,
): Ticked {
  const writing = assertDoing(before, 'persisting');
  const state: AgentState = {
    ...before,
    diskProblem: code,
    hurried: false,
    refused: refuseUnwritten(before.refused, writing.refusedBefore, writing.secrets, code),
  };
  const message = 'the state was not written; the former one stays in force';
  const log: LogAction = { type: 'log', level: 'error', message, fields: { code, cause } };
  if (!writing.isBeginning) return wait(state, writing.wakeAtMs, [log]);
  // A token that cannot be redeemed for want of a disk does not silence an identity that needs none.
  if (before.onDisk && presentedBearer(state, now) !== undefined) return ask(state, now, [log]);
  return wait({ ...state, failures: before.failures + 1 }, writing.wakeAtMs, [log]);
}

function diskRecoveryLine(problem: AgentState['diskProblem']): readonly LogAction[] {
  if (problem === undefined) return [];
  return [{ type: 'log', level: 'info', message: 'the state can be written again', fields: { code: problem } }];
}

function enrolledLine({ durable }: AgentState, { next }: Write): readonly LogAction[] {
  const isRedeemed = next.redeemed.length > 0 && next.redeemed.at(-1) !== durable.redeemed.at(-1);
  return isRedeemed ? [{ type: 'log', level: 'info', message: 'enrolled', fields: { host: next.host } }] : [];
}

function appliedLines({ next, secrets }: Write): readonly LogAction[] {
  return secrets.map((secret) => {
    const { epoch, step, present = NOTHING } = next.assignments.get(secret) ?? {};
    const isDropped = isDrop({ present });
    return {
      type: 'log',
      level: 'info',
      message: isDropped ? 'a secret was dropped: this host holds it no more' : 'a delivery was applied',
      fields: { of: secret, epoch, step, ...(isDropped ? {} : { present }) },
    };
  });
}
