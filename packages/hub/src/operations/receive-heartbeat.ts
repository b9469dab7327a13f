/**
 * `POST /v1/heartbeat` (design 2, "Data through the house"). When nothing changed, all of it happens in memory; what an
 * answer promises (a pin taken, a step proven) is durable before the answer leaves.
 */
import { errorTable, RollcallError } from '@rollcall/core/errors';
import { type InstanceNote, isFresh, nextBeatMs, noteInstance } from '@rollcall/core/liveness';
import type { PinAnswer } from '@rollcall/core/pins';
import type { HubTime } from '@rollcall/core/rotation';
import { type HeartbeatBody, routes } from '@rollcall/wire';
import { type AuthenticatedHost, verdictOf } from '../authenticate.ts';
import type { Hub } from '../hub.ts';
import { MASTER } from '../live-generations.ts';
import type { RollEntry } from '../roll.ts';
import { dueDeliveries } from './due-deliveries.ts';
import { type MasterProof, proveMaster } from './prove-master.ts';
import { noteBeatOfPending, type Publication, publicationText, publishWrapKey } from './publish-wrap-key.ts';
import { recordClone } from './record-clone.ts';
import { seeHostToken } from './see-host-token.ts';
import { dueTokenDeliveries } from './token/due-token-deliveries.ts';
import { noteReports, proveTokens, saysMore } from './token/note-beat.ts';
import { noteTokens, type SentFrom } from './token/note-tokens.ts';

export interface Beat {
  readonly who: AuthenticatedHost;
  readonly body: HeartbeatBody;
  /** Address of the connection. */
  readonly from: string;
  /** What the caller calls itself, cut short. */
  readonly userAgent: string;
}

/** The answer, as JSON text. */
export async function receiveHeartbeat(hub: Hub, beat: Beat): Promise<string> {
  const { who, body } = beat;
  const { entry } = who;
  assertStillLetIn(hub, who);
  const time = hub.clock.read();
  // Before it is anything else, a replay or of a life before: who sends an old token so would miss it all the same.
  if (who.tokens.length > 0) noteTokens(hub, who, { ...sentFrom(beat), atMs: time.nowMs });
  if (body.host !== undefined && body.host !== entry.id) throw new RollcallError('host_mismatch');
  if (who.life !== entry.life) {
    hub.counts.add('instances', 'former_life');
    return answer(hub, beat, standingPin(entry), time);
  }

  const note = noteSpeaker(beat, time);
  if (note.kind !== 'rising') hub.counts.add('instances', note.kind);
  // A replay is answered as usual, and changes nothing (design 3, Clones and replays).
  if (note.kind === 'replay') return answer(hub, beat, standingPin(entry), time);
  if (note.kind === 'clone') await recordClone(hub, beat);

  // What was proven and published counts from whichever instance it came: else a thief who beats beside the true host
  // could keep it from proving anything. What describes the host follows one instance, so that it does not flap.
  const pin = publishAgain(beat, time) ?? (await publishWrapKey(hub, entry, publicationOf(beat)));
  // Its key may have been the one that an operator approved, or waited for him: then this was a beat of the former life.
  if (who.life !== entry.life) return answer(hub, beat, pin, time);
  if (entry.publishing === null) entry.withoutKeyAt = time.nowMs;
  if (who.hostToken !== null) await seeHostToken(hub, who);
  const proof = proofOf(beat);
  if (proof !== undefined) {
    await proveMaster(hub, proof);
    hub.nudgeRotation();
  }
  if (holdsTokens(who)) await proveTokens(hub, beat, time);
  noteOld(hub, beat, time);
  if (note.moves) {
    // Before it counts as heard: what it keeps is known by then.
    if (isStrongest(who) && hasReports(hub, beat)) await noteReports(hub, beat, time);
    noteLiveness(hub, beat, time);
  }
  return answer(hub, beat, pin, time);
}

/**
 * The header was verified before the body came in, which takes as long as its sender likes. A host that was ended meanwhile, or
 * whose life or generation was, is a stranger by now (I2).
 */
function assertStillLetIn(hub: Hub, who: AuthenticatedHost): void {
  const { entry, tokens } = who;
  const isOnRoll = hub.roll.get(entry.id) === entry && entry.status === 'active';
  const areTaken = tokens.every((token) => hub.tokens.accepts(token.secret).includes(token.version));
  const isAccepted = verdictOf(hub, who, 'heartbeat') === 'accepted';
  if (!isOnRoll || !areTaken || !isAccepted || !isLive(hub, who)) throw new RollcallError('unauthenticated');
}

