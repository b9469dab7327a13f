/**
 * Closing a rung by evidence: the walk of every rotation, in which nothing is handed out. Whoever stood on the rung has one above
 * it that is accepted, was seen there, and nobody stands on it any more (design 5, "the same walk").
 */
import { RollcallError } from '../errors.ts';
import { type Blocker, type Gate, inOrder } from '../rotation/gate.ts';
import { assertTimeTrusted, type HubTime } from '../rotation/hub-time.ts';
import { coverLeave } from '../rotation/leave.ts';
import { isRunning, type Phase, type Rotation } from '../rotation/phases.ts';
import { oldTokenVerifies, readNarrowBy, type TokenStartRequest } from '../rotation/token-start.ts';
import { acceptedRungs, type RungPolicy, ruleOf } from './policy.ts';
import { isRung, type Rung, rungs, rungsAbove } from './rung.ts';
import { lastStoodOn, type Sightings } from './sightings.ts';
import { type StandingHost, whoNeeds } from './standing.ts';

/** Before the rung that a rotation closes, in the place of a secret. No secret has a colon in its name. */
export const CLOSING = 'rung:';

/** What a rotation that closes this rung is called. */
export function closingOf(rung: Rung): string {
  return `${CLOSING}${rung}`;
}

/** What each of them is called that can be. The highest rung is not closed: nobody could climb from there. */
export const closings: readonly string[] = rungs.filter((rung) => rungsAbove(rung).length > 0).map(closingOf);

/** `undefined`: it is no rung that this rotation closes. */
export function rungOfClosing(secret: string): Rung | undefined {
  const rung = secret.startsWith(CLOSING) ? secret.slice(CLOSING.length) : '';
  return isRung(rung) ? rung : undefined;
}

export interface ClosingObservations {
  readonly fleet: RungPolicy;
  /** Every row of the registry. */
  readonly hosts: readonly StandingHost[];
  readonly sightings: Sightings;
  /** Of the hub's own listener, since it was told to refuse; `null`: not yet. */
  readonly probe: ClosingProbe | null;
}

export interface ClosingProbe {
  /** What stands on the rung got the constant refusal. */
  readonly isRefused: boolean;
  /** The control: the same credential is a right one, and the listener does answer. */
  readonly isControlled: boolean;
}

export interface ClosingRequest extends Omit<TokenStartRequest, 'secret' | 'batch'> {
  readonly rung: Rung;
}

/** Decides a start, or throws: `rotation_running`, `no_rung_left`, `rung_closed`, `narrow_by_missing`, `window_out_of_bounds`. */
export function decideClosing(
  latest: Rotation | null,
  request: ClosingRequest,
  { fleet, hosts }: Pick<ClosingObservations, 'fleet' | 'hosts'>,
  time: HubTime,
): Rotation {
  assertTimeTrusted(time);
  const { rung, reason, leave, auto, id } = request;
  if (latest !== null && isRunning(latest)) throw new RollcallError('rotation_running', { hosts: [] });
  if (!acceptedRungs(fleet, {}).some((other) => rungsAbove(rung).includes(other))) {
    throw new RollcallError('no_rung_left', { rung });
  }
  const rule = ruleOf(rung, fleet, {});
  if (rule !== 'unreadable' && !rule.isAccepted) throw new RollcallError('rung_closed', { rung });
  const members = hosts.map((host) => host.id);
  const before = latest?.to ?? 1;
  return {
    id,
    secret: closingOf(rung),
    // A rung has no versions: what is counted is how often it was closed.
    from: before,
    to: before + 1,
    phase: 'widening',
    reason,
    startedAtMs: time.nowMs,
    phaseStartedAtMs: time.nowMs,
    left: coverLeave({ leave, left: [] }, [], members, 'would_strand'),
    pausedBecause: null,
    canary: null,
    terms: { auto, batch: 1, narrowByMs: readNarrowBy(request, time.nowMs) },
  };
}

/** An earlier end than before, never a later one; whoever needs the rung then is named. */
export function decideClosingCut(
  rotation: Rotation,
  { untilMs, leave }: { readonly untilMs: number; readonly leave: readonly string[] },
  { fleet, hosts }: Pick<ClosingObservations, 'fleet' | 'hosts'>,
  nowMs: number,
): Rotation {
  const { phase, terms, left: before } = rotation;
  if (!gates[phase].isBeforeNarrowing) throw new RollcallError('rotation_moved_on', { phase });
  if (terms === undefined) throw new TypeError('closing of a rung without terms');
  if (!(untilMs < (terms.narrowByMs ?? Number.POSITIVE_INFINITY))) {
    throw new RollcallError('window_not_shortened', { untilMs: terms.narrowByMs });
  }
  const needing = whoNeeds(rungIn(rotation), fleet, hosts);
  const members = hosts.map(({ id }) => id);
  const left = coverLeave({ leave, left: before }, needing, members, 'would_strand');
  return { ...rotation, left, terms: { ...terms, narrowByMs: Math.max(untilMs, nowMs) } };
}

/** Evaluates the gate out of the phase. After a leak, once the time has come, it says who was cut off. */
export function evaluateClosing(
  rotation: Rotation,
  observations: ClosingObservations,
  { quietWindowMs }: { readonly quietWindowMs: number },
  nowMs: number,
): Gate {
  const { asks, isBeforeNarrowing } = gates[rotation.phase];
  const left = new Set(rotation.left);
  const found = asks.flatMap((ask) => ask(rotation, observations, quietWindowMs, nowMs));
  const blockers = inOrder(found.filter(({ member }) => !left.has(member)));
  const isReport = rotation.reason === 'leak' && isBeforeNarrowing && !oldTokenVerifies(rotation, nowMs);
  if (!isReport || observations.hosts.length === 0) return { open: blockers.length === 0, blockers, cutOff: [] };
  const members = new Set(observations.hosts.map(({ id }) => id));
  return {
    open: true,
    blockers: [],
    cutOff: [...new Set(blockers.map(({ member }) => member))].filter((id) => members.has(id)),
  };
}

