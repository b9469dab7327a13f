/** Brings one sink to what is wanted, as far as that goes, and says how it stands then. It never throws: what failed is said. */
import { type ErrorCode, isRollcallError, RollcallError } from '@rollcall/core/errors';
import type { SecretBytes } from '@rollcall/core/keys';
import type { Random } from '@rollcall/core/ports';
import { type Assignment, isDrop } from '@rollcall/core/seal';
import type { SinkConfig, SinkReport } from '@rollcall/wire';
import { systemCode } from '../state/files-on-disk.ts';
import { type LiveSink, lookAtSink, readLiveToken } from './live-sink.ts';
import { isAsWritten, planSink, type SinkDecision, type SinkRecord, type WantedSink, wantedKey } from './plan-sink.ts';
import type { Accounts, SinkFiles } from './ports.ts';
import { projectAssignment } from './project-assignment.ts';
import { newDirectoryName, parentOf } from './sink-names.ts';
import { clearLeftovers, makeDirectory, takeAway, turnLink } from './write-sink.ts';

/** How a sink stands, for the next beat and for whoever asks on this host. */
export interface SinkFact extends Pick<SinkReport, 'name' | 'secret' | 'version' | 'step' | 'state'> {
  readonly path: string;
  readonly problem?: ErrorCode;
  /** What the system said. */
  readonly cause?: string;
  /** What a program reads as the token to present; `null` when it reads nothing. */
  readonly live: SecretBytes<'token'> | null;
}

export interface AttemptPorts {
  readonly files: SinkFiles;
  readonly accounts: Accounts;
  readonly random: Random;
  /** The user that the agent runs as. */
  readonly uid: number;
  /** Makes a record durable. Rejects with `sink_record_unusable`, and then what was remembered before is. */
  readonly remember: (record: SinkRecord) => Promise<void>;
}

export interface Attempt {
  readonly fact: SinkFact;
  readonly hasWritten: boolean;
}

export async function attemptSink(
  ports: AttemptPorts,
  sink: SinkConfig,
  /** `mayWrite`: whether the time to wait after a failure is over. */
  at: { readonly held: Assignment | undefined; readonly record: SinkRecord | undefined; readonly mayWrite: boolean },
): Promise<Attempt | 'later'> {
  const record = at.record?.path === sink.path ? at.record : undefined;
  const step = at.held?.step ?? null;
  let live: LiveSink | undefined;
  try {
    live = await lookAtSink(ports.files, sink.path);
    const wanted = await wish(ports.accounts, sink, at.held);
    const decision = planSink(wanted, record, live);
    if (wanted === 'dropped')
      return { fact: await drop(ports, sink, { decision, record, live, step }), hasWritten: false };
    if (decision === 'write' && wanted !== undefined) {
      if (!at.mayWrite) return 'later';
      const written = await write(ports, sink, { wanted, record, live });
      return {
        fact: await factOf(ports, sink, { decision, record: written, live: undefined, step }),
        hasWritten: true,
      };
    }
    return { fact: await factOf(ports, sink, { decision, record, live, step }), hasWritten: false };
  } catch (error) {
    const failure = failureOf(error);
    return {
      fact: { ...(await factOf(ports, sink, { decision: 'failed', record, live, step })), ...failure },
      hasWritten: false,
    };
  }
}

/** Removes what crashes and earlier writes left, but not where a link leads or has led before. Nothing depends on it. */
export async function sweepSink(files: SinkFiles, path: string, record: SinkRecord | undefined): Promise<void> {
  const found = await files.look(path);
  const { directory, former } = record?.written ?? {};
  const keep = [found.kind === 'link' ? found.target : undefined, directory, former];
  await clearLeftovers(files, path, new Set(keep.filter((name) => name !== undefined)));
}

async function wish(
  accounts: Accounts,
  sink: SinkConfig,
  held: Assignment | undefined,
): Promise<WantedSink | 'dropped' | undefined> {
  if (held === undefined) return undefined;
  return isDrop(held) ? 'dropped' : want(accounts, sink, held);
}

/** The files are gone before the program is told, and what it reads then it cannot read: that lets nobody in. */
async function drop(
  ports: AttemptPorts,
  sink: SinkConfig,
  at: {
    readonly decision: SinkDecision;
    readonly record: SinkRecord | undefined;
    readonly live: LiveSink;
    readonly step: number | null;
  },
): Promise<SinkFact> {
  const { name, path, reload } = sink;
  const { decision, live } = at;
  let { record } = at;
  if (decision === 'take_away') {
    await takeAway(ports.files, path, live.kind === 'link' && live.isOurName);
    record = { name, path, isReloadDue: reload !== undefined };
    await ports.remember(record);
  }
  const fact = await factOf(ports, sink, { ...at, record, decision: 'failed' });
  const isDue = record?.isReloadDue === true && reload !== undefined;
  return { ...fact, version: null, state: isDue ? 'unreloaded' : 'unwritten', problem: 'sink_dropped' };
}

