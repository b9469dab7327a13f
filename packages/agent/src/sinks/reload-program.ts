/** Tells the program of a sink to read it again: a signal, `systemctl reload`, or a command (design 4). Never a restart. */
import { decodeUtf8 } from '@rollcall/core/bytes';
import { RollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import type { SinkConfig, SinkReload } from '@rollcall/wire';
import { systemCode } from '../state/files-on-disk.ts';
import type { Processes, SinkFiles } from './ports.ts';

export interface ReloadPorts {
  readonly files: SinkFiles;
  readonly processes: Processes;
}

/** Rejects with the code of what went wrong. `ownerId`: the user that the sink names, if it does. */
export async function reloadProgram(
  ports: ReloadPorts,
  sink: Pick<SinkConfig, 'name' | 'path'> & { readonly reload: SinkReload },
  { ownerId, signal }: { readonly ownerId: number | undefined; readonly signal: AbortSignal },
): Promise<void> {
  const { reload } = sink;
  if (reload.by === 'signal') return signalProgram(ports, reload, ownerId);
  const command = reload.by === 'unit' ? [...SYSTEMCTL, reload.unit] : reload.command;
  const environment = { PATH: SYSTEM_PATH, ROLLCALL_SINK: sink.name, ROLLCALL_SINK_PATH: sink.path };
  const outcome = await ports.processes.run(command, { environment, timeoutMs: reload.timeoutMs, signal });
  if (outcome.kind === 'exited' && outcome.status === 0) return;
  if (outcome.kind === 'timed_out') throw new RollcallError('sink_reload_timeout', { timeoutMs: reload.timeoutMs });
  const cause =
    outcome.kind === 'exited'
      ? `status ${outcome.status}`
      : outcome.kind === 'not_started'
        ? outcome.cause
        : outcome.kind;
  throw new RollcallError('sink_reload_failed', { cause });
}

/** The first line, where some programs write more: the whole of it is a number that a program can have. */
export function parsePid(bytes: Uint8Array): number | undefined {
  const line = decodeUtf8(bytes)?.split('\n', 1)[0]?.trim() ?? '';
  const pid = /^[1-9]\d{0,6}$/.test(line) ? Number(line) : 0;
  // 0 and below mean groups of processes, and 1 is the system itself.
  return pid > 1 && pid <= HIGHEST_PID ? pid : undefined;
}

/** Of Linux with 64 bits, proc(5). */
const HIGHEST_PID = 4_194_304;
const SYSTEMCTL = ['/usr/bin/systemctl', '--no-ask-password', '--no-pager', 'reload', '--'] as const;
const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

async function signalProgram(
  { files, processes }: ReloadPorts,
  { pidFile, signal }: Extract<SinkReload, { by: 'signal' }>,
  ownerId: number | undefined,
): Promise<void> {
  const { pid, fileOwner } = await readPidFile(files, pidFile);
  if (pid === processes.self.pid) throw new RollcallError('sink_process_foreign', { cause: 'the agent itself' });
  const process = await processes.look(pid);
  if (process === undefined) throw new RollcallError('sink_process_absent', { pid });
  // A number that was given to somebody else's process since must not cost that one its life.
  if (process.uid !== fileOwner && process.uid !== ownerId) {
    throw new RollcallError('sink_process_foreign', { pid, user: process.uid });
  }
  try {
    processes.signal(pid, signal);
  } catch (error) {
    const isGone = systemCode(error) === 'ESRCH';
    throw new RollcallError(isGone ? 'sink_process_absent' : 'sink_process_foreign', { pid }, { cause: error });
  }
}

async function readPidFile(
  files: SinkFiles,
  path: string,
): Promise<{ readonly pid: number; readonly fileOwner: number }> {
  const refuse = (cause: string) => new RollcallError('sink_pid_file_unusable', { file: path, cause });
  try {
    const found = await files.look(path);
    if (found.kind !== 'file') throw refuse(found.kind);
    if ((found.mode & 0o022) !== 0) throw refuse('others may write it');
    const pid = parsePid(await files.read(path, limits.pidFileMaxBytes));
    if (pid === undefined) throw refuse('no pid of a program');
    return { pid, fileOwner: found.uid };
  } catch (error) {
    throw error instanceof RollcallError ? error : refuse(systemCode(error) ?? 'unknown');
  }
}