type Ask = (rotation: Rotation, seen: ClosingObservations, quietWindowMs: number, nowMs: number) => readonly Blocker[];
interface GateRow {
  readonly asks: readonly Ask[];
  readonly isBeforeNarrowing: boolean;
}

// biome-ignore format: a table
const gates: Readonly<Record<Phase, GateRow>> = {
  planned:     { isBeforeNarrowing: true,  asks: [] },
  widening:    { isBeforeNarrowing: true,  asks: [somebodyIsThere, everyHostHasHigher] },
  rolling:     { isBeforeNarrowing: true,  asks: [somebodyIsThere, everyHostHasHigher, everyHostSeenHigher] },
  proving:     { isBeforeNarrowing: true,  asks: [somebodyIsThere, everyHostHasHigher, everyHostSeenHigher, nobodyStandsOnIt] },
  narrowing:   { isBeforeNarrowing: false, asks: [hubRefuses] },
  done:        { isBeforeNarrowing: false, asks: [] },
  // Nothing was handed out, so nothing is taken back.
  reverting:   { isBeforeNarrowing: false, asks: [] },
  withdrawing: { isBeforeNarrowing: false, asks: [] },
  rolled_back: { isBeforeNarrowing: false, asks: [] },
};

function somebodyIsThere({ phaseStartedAtMs }: Rotation, { hosts }: ClosingObservations): readonly Blocker[] {
  if (hosts.length > 0) return [];
  const hint = 'A pass over nothing is not readiness.';
  return [{ member: 'roll', missing: 'empty_roll', sinceMs: phaseStartedAtMs, hint }];
}

/** Of whoever nothing else was decided for; an evicted host stands nowhere. */
function everyHostHasHigher(rotation: Rotation, { fleet, hosts }: ClosingObservations): readonly Blocker[] {
  const rung = rungIn(rotation);
  const above = rungsAbove(rung);
  const hint = `No rung above ${rung} is accepted of it: \`rollcall rung accept\`, or \`rollcall rung clear\`.`;
  return hosts
    .filter(({ status, policy }) => status !== 'evicted' && policy[rung] === undefined)
    .filter(({ policy }) => !acceptedRungs(fleet, policy).some((other) => above.includes(other)))
    .map(({ id }) => ({ member: id, missing: 'higher_rung_accepted', sinceMs: rotation.phaseStartedAtMs, hint }));
}

function everyHostSeenHigher(rotation: Rotation, { fleet, hosts }: ClosingObservations): readonly Blocker[] {
  const hint =
    'It was seen on no rung above: let it enrol (`rollcall host reenrol`), give it a token of its own (`rollcall host token`), or go on without it (--leave).';
  return whoNeeds(rungIn(rotation), fleet, hosts).map((member) => {
    return { member, missing: 'seen_higher', sinceMs: rotation.phaseStartedAtMs, hint };
  });
}

/** For the whole quiet window, by whoever came: here is the cron job that nobody remembered. */
function nobodyStandsOnIt(
  { left, phaseStartedAtMs }: Rotation,
  { sightings }: ClosingObservations,
  quietWindowMs: number,
  nowMs: number,
): readonly Blocker[] {
  const lastAtMs = lastStoodOn(sightings, left);
  // An unreadable window or time is not quiet (I7).
  if (nowMs - lastAtMs >= Math.max(quietWindowMs, 0)) return [];
  const quietAt = `It is quiet enough at ${timeText(lastAtMs + quietWindowMs)}, if nobody does again.`;
  const standing = sightings.sources.filter(
    ({ host, atMs }) => !(nowMs - atMs >= quietWindowMs) && !(host !== null && left.includes(host)),
  );
  if (standing.length === 0) {
    const hint = `The hub has counted without a gap since ${timeText(lastAtMs)}. ${quietAt}`;
    return [{ member: 'replica:local', missing: 'quiet_window', sinceMs: phaseStartedAtMs, hint }];
  }
  return standing.map(({ host, address, userAgent, route, atMs }) => ({
    member: host ?? address,
    missing: 'quiet_window',
    sinceMs: atMs,
    hint: `${userAgent || 'Somebody'} from ${address} stood on it at ${route}. ${quietAt}`,
  }));
}

/** 401, by its real listener, and the control beside it. */
function hubRefuses({ phaseStartedAtMs }: Rotation, { probe }: ClosingObservations): readonly Blocker[] {
  const lacks = (missing: string, hint: string) => [
    { member: 'replica:local', missing, sinceMs: phaseStartedAtMs, hint },
  ];
  if (probe === null) return lacks('probe', 'The hub has not probed itself yet. If it stays so, see its log.');
  if (!probe.isControlled) return lacks('probe_control', 'The hub does not take its own control: see its log.');
  if (!probe.isRefused) return lacks('rung_refused', 'The hub still takes it: see `rollcall rung list`.');
  return [];
}

function timeText(ms: number): string {
  return Number.isFinite(ms) ? new Date(ms).toISOString() : 'a time that cannot be read';
}

function rungIn({ secret }: Rotation): Rung {
  const rung = rungOfClosing(secret);
  if (rung === undefined) throw new TypeError(`closing: ${secret} is no rung`);
  return rung;
}