function isLive(hub: Hub, { entry, life, version, hostToken }: AuthenticatedHost): boolean {
  if (version === null) return hostToken !== null && entry.hostTokens.some(({ digest }) => digest === hostToken.digest);
  const isPresent = life === entry.life;
  const isFormer = life === entry.life - 1 && entry.formerLifeUntil !== null && hub.clock.now() < entry.formerLifeUntil;
  return (isPresent || isFormer) && hub.generations.isLive(version);
}

function sentFrom({ from, userAgent }: Beat): Omit<SentFrom, 'atMs'> {
  return { address: from, userAgent, route: routes.heartbeat.path };
}

/** Whether this beat speaks for the host: what describes the host follows one instance. */
function noteSpeaker(beat: Beat, time: HubTime): SpeakerNote {
  const {
    who: { entry, version },
    body,
    from,
  } = beat;
  // An instance is known to its agent alone: who has the word already has it by whatever it presents.
  const hasTheWord = entry.instances.current?.instance === body.instance;
  if (!isStrongest(beat.who) && !hasTheWord) return noteLowerSpeaker(beat, time);
  // One beat with the old master must not become the newest instance of a host that has left that master behind.
  if (isBehind(entry, version)) {
    entry.behind = { instance: body.instance, address: from };
    return { kind: 'behind', moves: false };
  }
  const isNowFresh = isFresh(entry.seenMonotonic, entry.intervalMs, time.monotonicMs);
  const note = noteInstance(entry.instances, body.instance, body.seq, isNowFresh);
  entry.instances = note.state;
  // A host whose disk was put back catches up as the instance that was behind. Where another beats on beside it, there are two.
  if (entry.behind?.instance === body.instance) entry.behind = null;
  const isBesideOne = note.kind === 'rising' && entry.behind !== null;
  return isBesideOne ? { kind: 'clone', moves: true } : note;
}

interface SpeakerNote {
  readonly kind: InstanceNote['kind'] | 'behind' | 'lower_rung';
  readonly moves: boolean;
}

/** Of a program beside the agent, or of whoever found its token: it speaks for the host while its agent is not heard, and no longer. */
function noteLowerSpeaker({ who: { entry }, body }: Beat, { nowMs, monotonicMs }: HubTime): SpeakerNote {
  const isAlone = !isFresh(entry.highestSeenMonotonic, entry.intervalMs, monotonicMs);
  const isNowFresh = isFresh(entry.seenMonotonic, entry.intervalMs, monotonicMs);
  const note = noteInstance(entry.lowerInstances, body.instance, body.seq, isNowFresh);
  entry.lowerInstances = note.state;
  if (isAlone || note.kind === 'replay') return note;
  entry.lowerRungSeenAt = nowMs;
  return { kind: 'lower_rung', moves: false };
}

/** Authenticated with an older generation than the one that the host has proven. */
function isBehind({ provenVersion }: RollEntry, version: number | null): boolean {
  return provenVersion !== null && version !== null && version < provenVersion;
}

/** Most beats carry no token and no report: they wait for neither. */
function holdsTokens({ entry, tokens }: AuthenticatedHost): boolean {
  return tokens.length > 0 || entry.tokens.length > 0;
}

/** Something is said, or something that was said is not so any more. */
function hasReports({ tokenReports }: Hub, { who, body }: Beat): boolean {
  return saysMore(body) || !tokenReports.isSilent(who.entry.id);
}

/** What a host reports of itself counts from its strongest proven rung (design 5): whoever found its token reports nothing. */
function isStrongest({ rung, entry }: AuthenticatedHost): boolean {
  return rung === 'derived' || entry.provenVersion === null;
}

function publicationOf({ who: { entry, rung }, body, from }: Beat): Publication {
  return { host: entry.id, rung, body, from };
}

/** What was published before is answered as before, from memory; `undefined` when this is something new. */
function publishAgain({ who, body, from }: Beat, time: HubTime): PinAnswer | undefined {
  const { entry } = who;
  if (entry.pinState === 'pinned' && body.wrapKey?.suite === 'x25519' && body.wrapKey.public === entry.pinPublicText) {
    entry.pinSeenAt = time.nowMs;
    entry.pinSeenMonotonic = time.monotonicMs;
    entry.pinSeenFrom = from;
    entry.publishing = entry.pinFingerprint;
    entry.unusableKey = false;
    return standingPin(entry);
  }
  if (entry.publication?.text !== publicationText(body)) return undefined;
  if (entry.publishing !== null && entry.pendingBeats.has(entry.publishing)) {
    noteBeatOfPending(entry, entry.publishing, time.nowMs, from);
  }
  return entry.publication.answer;
}