async function want(accounts: Accounts, { owner, group, mode }: SinkConfig, held: Assignment): Promise<WantedSink> {
  const uid = owner === undefined ? undefined : await idOf(owner, accounts.userId);
  const gid = group === undefined ? undefined : await idOf(group, accounts.groupId);
  return {
    projection: projectAssignment(held),
    mode,
    ...(uid === undefined ? {} : { uid }),
    ...(gid === undefined ? {} : { gid }),
  };
}

/** A number stands for itself. Throws `sink_owner_unknown`. */
export async function idOf(account: string, find: (name: string) => Promise<number | undefined>): Promise<number> {
  const id = /^\d+$/.test(account) ? Number(account) : await find(account);
  if (id === undefined) throw new RollcallError('sink_owner_unknown', { account });
  return id;
}

interface Writing {
  readonly wanted: WantedSink;
  readonly record: SinkRecord | undefined;
  readonly live: LiveSink;
}

async function write(ports: AttemptPorts, sink: SinkConfig, { wanted, record, live }: Writing): Promise<SinkRecord> {
  const { files } = ports;
  const { name, path } = sink;
  const { projection } = wanted;
  await assertUsableParent(ports, path);
  const directory = newDirectoryName(path, ports.random);
  const isOther = live.kind !== 'link' || live.content?.digest !== projection.digest;
  const isReloadDue = sink.reload !== undefined && (isOther || record?.isReloadDue === true);
  // What is to be done after a crash is durable before the crash can happen.
  await ports.remember({ name, path, ...writtenOf(record), writing: directory, isReloadDue });
  try {
    const { digest, looks } = await makeDirectory(files, `${parentOf(path)}/${directory}`, wanted);
    await turnLink(files, path, { directory, isAbsent: live.kind === 'absent' });
    const { epoch, step, version } = projection;
    const former = live.kind === 'link' && live.isOurName ? { former: live.target } : {};
    const written = { epoch, step, version, directory, digest, looks, wanted: wantedKey(wanted), ...former };
    const next = { name, path, written, isReloadDue };
    await ports.remember(next);
    await sweepSink(files, path, next).catch(() => undefined);
    return next;
  } catch (error) {
    // Gives its room back; it is no loss when this fails too, since the next start removes it.
    await sweepSink(files, path, record).catch(() => undefined);
    throw error;
  }
}

function writtenOf(record: SinkRecord | undefined): Pick<SinkRecord, 'written'> {
  return record?.written === undefined ? {} : { written: record.written };
}

/** Whoever may write there turns the link himself, and has a privileged agent write where he likes. */
async function assertUsableParent({ files, uid }: AttemptPorts, path: string): Promise<void> {
  const parent = await files.lookThrough(parentOf(path));
  if (parent.kind !== 'directory') throw new RollcallError('sink_parent_missing', { directory: parentOf(path) });
  const isShared = (parent.mode & 0o022) !== 0 && (parent.mode & 0o1000) === 0;
  if (isShared || (parent.uid !== 0 && parent.uid !== uid)) {
    throw new RollcallError('sink_parent_unsafe', { directory: parentOf(path) });
  }
}

async function factOf(
  { files }: AttemptPorts,
  { name, path, secret, reload }: SinkConfig,
  at: {
    readonly decision: ReturnType<typeof planSink> | 'failed';
    readonly record: SinkRecord | undefined;
    /** `undefined` after a write, which has looked by itself. */
    readonly live: LiveSink | undefined;
    readonly step: number | null;
  },
): Promise<SinkFact> {
  const { decision, record, step } = at;
  const written = record?.written;
  const isLive =
    written !== undefined &&
    (decision === 'write' || (at.live?.kind === 'link' && at.live.content?.digest === written.digest));
  const isInPlace =
    written !== undefined && (decision === 'write' || (at.live !== undefined && isAsWritten(written, at.live)));
  const version = isLive ? written.version : null;
  const fact = { name, path, secret, version, step, live: await readLiveToken(files, path) };
  if (decision === 'drifted') return { ...fact, state: 'drifted', problem: 'sink_drifted' };
  if (decision === 'in_the_way') return { ...fact, state: 'unwritten', problem: 'sink_in_the_way' };
  if (decision === 'failed' || !isInPlace) return { ...fact, state: 'unwritten' };
  return { ...fact, state: record?.isReloadDue === true && reload !== undefined ? 'unreloaded' : 'reloaded' };
}

function failureOf(error: unknown): { readonly problem: ErrorCode; readonly cause: string } {
  const cause = systemCode(error) ?? 'unknown';
  if (isRollcallError(error)) {
    const detail = error.details['cause'] ?? error.details['account'] ?? error.details['directory'];
    return { problem: error.code, cause: detail === undefined ? error.code : String(detail) };
  }
  return { problem: FULL.has(cause) ? 'sink_disk_full' : 'sink_unwritable', cause };
}

const FULL: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);
