/** What the gates of a shared token require: probes with their controls, callers that were seen, and three signals (design 5). */
import type { Blocker, GatePolicy, Observations } from './gate.ts';
import { hintForSilence, hintForStanding, hintForUnreadable } from './hints.ts';
import { type Holder, type Probe, retiringVersion, type SinkState, stayingVersion } from './holder.ts';
import type { Asked, Lack } from './members.ts';
import type { Rotation } from './phases.ts';
import { wasQuiet } from './quiet.ts';

/** Every verifier takes both versions, and refuses a random value. */
export function everyVerifierTakesBoth(rotation: Rotation): Asked<Holder> {
  return everyVerifierProbed(rotation, { takes: [rotation.from, rotation.to], refuses: [] });
}

/** Every verifier refuses the version that was dropped, and takes the one that stays. */
export function everyVerifierDropped(rotation: Rotation): Asked<Holder> {
  return everyVerifierProbed(rotation, { takes: [stayingVersion(rotation)], refuses: [retiringVersion(rotation)] });
}

/** Every caller that can be known was seen with the version that stays since it was told to, and with no other since then. */
export function everyCallerSeen(rotation: Rotation, { holders }: Observations): Asked<Holder> {
  const wanted = stayingVersion(rotation);
  return {
    isAsked: ({ presents }) => presents,
    lackOf: (holder) => {
      const unreadable = hintForUnreadable(holder);
      if (unreadable !== null) return { missing: 'readable_rows', hint: unreadable };
      if (holder.isReleased) return { missing: 'seen_without', hint: hintForReleased(holder) };
      if (holder.presentingOld) {
        return {
          missing: 'old_version_silent',
          hint: 'It was seen with another version since: two programs with one name, or a restored disk?',
        };
      }
      const wasTold = holder.switched === (wanted === rotation.to);
      if (wasTold && holder.provenVersion === wanted) return null;
      const waits = !wasTold && holder.fresh && hintForStanding(holder) === null;
      return { missing: 'seen_presenting', hint: waits ? 'It waits for its turn.' : hintForUnseen(holder, wanted) };
    },
    // Of declared callers nothing is known but that the counters stay flat, and those are asked in the next phase.
    ifNobody: holders.some(({ kind }) => kind === 'caller') ? null : nobody(rotation),
  };
}

/** The counters: no verifier was sent the retiring version for the whole quiet window, and each has said so lately. */
export function everyCounterQuiet(
  rotation: Rotation,
  _observations: Observations,
  { quietWindowMs, reportedWithinMs }: GatePolicy,
  nowMs: number,
): Asked<Holder> {
  const retiring = retiringVersion(rotation);
  return everyVerifier(rotation, 'counter_reported', (holder) => {
    const { quiet, sources } = holder;
    if (quiet === null || nowMs - quiet.reportedAtMs > reportedWithinMs) {
      const lack =
        'and has not reported what it was sent. A count that is not known is not zero: see its agent, or wait';
      return { missing: 'counter_reported', hint: hintForSilence(holder, lack) };
    }
    if (wasQuiet(quiet.flatSinceMs, quiet.reportedAtMs, quietWindowMs)) return null;
    return {
      missing: 'quiet_window',
      hint: `${whoSends(retiring, sources)} ${whenQuiet(quiet.flatSinceMs + quietWindowMs)}`,
    };
  });
}

/**
 * Whoever reads a sink was told of the present step of its host. A program that checks callers by such a file is a verifier that
 * nobody can probe: it must have both versions before any caller switches, and loses one only after all have.
 */
export function everySinkTold(): Asked<Holder> {
  return everySink(
    'sink_told',
    ({ isTold }) => isTold,
    (untold) =>
      `Whoever reads it was not told yet what its host accepts now: ${untold}. See \`rollcall agent status\` on it.`,
  );
}

/** The digests: the live file of each sink holds the version that stays. */
export function everySinkCurrent(rotation: Rotation): Asked<Holder> {
  return everySink(
    'sink_digest',
    ({ isCurrent }) => isCurrent,
    (behind) =>
      `What lies there is not version ${stayingVersion(rotation)}: ${behind}. See \`rollcall agent status\` on it.`,
  );
}