/** An ack is a proof (I5): what the host says it holds counts under the bearer that it is to present, and not before. */
function proofOf({ who, body }: Beat): MasterProof | undefined {
  const { entry, version } = who;
  // A token of the host says nothing of a generation.
  if (version === null) return undefined;
  const held = body.held[MASTER];
  const holdsWanted = held?.epoch === entry.wantedEpoch && held.step === entry.wantedStep;
  const provesStep = holdsWanted && entry.ackedStep < entry.wantedStep && version === entry.wantedPresent;
  const provesVersion = entry.provenVersion === null || version > entry.provenVersion;
  if (!provesStep && !provesVersion) return undefined;
  return { host: entry.id, life: who.life, version, step: provesStep ? entry.wantedStep : null };
}

/** That a generation is presented which is about to go, or which the host has left behind. */
function noteOld(hub: Hub, { who: { entry, version }, from }: Beat, time: HubTime): void {
  if (version === null) return;
  const current = hub.generations.current?.version;
  if (current !== undefined && version < current) {
    hub.oldHits.note(version, { host: entry.id, address: from, atMs: time.nowMs });
  }
  if (isBehind(entry, version)) entry.presentedOld = { version, monotonicMs: time.monotonicMs };
}

function noteLiveness(hub: Hub, { who, body, from }: Beat, time: HubTime): void {
  const { entry } = who;
  entry.lastSeenAt = time.nowMs;
  entry.seenMonotonic = time.monotonicMs;
  if (isStrongest(who)) entry.highestSeenMonotonic = time.monotonicMs;
  entry.intervalMs = hub.settings.beatMs;
  entry.address = from;
  // What says the same again is not taken in its place: each beat would leave garbage that has grown old.
  if (entry.agentVersion !== body.agent.version) entry.agentVersion = body.agent.version;
  if (entry.startup !== body.startup) entry.startup = body.startup;
  entry.rung = who.rung;
  // What was attributed stays so beside a program of the host that presents a token of it.
  if (who.version !== null) entry.version = who.version;
  // A time can have the form of one and be none, as the 99th of a month. It is a claim, and no reason to refuse the beat; but
  // what is no number cannot be stored, and the liveness of all hosts is stored together.
  const skewMs = Math.round(Date.parse(body.sentAt) - time.nowMs);
  entry.skewMs = Number.isSafeInteger(skewMs) ? skewMs : null;
  hub.counts.skewSeconds.observe(Math.abs(skewMs) / 1_000);
  for (const { reason } of body.refused) hub.counts.add('delivery_refusals', closedWord(reason));
  // A report too: no token of the host may pause what its agent takes part in.
  if (isStrongest(who) && (entry.refused.length > 0 || body.refused.length > 0)) entry.refused = body.refused;
  entry.dirty = true;
}

/** What a host says becomes a label only where it is a code of ours: a bearer must not fill the metrics with words. */
function closedWord(reason: string): string {
  return Object.hasOwn(errorTable, reason) ? reason : 'other';
}

function standingPin(entry: RollEntry): PinAnswer {
  if (entry.pinState === 'unreadable') throw new RollcallError('unavailable', { because: 'pin_unreadable' });
  return entry.pinState === 'pinned' ? { state: 'pinned', fingerprint: entry.pinFingerprint } : { state: 'none' };
}

/** Closed words and hex digits: there is nothing to escape. */
function encodePin({ state, fingerprint }: PinAnswer): string {
  return fingerprint === undefined ? `{"state":"${state}"}` : `{"state":"${state}","fingerprint":"${fingerprint}"}`;
}

/** Put together as text: the statements are the same for every host, signed and written once a minute. */
function answer(hub: Hub, { who: { entry }, body }: Beat, pin: PinAnswer, time: HubTime): string {
  const beatMs = nextBeatMs(hub.settings.beatMs, hub.random);
  const due = dueDeliveries(hub, entry, body.held[MASTER]);
  const tokens = dueTokenDeliveries(hub, entry, body.held);
  const deliveries = due.length + tokens.length === 0 ? '[]' : JSON.stringify([...due, ...tokens]);
  const now = new Date(time.nowMs).toISOString();
  return `{"time":"${now}","nextBeatMs":${beatMs},"pin":${encodePin(pin)},"deliveries":${deliveries},"statements":${hub.statements()}}`;
}
