/** Why a socket did not answer, and what to do about it, from the system's error code. */
import { RollcallError } from '@rollcall/core/errors';

interface ConnectFailure {
  readonly reason: string;
  readonly hint: string;
}

/** The request cannot have reached a hub. */
const unreached: Readonly<Record<string, ConnectFailure>> = {
  ENOENT: {
    reason: 'there is no such socket',
    hint: 'Start the hub (`rollcall hub start --dir DIR`), or say where it is with --hub unix:DIR/operator.sock or ROLLCALL_HUB.',
  },
  ECONNREFUSED: {
    reason: 'nobody listens on this socket',
    hint: 'The hub has stopped and left its socket behind: see its log, then `rollcall hub start --dir DIR`.',
  },
  EACCES: {
    reason: 'this user may not open the socket',
    hint: 'The socket belongs to the user that runs the hub: use `sudo -u USER rollcall …`, or become that user.',
  },
  EPERM: { reason: 'this user may not open the socket', hint: 'Run the command as the user that runs the hub.' },
  ENOTSOCK: {
    reason: 'this is not a socket',
    hint: 'Give the path of the socket itself: --hub unix:DIR/operator.sock.',
  },
  ENOTDIR: { reason: 'a part of the path is not a directory', hint: 'Check the path: --hub unix:DIR/operator.sock.' },
  EAGAIN: { reason: 'the hub takes no more connections at the moment', hint: 'Wait a moment and try again.' },
};

/** The error to throw; `changes` says whether the request could have changed anything. */
export function describeConnectFailure(error: unknown, socketPath: string, changes: boolean): RollcallError {
  if (error instanceof RollcallError) return error;
  const code = (error as NodeJS.ErrnoException | undefined)?.code ?? '';
  const failure = Object.hasOwn(unreached, code) ? unreached[code] : undefined;
  if (failure !== undefined) {
    return new RollcallError(
      'hub_unreachable',
      { socket: socketPath, reason: failure.reason, system: code, hint: failure.hint },
      { cause: error },
    );
  }
  if (code === 'EFBIG') return new RollcallError('hub_answer_unusable', { reason: 'too large' }, { cause: error });
  const details = { socket: socketPath, reason: reasonOf(error, code) };
  const harmless = { ...details, hint: 'Nothing was changed. See the log of the hub, and try again.' };
  return new RollcallError('hub_no_answer', changes ? details : harmless, { cause: error });
}

function reasonOf(error: unknown, code: string): string {
  if (error instanceof Error && error.name === 'AbortError') return 'it took too long';
  return code === '' ? 'the connection broke' : `the connection broke (${code})`;
}
