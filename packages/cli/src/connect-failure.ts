/** Why a hub did not answer, and what to do about it, from the system's error code. */
import { RollcallError } from '@rollcall/core/errors';
import type { HubAddress } from './ports.ts';

interface ConnectFailure {
  readonly reason: string;
  readonly hint: string;
}

/** The request cannot have reached a hub. */
const unreachedSocket: Readonly<Record<string, ConnectFailure>> = {
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

const unreachedTcp: Readonly<Record<string, ConnectFailure>> = {
  ECONNREFUSED: {
    reason: 'nobody listens at this address',
    hint: 'Is the hub running, with --operators HOST:PORT? Its log names the address; hosts have another.',
  },
  ENOTFOUND: { reason: 'there is no such name', hint: 'Check the name in --hub https://HOST:PORT.' },
  EAI_AGAIN: { reason: 'the name cannot be looked up', hint: 'Check the name service of this machine.' },
  EHOSTUNREACH: { reason: 'there is no way to this address', hint: 'Check the route and the firewalls in between.' },
  ENETUNREACH: { reason: 'there is no way to this network', hint: 'Check the network of this machine.' },
  ETIMEDOUT: { reason: 'nothing answers at this address', hint: 'Check the address, and the firewalls in between.' },
  ECONNRESET: {
    reason: 'the connection was closed before it was secure',
    hint: 'Is it the address for operators? It speaks TLS 1.3.',
  },
  EPROTO: { reason: 'what listens there speaks no TLS 1.3', hint: 'Is it the address for operators?' },
};

/** The error to throw; `changes` says whether the request could have changed anything. */
export function describeConnectFailure(error: unknown, to: HubAddress, changes: boolean): RollcallError {
  if (error instanceof RollcallError) return error;
  const code = (error as NodeJS.ErrnoException | undefined)?.code ?? '';
  const where = placeOf(to);
  const failure = failureOf(error, to, code);
  if (failure !== undefined) {
    return new RollcallError(
      'hub_unreachable',
      { ...where, reason: failure.reason, system: code, hint: failure.hint },
      { cause: error },
    );
  }
  if (code === 'EFBIG') return new RollcallError('hub_answer_unusable', { reason: 'too large' }, { cause: error });
  const details = { ...where, reason: reasonOf(error, code) };
  const harmless = { ...details, hint: 'Nothing was changed. See the log of the hub, and try again.' };
  return new RollcallError('hub_no_answer', changes ? details : harmless, { cause: error });
}

/** The system's name for it, or OpenSSL's. A connection that breaks once it is secure may have carried the request. */
function failureOf(error: unknown, to: HubAddress, code: string): ConnectFailure | undefined {
  if (to.kind === 'socket') return Object.hasOwn(unreachedSocket, code) ? unreachedSocket[code] : undefined;
  if (code === 'ECONNRESET' && !(error instanceof BeforeSecure)) return undefined;
  const known = code.startsWith('ERR_SSL_') ? 'EPROTO' : code;
  return Object.hasOwn(unreachedTcp, known) ? unreachedTcp[known] : undefined;
}

/** The peer hung up during the handshake. */
export class BeforeSecure extends Error {
  readonly code = 'ECONNRESET';
}

function placeOf(to: HubAddress): { readonly socket: string } | { readonly address: string } {
  if (to.kind === 'socket') return { socket: to.path };
  return { address: to.host.includes(':') ? `[${to.host}]:${to.port}` : `${to.host}:${to.port}` };
}

function reasonOf(error: unknown, code: string): string {
  if (error instanceof Error && error.name === 'AbortError') return 'it took too long';
  return code === '' ? 'the connection broke' : `the connection broke (${code})`;
}
