/** Follows a rotation: live on a terminal, one line per change elsewhere; a restart of the hub does not end it. */
import { type ErrorCode, isRollcallError, RollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import type { Phase } from '@rollcall/core/rotation';
import { encodeTime } from '@rollcall/core/time';
import type { RotationStatus } from '@rollcall/wire';
import { namingRotation } from './commands/rotation-answers.ts';
import { formatClock } from './output/age.ts';
import { createLiveBlock } from './output/live-block.ts';
import { formatBrief, formatRotation, isEnded, walk } from './output/rotation.ts';
import { createStyle } from './output/style.ts';
import type { Context, Result } from './verb.ts';

export interface Watch {
  readonly read: () => Promise<RotationStatus>;
  /** A phase of the walk. */
  readonly until: Phase;
  readonly timeoutMs: number | undefined;
}

export async function watchRotation(context: Context, watch: Watch): Promise<Result> {
  const { clock } = context.io;
  const startedMs = clock.monotonic();
  const show = createDisplay(context);
  let last = await watch.read();
  let answeredMs = clock.monotonic();
  show.status(last);
  for (;;) {
    if (isReached(last, watch.until)) return show.end({ json: last, text: formatRotation(last, viewNow(context)) });
    if (isEnded(last.rotation.phase)) return show.end(stopped(context, last, `it is ${last.rotation.phase}`));
    const elapsedMs = clock.monotonic() - startedMs;
    if (watch.timeoutMs !== undefined && elapsedMs >= watch.timeoutMs)
      return show.end(stopped(context, last, 'the time is over'));
    await clock.sleep(limits.watchIntervalMs);
    try {
      last = await watch.read();
      answeredMs = clock.monotonic();
      show.status(last);
    } catch (error) {
      if (!isPassing(error) || clock.monotonic() - answeredMs > limits.watchUnreachableMs) throw error;
      show.unanswered(error.code);
    }
  }
}

/** What a hub that is being restarted gives. */
function isPassing(error: unknown): error is RollcallError {
  return ['hub_unreachable', 'hub_no_answer', 'unavailable'].some((code) => isRollcallError(error, code as ErrorCode));
}

function isReached({ rotation }: RotationStatus, until: Phase): boolean {
  return walk.includes(rotation.phase) && walk.indexOf(rotation.phase) >= walk.indexOf(until);
}

function stopped(context: Context, status: RotationStatus, reason: string): Result {
  return {
    json: status,
    text: formatRotation(status, viewNow(context)),
    exit: 3,
    failure: namingRotation(new RollcallError('watch_ended', { reason }), status.rotation.secret),
  };
}

interface Display {
  status(status: RotationStatus): void;
  unanswered(code: string): void;
  /** Leaves the page to the result. */
  end(result: Result): Result;
}

function createDisplay(context: Context): Display {
  const { io, global } = context;
  if (global.quiet === true) return { status: () => undefined, unanswered: () => undefined, end: (result) => result };
  if (!io.stderr.isTerminal) return createPlainDisplay(context);
  const block = createLiveBlock(io.stderr);
  const style = createStyle(io.stderr, io.env, global);
  let lines: readonly string[] = [];
  return {
    status: (status) => {
      lines = formatRotation(status, { ...viewNow(context), style });
      block.draw(lines);
    },
    unanswered: (code) => block.draw([...lines, style.warn(`the hub does not answer (${code}); still trying`)]),
    end: (result) => {
      block.clear();
      return result;
    },
  };
}

function createPlainDisplay({ io, progress }: Context): Display {
  let before = '';
  const say = (line: string) => {
    if (line !== before) progress(`${formatClock(encodeTime(io.clock.now()))} ${line}`);
    before = line;
  };
  return {
    status: (status) => say(formatBrief(status)),
    unanswered: (code) => say(`the hub does not answer (${code}); still trying`),
    end: (result) => result,
  };
}

function viewNow({ view, io }: Context): Context['view'] {
  return { ...view, nowMs: io.clock.now() };
}
