/** What a published wrap key does, read, decided and written in one transaction (design 3, "What a publication does"). */
import { RollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import { decidePublication, type PinAnswer, type PublicationDecision, type PublishedKey } from '@rollcall/core/pins';
import { parseWrapPublicKey, type WrapPublicKey } from '@rollcall/core/seal';
import type { HeartbeatBody } from '@rollcall/wire';
import type { AuthenticatedHost } from '../authenticate.ts';
import type { Hub } from '../hub.ts';
import type { RollEntry } from '../roll.ts';
import { appendAudit } from '../store/audit.ts';
import { type HostRecord, readHost } from '../store/hosts.ts';
import { findObserved, insertObserved, insertPending } from '../store/pins.ts';
import type { Tx } from '../store/schema.ts';
import { readHeldPins } from './held-pins.ts';
import { takePin } from './take-pin.ts';

/** A publication by a host that was authenticated with a bearer of its present life, or with a token of its own. */
export interface Publication {
  readonly host: string;
  readonly rung: AuthenticatedHost['rung'];
  readonly body: HeartbeatBody;
  readonly from: string;
}

/** Decides and acts. The entry of the roll is read anew when trust changed. */
export async function publishWrapKey(hub: Hub, entry: RollEntry, publication: Publication): Promise<PinAnswer> {
  const key = parsePublished(publication.body.wrapKey);
  const { decision, changed } = await hub.db.transaction().execute((tx) => decide(hub, tx, publication, key));
  if (changed) await hub.roll.reload(publication.host);
  noteSeen(hub, { entry, decision, key, body: publication.body, from: publication.from });
  switch (decision.kind) {
    case 'refused':
      throw new RollcallError('unauthenticated');
    case 'unavailable':
      throw new RollcallError('unavailable', { because: decision.because });
    default:
      return decision.answer;
  }
}

async function decide(
  hub: Hub,
  tx: Tx,
  { host: id, rung, body, from }: Publication,
  key: WrapPublicKey | 'malformed' | undefined,
): Promise<{ decision: PublicationDecision; changed: boolean }> {
  const now = hub.clock.now();
  const host = await readHost(tx, hub.vault, id);
  const held = await readHeldPins(tx, hub.vault, host);
  const decision = decidePublication(
    held,
    { key: toPublished(key), with: rung },
    { firstUseUntilMs: host.first_use_until, nowMs: now, trustFrozen: false },
  );
  if (typeof key !== 'object') return { decision, changed: false };
  switch (decision.kind) {
    case 'taken': {
      const after = await takePin(hub, tx, host, decision.pin, key);
      await recordTaken(tx, {
        now,
        host: after,
        rung,
        anchor: decision.pin.anchor,
        fingerprint: key.fingerprint,
        from,
      });
      return { decision, changed: true };
    }
    case 'pending':
      if (decision.isNew)
        await recordPending(hub, tx, { now, host: id, rung, key, challenges: decision.challenges, body, from });
      return { decision, changed: decision.isNew };
    case 'observed':
      await observe(hub, tx, { now, host: id, key, from });
      return { decision, changed: false };
    default:
      return { decision, changed: false };
  }
}

async function recordTaken(
  tx: Tx,
  taken: { now: number; host: HostRecord; rung: string; anchor: string; fingerprint: string; from: string },
): Promise<void> {
  await appendAudit(tx, {
    at: taken.now,
    actor: { id: taken.host.id, kind: 'host', rung: taken.rung, verified: true },
    action: 'pin.taken',
    target: taken.host.id,
    outcome: 'done',
    details: { anchor: taken.anchor, fingerprint: taken.fingerprint, life: taken.host.life, from: taken.from },
  });
}

async function recordPending(
  hub: Hub,
  tx: Tx,
  pending: Publication & { readonly now: number; readonly key: WrapPublicKey; readonly challenges: string },
): Promise<void> {
  const { now, host, rung, key, challenges, body, from } = pending;
  const entry = hub.roll.get(host);
  await insertPending(tx, hub.vault, {
    host,
    fingerprint: key.fingerprint,
    public: key.bytes,
    pinned: challenges,
    first_seen_at: now,
    address: from,
    instance: body.instance,
    startup: body.startup,
    pinned_address: entry?.pinSeenFrom ?? null,
    pinned_last_seen_at: entry?.pinSeenAt ?? null,
  });
  await appendAudit(tx, {
    at: now,
    actor: { id: host, kind: 'host', rung, verified: true },
    action: 'pin.challenged',
    target: host,
    outcome: 'refused',
    details: { pinned: challenges, published: key.fingerprint, from },
  });
  hub.log.warn('a host published a key that is not its pin', {
    host,
    pinned: challenges,
    published: key.fingerprint,
    from,
  });
}

/** At most a few keys are remembered; a host that showed two is exposed already. */
async function observe(
  hub: Hub,
  tx: Tx,
  seen: { now: number; host: string; key: WrapPublicKey; from: string },
): Promise<void> {
  const known = await findObserved(tx, hub.vault, seen.host);
  if (known.some((row) => row.fingerprint === seen.key.fingerprint)) return;
  if (known.length >= limits.observedKeysPerHost) return;
  await insertObserved(tx, hub.vault, {
    host: seen.host,
    fingerprint: seen.key.fingerprint,
    public: seen.key.bytes,
    first_seen_at: seen.now,
    address: seen.from,
  });
}

/** What a later beat, or an operator who looks at a pending change, needs to know of this one. */
function noteSeen(hub: Hub, seen: Seen): void {
  const { entry, decision, key } = seen;
  entry.publishing = typeof key === 'object' ? key.fingerprint : null;
  entry.unusableKey = key === 'malformed';
  if ('counted' in decision && decision.counted !== null) hub.counts.add('publications', decision.counted);
  if (decision.kind === 'pending') noteBeatOfPending(entry, decision.fingerprint, hub.clock.now(), seen.from);
  // The beat that brought the pin is one of the pinned key: without it, a host that was never heard again has no last time.
  if (decision.kind === 'taken') {
    entry.pinSeenAt = hub.clock.now();
    entry.pinSeenMonotonic = hub.clock.monotonic();
    entry.pinSeenFrom = seen.from;
  }
  if ('answer' in decision) entry.publication = { text: publicationText(seen.body), answer: decision.answer };
}

interface Seen {
  readonly entry: RollEntry;
  readonly decision: PublicationDecision;
  readonly key: WrapPublicKey | 'malformed' | undefined;
  readonly body: HeartbeatBody;
  readonly from: string;
}

/** A publication as one text, to be compared with the last one. */
export function publicationText({ wrapKey }: HeartbeatBody): string {
  return wrapKey === undefined ? '' : `${wrapKey.suite} ${wrapKey.public}`;
}

export function noteBeatOfPending(entry: RollEntry, fingerprint: string, now: number, from: string): void {
  const seen = entry.pendingBeats.get(fingerprint) ?? { beats: 0, lastSeenAt: 0, address: from };
  seen.beats += 1;
  seen.lastSeenAt = now;
  seen.address = from;
  entry.pendingBeats.set(fingerprint, seen);
}

function parsePublished(published: HeartbeatBody['wrapKey']): WrapPublicKey | 'malformed' | undefined {
  if (published === undefined) return undefined;
  try {
    return parseWrapPublicKey(published as { suite: 'x25519'; public: string });
  } catch {
    return 'malformed';
  }
}

function toPublished(key: WrapPublicKey | 'malformed' | undefined): PublishedKey {
  if (key === undefined) return { state: 'none' };
  return key === 'malformed' ? { state: 'malformed' } : { state: 'valid', fingerprint: key.fingerprint };
}
