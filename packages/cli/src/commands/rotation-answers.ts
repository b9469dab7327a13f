/** What the verbs of a rotation share: reading it, showing what blocks it, saying what a thief can still do. */
import { errorTable, isRollcallError, RollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import { rungOfClosing } from '@rollcall/core/rungs';
import { type RotationStatus, routes } from '@rollcall/wire';
import { describeFailure, formatNamed } from '../failure.ts';
import { formatGate, formatRotation, isEnded } from '../output/rotation.ts';
import { formatThief, thiefRows } from '../output/thief.ts';
import type { Context, Result, VerbOptions } from '../verb.ts';

export const leaveOption: VerbOptions = {
  flags: '--leave <host...>',
  description: 'go on without these hosts; recorded, and shown for ever',
};

/** `id` may be a secret's name: its newest rotation. */
export function readRotation(context: Context, id: string | undefined): Promise<RotationStatus> {
  return context.hub().call(routes.showRotation, { params: { id: id ?? 'master' } });
}

/**
 * Which rotation a verb that only looks is about: the one of that name, or the one that runs, or the newest where none does.
 * By its secret, so that who watches the master's goes on with the one that supersedes it. Throws `rotation_ambiguous` where several run: the finished rotation of the master would pass for the state of things.
 */
export async function chooseRotation(context: Context, verb: string, id: string | undefined): Promise<string> {
  if (id !== undefined) return id;
  const { rotations } = await context.hub().call(routes.listRotations);
  const running = rotations.filter(({ phase }) => !isEnded(phase));
  const [chosen = rotations[0]] = running;
  if (running.length < 2) return chosen?.secret ?? 'master';
  const secrets = running.map(({ secret }) => secret);
  const commands = secrets.slice(0, limits.namesInSentence).map((secret) => `\`rollcall rotation ${verb} ${secret}\``);
  throw new RollcallError('rotation_ambiguous', { running: secrets, hint: `Name one: ${commands.join(', ')}` });
}

/** What a verb throws, with hints that name this rotation: without a name some commands are about the master's, others about what runs. */
export async function aboutRotation<T>(id: string | undefined, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw isRollcallError(error) ? namingRotation(error, id) : error;
  }
}

/** Pasted as it stands, a hint must not look at, or resume, another rotation than the one that was refused. */
export function namingRotation(error: RollcallError, id: string | undefined): RollcallError {
  const { hint } = describeFailure(error);
  const named = hint.replaceAll(
    /`rollcall rotation (status|resume|cut)`/g,
    `\`rollcall rotation $1 ${id ?? 'master'}\``,
  );
  if (named === hint) return error;
  return new RollcallError(error.code, { ...error.details, hint: named }, { cause: error.cause });
}

/** A refusal with exit 3 comes with the rotation as it stands: what is wrong is the output (design 8). */
export async function orWhatBlocks(
  context: Context,
  id: string | undefined,
  act: () => Promise<Result>,
): Promise<Result> {
  try {
    return await aboutRotation(id, act);
  } catch (error) {
    if (!isRollcallError(error) || errorTable[error.code].exit !== 3) throw error;
    return blocked(context, error, await readRotation(context, id).catch(() => undefined));
  }
}

/** After a leak, the answer and its words end with what is still open (design 5). */
export function withThief({ view }: Context, status: RotationStatus, text: readonly string[]): Result {
  // Of a rung nothing is held that could be stolen.
  if (rungOfClosing(status.rotation.secret) !== undefined) return { json: status, text };
  return {
    json: { ...status, thief: thiefRows(status, view.nowMs) },
    text: [...text, '', ...formatThief(status, view)],
  };
}

function blocked(context: Context, failure: RollcallError, stands: RotationStatus | undefined): Result {
  if (stands === undefined) throw failure;
  const { view } = context;
  const text = failure.code === 'gate_closed' ? formatGate(stands, view) : formatRotation(stands, view);
  return { json: stands, text: [...text, ...formatNamed(failure, view)], exit: 3, failure };
}
