/** Looks at an agent from outside, for `rollcall doctor`. It takes no lock, writes nothing, and sends no credential. */
import { accessSync, constants, lstatSync, readFileSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { encodeBase64url } from '@rollcall/core/bytes';
import { isRollcallError } from '@rollcall/core/errors';
import { parseHubRootFile } from '@rollcall/core/keys';
import { limits } from '@rollcall/core/limits';
import type { Clock, PeerTrust, Transport } from '@rollcall/core/ports';
import { type AgentStatusAnswer, type FileFact, routes } from '@rollcall/wire';
import type {
  AgentIdentity,
  GivenFile,
  GivenSink,
  ObservedAgent,
  ProbedHub,
  SlotFact,
} from '../doctor/observed-agent.ts';
import { type DurableState, parseDurableState } from '../state/durable-state.ts';
import { SOCKET_NAME, slotPath } from '../state/files-on-disk.ts';
import { parseSlot, type Slot } from '../state/slot.ts';
import { askStatus } from './status-socket.ts';
import { systemFiles } from './system-files.ts';

export interface DoctorOptions {
  /** Of a configuration: each is looked at. */
  readonly given?: readonly { readonly key: GivenFile['key']; readonly path: string }[];
  /** Of a configuration. */
  readonly sinks?: readonly { readonly name: string; readonly path: string }[];
  /** Instead of the addresses in the state. */
  readonly hubs?: readonly string[];
}

export async function observeAgent(
  directory: string,
  { given = [], sinks = [], hubs }: DoctorOptions,
  { clock, transport }: { readonly clock: Clock; readonly transport: Transport },
): Promise<ObservedAgent> {
  const slots = [await readSlot(slotPath(directory, 0)), await readSlot(slotPath(directory, 1))];
  const state = inForce(slots);
  const socketPath = `${directory}/${SOCKET_NAME}`;
  return {
    directory,
    uid: process.getuid?.() ?? 0,
    directoryFact: factOf(directory),
    directoryUnwritable: whyUnwritable(directory),
    slots: slots.map(({ fact }) => fact),
    socketPathBytes: Buffer.byteLength(socketPath),
    freeBytes: freeBytes(directory),
    nowMs: clock.now(),
    identity: state === null ? null : identityOf(state),
    hubs:
      state === null ? [] : await Promise.all((hubs ?? state.hubs).map((url) => probe(url, state, clock, transport))),
    given: given.map((file) => ({
      ...file,
      fact: factOf(file.path),
      ...(file.key === 'hub_root_file' ? { root: rootOf(file.path) } : {}),
    })),
    sinks: sinks.map(sinkOf),
    running: await runningAgent(directory),
  };
}

interface ReadSlot {
  readonly fact: SlotFact;
  readonly slot: Slot | null;
}

async function readSlot(path: string): Promise<ReadSlot> {
  const fact = factOf(path);
  if (fact.state === 'absent') return { fact: { path, fact, content: 'absent' }, slot: null };
  try {
    const slot = parseSlot(await systemFiles.read(path, limits.stateFileMaxBytes));
    return { fact: { path, fact, content: 'whole' }, slot };
  } catch (error) {
    const content = isRollcallError(error, 'state_torn')
      ? 'torn'
      : isRollcallError(error, 'state_too_new')
        ? 'newer'
        : 'unread';
    return { fact: { path, fact, content }, slot: null };
  }
}

function inForce(slots: readonly ReadSlot[]): DurableState | null {
  const [newest] = slots.flatMap(({ slot }) => slot ?? []).sort((a, b) => b.counter - a.counter);
  try {
    return newest === undefined ? null : parseDurableState(newest.state);
  } catch {
    return null;
  }
}

function identityOf({ host, hubRoot, assignments, enrolment, life }: DurableState): AgentIdentity {
  // A host of an older fleet derives what it presents from a file that is given at each start.
  const canSpeak = assignments.has('master') || enrolment !== undefined || life !== undefined;
  return { host, hubRoot: encodeBase64url(hubRoot), canSpeak };
}

/** Asks what anyone may ask, of a peer that is judged as for a heartbeat; no bearer goes along. */
async function probe(url: string, state: DurableState, clock: Clock, transport: Transport): Promise<ProbedHub> {
  const judge: PeerTrust =
    state.roots.length === 0
      ? { kind: 'spki', spki: state.enrolment?.spki ?? state.knownSpki }
      : { kind: 'chain', trustDomain: state.trustDomain, roots: state.roots, knownSpki: state.knownSpki };
  try {
    const answer = await transport.request({ url, method: 'GET', path: routes.version.path, headers: {}, judge });
    const dateMs = Date.parse(answer.headers['date'] ?? '');
    return { url, failure: null, dateMs: Number.isFinite(dateMs) ? dateMs : null, localMs: clock.now() };
  } catch (error) {
    const failure = isRollcallError(error) ? error : undefined;
    const code =
      failure?.code === 'hub_untrusted' || failure?.code === 'hub_timeout' ? failure.code : 'hub_unreachable';
    const reason = String(failure?.details['reason'] ?? failure?.details['cause'] ?? 'no answer');
    return { url, failure: { code, reason }, dateMs: null, localMs: clock.now() };
  }
}

function rootOf(path: string): string | null {
  try {
    return encodeBase64url(parseHubRootFile(readFileSync(path)).root);
  } catch {
    return null;
  }
}

async function runningAgent(directory: string): Promise<AgentStatusAnswer | null> {
  return askStatus(directory).catch(() => null);
}

function factOf(path: string): FileFact {
  try {
    const stat = statSync(path);
    const kind = stat.isFile() ? 'file' : stat.isDirectory() ? 'directory' : stat.isSocket() ? 'socket' : 'other';
    return { state: 'there', kind, mode: stat.mode & 0o777, uid: stat.uid };
  } catch (error) {
    const cause = (error as { code?: string }).code ?? 'unknown';
    return cause === 'ENOENT' || cause === 'ENOTDIR' ? { state: 'absent' } : { state: 'unknown', cause };
  }
}

function sinkOf({ name, path }: NonNullable<DoctorOptions['sinks']>[number]): GivenSink {
  const parent = dirname(path);
  return { name, path, kind: kindAt(path), parent: factOf(parent), isSticky: isSticky(parent) };
}

function isSticky(directory: string): boolean {
  try {
    return (statSync(directory).mode & 0o1000) !== 0;
  } catch {
    return false;
  }
}

/** Of what is at a path itself. */
function kindAt(path: string): GivenSink['kind'] {
  try {
    return lstatSync(path).isSymbolicLink() ? 'link' : 'foreign';
  } catch (error) {
    const cause = (error as { code?: string }).code;
    return cause === 'ENOENT' || cause === 'ENOTDIR' ? 'absent' : 'unknown';
  }
}

function whyUnwritable(directory: string): string | null {
  try {
    accessSync(directory, constants.W_OK);
    return null;
  } catch (error) {
    return (error as { code?: string }).code ?? 'unknown';
  }
}

function freeBytes(directory: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize;
  } catch {
    return null;
  }
}
