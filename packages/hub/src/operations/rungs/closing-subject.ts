/** Closing a rung, as a rotation: whoever stood on it has climbed, and then the fleet refuses it (design 5). */
import { decodeUtf8, encodeHex } from '@rollcall/core/bytes';
import { RollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import { type Gate, goesOnByItself, isRunning, mustNarrowNow, type Rotation } from '@rollcall/core/rotation';
import {
  type ClosingObservations,
  decideClosing,
  decideClosingCut,
  decideRung,
  evaluateClosing,
  noPolicy,
  type Rung,
  rungOfClosing,
} from '@rollcall/core/rungs';
import type { Hub } from '../../hub.ts';
import { insertRotation } from '../../store/rotations.ts';
import type { Db } from '../../store/schema.ts';
import { REPLICA } from '../../token-hits.ts';
import { toTimeOrNull } from '../../views/hosts.ts';
import type { Subject } from '../rotation/subject.ts';
import { writeFleetRule } from './decide-rung.ts';
import { observeStanding } from './observe-standing.ts';

export interface ClosingView extends ClosingObservations {
  readonly rotation: Rotation;
  readonly gate: Gate;
}

export const closingSubject: Subject<ClosingView> = {
  async start(hub, tx, latest, input) {
    const rung = rungIn(input.secret);
    const { leave, reason, narrowByMs, auto = 'off' } = input;
    const id = `r-${encodeHex(hub.random(6))}`;
    const { beatMs } = hub.settings;
    const request = { id, rung, reason, leave, narrowByMs, auto, beatMs, narrowByMaxMs: limits.narrowByMaxMs };
    const rotation = decideClosing(latest, request, await observeStanding(hub, tx), hub.clock.read());
    await insertRotation(tx, hub.vault, rotation);
    return { rotation, details: { rung, narrowBy: toTimeOrNull(narrowByMs), auto } };
  },

  observe: probeClosing,

  view: viewClosing,

  mustNarrow: ({ rotation }, nowMs) => (mustNarrowNow(rotation, nowMs) ? 'narrow_by' : null),

  // Each host climbs when somebody lets it: nothing is handed out.
  planWave: ({ rotation }) => ({ kind: 'switch', members: [], canary: rotation.canary }),

  // All that it rests on is what the hub itself has seen.
  goesOnByItself: ({ rotation, gate }) => goesOnByItself(rotation, gate, []),

  switchMembers: async () => undefined,

  async enter(hub, tx, _view, after) {
    if (after.phase !== 'narrowing') return;
    const left = after.left.length === 0 ? 'nobody' : String(after.left.length);
    const reason = `Closed by the rotation ${after.id}, which left ${left} behind.`;
    const rule = { isAccepted: false, reason, sinceMs: hub.clock.now() };
    await writeFleetRule(hub, tx, rungIn(after.secret), rule);
  },

  evidence: ({ gate }) => ({ cutOff: gate.cutOff }),

  members: ({ hosts }) => hosts.map(({ id }) => id),

  async cut(hub, _tx, view, input) {
    const rotation = decideClosingCut(view.rotation, input, view, hub.clock.now());
    return { rotation, details: { until: toTimeOrNull(rotation.terms?.narrowByMs ?? null), left: rotation.left } };
  },
};

export async function viewClosing(hub: Hub, db: Db, rotation: Rotation): Promise<ClosingView> {
  const standing = await observeStanding(hub, db);
  const found = hub.tokenProbes.find(rotation.secret, REPLICA, momentOf(rotation));
  const probe =
    found === null
      ? null
      : { isRefused: found.refuses.includes(rotation.from), isControlled: found.takes.includes(rotation.to) };
  const seen = { ...standing, sightings: hub.rungSightings.of(rungIn(rotation.secret)), probe };
  const { quietWindowMs } = hub.settings;
  const gate = isRunning(rotation)
    ? evaluateClosing(rotation, seen, { quietWindowMs }, hub.clock.now())
    : { open: true, blockers: [], cutOff: [] };
  return { ...seen, rotation, gate };
}

/**
 * Once the fleet refuses it: over the real listener where the hub holds what stands on the rung, with the control that it is right.
 * What has passed is not asked again; what has not holds the gate. Never inside a transaction.
 */
async function probeClosing(hub: Hub, rotation: Rotation): Promise<void> {
  if (rotation.phase !== 'narrowing') return;
  const { secret, from, to } = rotation;
  const known = hub.tokenProbes.find(secret, REPLICA, momentOf(rotation));
  if (known?.refuses.includes(from) === true && known.takes.includes(to)) return;
  try {
    const { isRefused, isControlled } = await askItself(hub, rungIn(secret));
    const found = { takes: isControlled ? [to] : [], refuses: isRefused ? [from] : [], randomRefused: true };
    hub.tokenProbes.write(secret, REPLICA, momentOf(rotation), found);
  } catch (error) {
    const { code = 'internal' } = error as { readonly code?: string };
    hub.log.warn('the hub could not probe itself for a rung', { rotation: rotation.id, code });
  }
}

async function askItself(hub: Hub, rung: Rung): Promise<{ isRefused: boolean; isControlled: boolean }> {
  const text = rung === 'fleet-token' ? sharedToken(hub) : undefined;
  if (text !== undefined) {
    // A caller with this token is refused, and for its rung alone: the hub’s own probe with the same one is not.
    const isRefused = (await hub.ask.replica(text, 'caller')) === 'refused';
    return { isRefused, isControlled: (await hub.ask.replica(text)) === 'taken' };
  }
  // Of tokens of hosts the hub knows digests alone: what it holds is asked of the very object that lets hosts in.
  const verdict = (of: Rung) => decideRung('heartbeat', of, hub.roll.fleetRungs, noPolicy);
  return { isRefused: verdict(rung) === 'refused', isControlled: verdict('derived') === 'accepted' };
}

/** One that can be read: which of them is one, since each stands on the same rung. */
function sharedToken({ tokens }: Hub): string | undefined {
  for (const secret of tokens.secrets()) {
    const version = tokens.accepts(secret)[0];
    if (version !== undefined) return decodeUtf8(tokens.read(secret, version).reveal());
  }
  return undefined;
}

/** What was found before the fleet refused it says nothing. */
function momentOf({ id, phaseStartedAtMs }: Rotation): string {
  return `${id} ${phaseStartedAtMs}`;
}

function rungIn(secret: string): Rung {
  const rung = rungOfClosing(secret);
  if (rung === undefined) throw new RollcallError('malformed_rung');
  return rung;
}
