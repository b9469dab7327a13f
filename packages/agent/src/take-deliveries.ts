/** Applies the deliveries of one answer to the state: each whole or not at all, and never a step back (I4, design 4). */
import { type ErrorCode, isRollcallError } from '@rollcall/core/errors';
import type { JsonValue } from '@rollcall/core/json';
import { parseSecretName } from '@rollcall/core/keys';
import { limits } from '@rollcall/core/limits';
import { type Assignment, isDrop, openDelivery } from '@rollcall/core/seal';
import type { LogAction, Refusal } from './agent-state.ts';
import type { DurableState } from './state/durable-state.ts';

export interface TakenDeliveries {
  /** Not in force before it is on the disk. */
  readonly next: DurableState;
  readonly applied: readonly Assignment[];
  /** Replaces what was refused before: an answer without a refusal clears it. */
  readonly refused: ReadonlyMap<string, Refusal>;
  readonly logs: readonly LogAction[];
}

export function takeDeliveries(
  durable: DurableState,
  deliveries: readonly JsonValue[],
  refusedBefore: ReadonlyMap<string, Refusal>,
): TakenDeliveries {
  let next = durable;
  const applied: Assignment[] = [];
  const refused = new Map<string, Refusal>();
  const logs: LogAction[] = [];
  for (const delivery of deliveries) {
    try {
      const opened = openDelivery(delivery, {
        host: next.host,
        wrapKeys: next.wrapKeys,
        held: (secret) => next.assignments.get(secret),
        hubRoot: next.hubRoot,
        highestSerial: next.hubKeySerial,
      });
      if (opened.kind === 'held') continue;
      next = withAssignment(next, opened.assignment, opened.hubKeySerial);
      applied.push(opened.assignment);
    } catch (error) {
      if (!isRollcallError(error)) throw error;
      const secret = unverifiedSecret(delivery);
      const refusal = countRefusal(refusedBefore.get(secret), error.code);
      refused.set(secret, refusal);
      logs.push(refusalLine(secret, refusal, error.details['what']));
    }
  }
  return { next, applied, refused, logs };
}

/** What the disk did not take was refused too, and the hub hears why. */
export function refuseUnwritten(
  refused: ReadonlyMap<string, Refusal>,
  before: ReadonlyMap<string, Refusal>,
  secrets: readonly string[],
  reason: ErrorCode,
): ReadonlyMap<string, Refusal> {
  return new Map([...refused, ...secrets.map((secret) => [secret, countRefusal(before.get(secret), reason)] as const)]);
}

function withAssignment(durable: DurableState, assignment: Assignment, hubKeySerial: number): DurableState {
  const assignments = new Map(durable.assignments);
  // The newest of what was dropped is the last that is forgotten.
  if (isDrop(assignment)) assignments.delete(assignment.secret);
  assignments.set(assignment.secret, assignment);
  return {
    ...durable,
    assignments: withRoom(assignments),
    hubKeySerial: Math.max(durable.hubKeySerial, hubKeySerial),
  };
}

/** Of what was dropped only its place is kept, and that no longer than there is room: what is held must not lack it. */
function withRoom(assignments: Map<string, Assignment>): ReadonlyMap<string, Assignment> {
  for (const [secret, held] of assignments) {
    if (assignments.size <= limits.secretsPerHost) break;
    if (isDrop(held)) assignments.delete(secret);
  }
  return assignments;
}

function countRefusal(before: Refusal | undefined, reason: ErrorCode): Refusal {
  return { reason, times: (before?.times ?? 0) + 1 };
}

function refusalLine(secret: string, { reason, times }: Refusal, what: unknown): LogAction {
  return {
    type: 'log',
    level: times >= limits.refusalsBeforeError ? 'error' : 'warn',
    message: 'a delivery was refused; nothing of it was applied',
    fields: { code: reason, of: secret, times, ...(typeof what === 'string' ? { what } : {}) },
  };
}

/** Whose secret a delivery says it is, to name it in a report; `unknown` when it does not say so in a form that could be. */
function unverifiedSecret(delivery: JsonValue): string {
  try {
    return parseSecretName((delivery as { readonly secret?: unknown } | null)?.secret);
  } catch {
    return 'unknown';
  }
}
