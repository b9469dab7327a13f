/** Names of the files in a state directory, and what is demanded of their owner and mode (design 4). */
import { isRollcallError, RollcallError } from '@rollcall/core/errors';
import type { FileStat } from '@rollcall/core/ports';

export const DIRECTORY_MODE = 0o700;
export const FILE_MODE = 0o600;

/** The two slots, written in turn. */
const slotNames = ['state-a', 'state-b'] as const;
/** What is being written. One name for all, so that a leftover of a crash is overwritten by the next write. */
export const TEMPORARY_NAME = 'state.tmp';
export const SOCKET_NAME = 'agent.sock';

export type SlotIndex = 0 | 1;

export function slotPath(directory: string, slot: SlotIndex): string {
  return `${directory}/${slotNames[slot]}`;
}

/** Throws `state_wrong_owner` or `state_loose_mode` with the command that mends it. */
export function assertPrivate(path: string, stat: FileStat, uid: number): void {
  if (stat.uid !== uid) {
    throw refusal('state_wrong_owner', { file: path, owner: stat.uid, user: uid }, `chown ${uid} ${quote(path)}`);
  }
  if ((stat.mode & 0o077) !== 0) {
    const wanted = stat.kind === 'directory' ? '700' : '600';
    const mode = stat.mode.toString(8).padStart(4, '0');
    throw refusal('state_loose_mode', { file: path, mode }, `chmod ${wanted} ${quote(path)}`);
  }
}

/** `code` of an error of the system; `undefined` for any other. */
export function systemCode(error: unknown): string | undefined {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : undefined;
}

/** What a failed write is: `disk_full`, or `state_unwritable`. */
export function unwritable(file: string, error: unknown): RollcallError<'disk_full' | 'state_unwritable'> {
  const cause = systemCode(error) ?? (error instanceof Error ? error.message : 'unknown');
  return new RollcallError(FULL.has(cause) ? 'disk_full' : 'state_unwritable', { file, cause }, { cause: error });
}

/** What a failed read is, unless it says better itself. Unreadable is not absent (I10). */
export function unreadable(file: string, error: unknown): RollcallError {
  if (isRollcallError(error)) return error;
  return new RollcallError('state_unreadable', { file, cause: systemCode(error) ?? 'unknown' }, { cause: error });
}

const FULL: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);

function refusal(
  code: 'state_wrong_owner' | 'state_loose_mode',
  details: Readonly<Record<string, string | number>>,
  fix: string,
): RollcallError {
  return new RollcallError(code, { ...details, fix, hint: `Nothing was read or changed. To mend it: ${fix}` });
}

const PLAIN_PATH = /^[A-Za-z0-9_./:@%+,=-]+$/;

/** The path as one word of a shell. */
function quote(path: string): string {
  return PLAIN_PATH.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
