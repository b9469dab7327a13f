/**
 * Who takes and sends a shared token, as its rotation sees them: every holder that is on the roll, the declared callers, and the
 * hub itself, joined with what was seen, counted and probed. No filter of status or age here (I6).
 */
import { CALLER_PREFIX } from '@rollcall/core/keys';
import { staleAfterMs } from '@rollcall/core/liveness';
import {
  type HitSource,
  type Holder,
  isRunning,
  type Quiet,
  type RollHost,
  type Rotation,
  retiringVersion,
  type SinkState,
  stayingVersion,
} from '@rollcall/core/rotation';
import { isDrop } from '@rollcall/core/seal';
import type { Hub } from '../../hub.ts';
import { type AssignmentRecord, listAssignments } from '../../store/assignments.ts';
import { type HostRecord, listRoll, type UnreadableHost } from '../../store/hosts.ts';
import type { Db } from '../../store/schema.ts';
import { EVERY_MEMBER, listHolders } from '../../store/tokens.ts';
import type { Readable } from '../../store/trust-row.ts';
import type { TokenEntry } from '../../token-entries.ts';
import { REPLICA } from '../../token-hits.ts';
import type { SinkHolding } from '../../token-reports.ts';
import { observeRoll } from '../observe-roll.ts';

/** `rotation`: the newest of the secret; `null` before there was any. */
export async function observeHolders(hub: Hub, db: Db, secret: string, rotation: Rotation | null): Promise<Holder[]> {
  const members = new Set(await listHolders(db, hub.vault, secret));
  const standing = await listAssignments(db, hub.vault, secret);
  const pushes = new Set((await listRoll(db, hub.vault)).flatMap((host) => (isPush(host) ? [host.id] : [])));
  const isMember = (id: string) => members.has(id) || members.has(EVERY_MEMBER);
  const hosts = (await observeRoll(hub, db, null, [])).flatMap((host) => {
    const row = { host, pushes: pushes.has(host.id), standing: standing.get(host.id) };
    if (isMember(host.id)) return [toHolder(hub, secret, rotation, row)];
    return isStillWith(row) ? [released(toHolder(hub, secret, rotation, row))] : [];
  });
  const callers = [...members].filter((member) => member.startsWith(CALLER_PREFIX)).map(declared);
  return [thisReplica(hub, secret, rotation), ...hosts, ...callers];
}

/** Of a step, or of a replica of a phase: what was found before says nothing of it. */
export function momentOfStep({ epoch, step }: Pick<AssignmentRecord, 'epoch' | 'step'>): string {
  return `${epoch}/${step}`;
}

export function momentOfPhase({ id, phase }: Rotation): string {
  return `${id}/${phase}`;
}

interface Row {
  readonly host: RollHost;
  readonly pushes: boolean;
  readonly standing: Readable<AssignmentRecord> | undefined;
}

function toHolder(hub: Hub, secret: string, rotation: Rotation | null, { host, pushes, standing }: Row): Holder {
  const wanted = standing === 'unreadable' ? undefined : standing;
  const report = hub.tokenReports.of(host.id);
  // A beat on a weaker rung says nothing of either.
  const isKnown = hub.tokenReports.has(host.id);
  const entry = hub.roll.get(host.id);
  const held = entry?.tokens.find((candidate) => candidate.secret === secret);
  const isProven = wanted !== undefined && wanted.ackedStep === wanted.step;
  const running = rotation !== null && isRunning(rotation) ? rotation : null;
  const retiring = running === null ? null : retiringVersion(running);
  return {
    ...host,
    kind: 'host',
    verifies: pushes || (isKnown ? report.listener !== null : null),
    hadListener: running !== null && (hub.tokenReports.listenerSaidAt(host.id) ?? 0) >= running.startedAtMs,
    isClosed: report.listener === 'closed',
    presents: true,
    isReleased: false,
    provenVersion: isProven ? wanted.present : null,
    presentingOld: isPresentingOther(hub, held, entry?.intervalMs ?? 0),
    switched: running !== null && wanted?.present === running.to,
    narrowed: isProven && wanted.accept.length === 1,
    refusal: entry?.refused.find((refused) => refused.secret === secret)?.reason ?? null,
    unreadable: standing === 'unreadable' ? [...new Set([...host.unreadable, 'assignment' as const])] : host.unreadable,
    probedBy: pushes ? 'hub' : 'itself',
    probe: wanted === undefined ? null : probeOf(hub, secret, host.id, { wanted, pushes }),
    quiet: retiring === null ? null : hub.tokenReports.quiet(host.id, secret, retiring),
    sources: report.sources.filter((source) => source.secret === secret && source.version === retiring),
    sinks: isKnown
      ? report.sinks.filter((sink) => sink.secret === secret).map((sink) => toSink(sink, wanted, running))
      : null,
  };
}