/** A host without sinks has none that could lack it. */
function everySink(
  missing: string,
  isThere: (sink: SinkState) => boolean,
  hintFor: (sinks: string) => string,
): Asked<Holder> {
  return {
    isAsked: ({ sinks }) => sinks === null || sinks.length > 0,
    lackOf: (holder) => {
      const unsaid = 'and has not said yet which token files it keeps';
      if (holder.sinks === null) return { missing, hint: hintForStanding(holder) ?? hintForSilence(holder, unsaid) };
      if (holder.sinks.every(isThere)) return null;
      if (!holder.fresh) return { missing, hint: hintForSilence(holder, unsaid) };
      const behind = holder.sinks.filter((sink) => !isThere(sink));
      const named = behind.map(({ name, problem }) => (problem === null ? name : `${name} (${problem})`)).join(', ');
      return { missing, hint: hintFor(named) };
    },
    ifNobody: null,
  };
}

/** `missing`: of one of which it is not known whether it has a listener. `lackOf` is asked of those whose listener is open. */
function everyVerifier(rotation: Rotation, missing: string, lackOf: (holder: Holder) => Lack | null): Asked<Holder> {
  return {
    isAsked: ({ verifies }) => verifies !== false,
    lackOf: (holder) => lackOfListener(holder, missing) ?? lackOf(holder),
    ifNobody: nobody(rotation),
  };
}

function everyVerifierProbed(rotation: Rotation, wanted: Omit<Probe, 'randomRefused'>): Asked<Holder> {
  return everyVerifier(rotation, 'probe', (holder) => {
    if (holder.probe === null) return { missing: 'probe', hint: hintForUnprobed(holder) };
    const failed = failures(holder.probe, wanted);
    if (failed.length === 0) return null;
    return { missing: 'probe_passed', hint: `Its listener ${failed.join(', ')}. Is it the agent that listens there?` };
  });
}

function failures(probe: Probe, wanted: Omit<Probe, 'randomRefused'>): readonly string[] {
  return [
    ...wanted.takes
      .filter((version) => !probe.takes.includes(version))
      .map((version) => `does not take version ${version}`),
    ...wanted.refuses
      .filter((version) => !probe.refuses.includes(version))
      .map((version) => `does not refuse version ${version}`),
    ...(probe.randomRefused ? [] : ['takes a random value']),
  ];
}

function nobody(rotation: Rotation): Blocker {
  const hint =
    'Nobody holds this token who could be asked: see `rollcall secret show`. A pass over nothing is not readiness.';
  return { member: rotation.secret, missing: 'no_holder', sinceMs: rotation.phaseStartedAtMs, hint };
}

function whoSends(version: number, [newest, ...others]: Holder['sources']): string {
  if (newest === undefined) return `It began to count version ${version} anew, or the count rose.`;
  const at = new Date(newest.atMs).toISOString();
  const agent = newest.userAgent === '' ? '' : ` (${newest.userAgent})`;
  const more = others.length === 0 ? '' : `, and from ${others.length} more`;
  return `Version ${version} was sent last from ${newest.address}${agent} at ${at}${more}.`;
}

/** A time that cannot be read holds the gate closed, and is said to be none (I7). */
function whenQuiet(untilMs: number): string {
  if (!Number.isFinite(untilMs)) return 'Since when nobody does cannot be read.';
  return `If nobody does from now on, this opens at ${new Date(untilMs).toISOString()}.`;
}

/** What was found while it was open says nothing of what it takes once it opens again. `missing`: of one that is not known at all. */
function lackOfListener(holder: Holder, missing: string): Lack | null {
  if (holder.verifies === null) {
    const lacking = 'and has not said yet whether it has a listener';
    return { missing, hint: hintForStanding(holder) ?? hintForSilence(holder, lacking) };
  }
  if (!holder.isClosed) return null;
  const lacking = 'and its listener is closed: `rollcall agent status` on it says why';
  return { missing: 'listener_open', hint: hintForStanding(holder) ?? hintForSilence(holder, lacking) };
}

function hintForUnprobed(holder: Holder): string {
  if (holder.kind === 'replica') return 'The hub has not probed itself yet. If it stays so, see its log.';
  const lacking =
    'and its listener was not probed for its present step: is it open and reachable? `rollcall agent status` on it says why not';
  return hintForStanding(holder) ?? hintForSilence(holder, lacking);
}

function hintForReleased(holder: Holder): string {
  const lacking = 'and was not seen without the token since it was released';
  return hintForStanding(holder) ?? hintForSilence(holder, lacking);
}

function hintForUnseen(holder: Holder, wanted: number): string {
  return (
    hintForStanding(holder) ??
    hintForSilence(holder, `and was not seen with version ${wanted} since it was told to send it`)
  );
}