/**
 * It was told that it holds the token no more, and was not seen without it since (I5). One that is not in, or not in yet, sends nothing
 * beside a credential of its own.
 */
function isStillWith({ host, standing }: Row): boolean {
  if (standing === undefined || host.status === 'evicted' || host.status === 'invited') return false;
  return standing === 'unreadable' || (isDrop(standing) && standing.ackedStep !== standing.step);
}

/** What it is asked is one thing: to be seen without. */
function released(holder: Holder): Holder {
  return { ...holder, isReleased: true, verifies: false, probe: null, provenVersion: null, sinks: [] };
}

function toSink(
  { name, problem, holds, toldOf }: SinkHolding,
  wanted: AssignmentRecord | undefined,
  running: Rotation | null,
): SinkState {
  return {
    name,
    problem,
    isCurrent: running === null || holds === stayingVersion(running),
    isTold: wanted !== undefined && toldOf === wanted.step,
  };
}

/** The hub asks those that it can call; of the others it knows what they found at themselves. */
function probeOf(
  hub: Hub,
  secret: string,
  host: string,
  { wanted, pushes }: { readonly wanted: AssignmentRecord; readonly pushes: boolean },
): Holder['probe'] {
  if (pushes) return hub.tokenProbes.find(secret, host, momentOfStep(wanted));
  const reported = hub.tokenReports.of(host).probes.get(secret);
  return reported?.step === wanted.step ? reported : null;
}

/** Until it sends the right one again, and for as long as a silent host counts as there: two instances take turns. */
function isPresentingOther({ clock }: Pick<Hub, 'clock'>, held: TokenEntry | undefined, intervalMs: number): boolean {
  const other = held?.presentedOther ?? null;
  if (other === null) return false;
  return other.isLast || clock.monotonic() - other.monotonicMs <= staleAfterMs(intervalMs);
}

function thisReplica(hub: Hub, secret: string, rotation: Rotation | null): Holder {
  const running = rotation !== null && isRunning(rotation) ? rotation : null;
  const now = hub.clock.now();
  let quiet: Quiet | null = null;
  let sources: readonly HitSource[] = [];
  if (running !== null) {
    const retiring = retiringVersion(running);
    quiet = { flatSinceMs: hub.tokenHits.count(secret, retiring, now).flatSinceMs, reportedAtMs: now };
    sources = hub.tokenHits.sources(secret, retiring);
  }
  const probe = running === null ? null : hub.tokenProbes.find(secret, REPLICA, momentOfPhase(running));
  return { ...nobody(REPLICA), kind: 'replica', verifies: true, probe, quiet, sources };
}

/** It presents, and nothing is known of it: for it only the absence of retiring hits counts (design 5, Who presented it). */
function declared(member: string): Holder {
  return { ...nobody(member), kind: 'caller', verifies: false, probe: null, quiet: null, sources: [] };
}

function nobody(id: string): RollHost & Pick<Holder, 'presents' | 'isReleased' | 'isClosed' | 'probedBy' | 'sinks'> {
  return {
    id,
    status: 'active',
    fresh: true,
    lastSeenAtMs: null,
    pin: 'usable',
    unusableKey: false,
    pendingPins: 0,
    holdsMaster: false,
    provenVersion: null,
    presentingOld: false,
    switched: false,
    narrowed: false,
    refusal: null,
    unreadable: [],
    presents: false,
    isClosed: false,
    isReleased: false,
    probedBy: 'hub',
    sinks: [],
  };
}

/** One whose row cannot be read counts as one that has a listener: what is not known holds a gate closed (I10). */
function isPush(host: HostRecord | UnreadableHost): boolean {
  return host.status === 'unreadable' || host.reach === 'push';
}
