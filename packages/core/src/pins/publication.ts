/** What publishing a wrap key does: the table of design 3 as one table. Pure; whoever calls it does what it says. */

import assert from 'node:assert/strict';
import { limits } from '../limits.ts';
import { isEnoughFor } from '../rungs/acts.ts';
import { type Fingerprint, type HeldPins, livePendings, type NewPin } from './pin.ts';
import type { PinAlert, PinAnswer, PublicationDecision } from './publication-decision.ts';

export type PublishedKey =
  | { readonly state: 'none' }
  | { readonly state: 'malformed' }
  | { readonly state: 'valid'; readonly fingerprint: Fingerprint };

/** The strongest thing that came with the key and was *verified*. `continuity`: an answer to a challenge sealed to the pin. */
export type PublishedWith = 'fleet-token' | 'host-token' | 'derived' | 'mtls' | 'enrolment' | 'continuity';

export interface Publication {
  readonly key: PublishedKey;
  readonly with: PublishedWith;
}

export interface PublicationPolicy {
  /** End of the first-use window on the hub's clock; `null` is closed (I7). */
  readonly firstUseUntilMs: number | null;
  /** Hub time. */
  readonly nowMs: number;
  /** A hub that was rolled back changes no trust (design 3, epoch). */
  readonly trustFrozen: boolean;
}

/** Decides what a publication does. The first row that fits decides. */
export function decidePublication(
  held: HeldPins,
  publication: Publication,
  policy: PublicationPolicy,
): PublicationDecision {
  const facts = [
    isLetIn(held, publication.with) ? 'in' : 'out',
    held.pin.state,
    relationOf(held, publication.key, policy),
    proofOf(publication.with),
  ] as const;
  const row = rows.find(([host, holds, published, proof]) => {
    const wanted = [host, holds, published, proof];
    return wanted.every((want, column) => want === '*' || want === facts[column]);
  });
  assert(row !== undefined, `no row for ${facts.join(', ')}`);
  const decision = row[4](held, keyOf(publication));
  return policy.trustFrozen ? withoutTaking(held, decision, publication.with) : decision;
}

type Host = 'in' | 'out';
type Relation = 'nothing' | 'malformed' | 'pin' | 'approved' | 'previous' | 'first-use' | 'other';
type Proof = 'membership' | 'bearer' | 'enrolment' | 'continuity';
type Then = (held: HeldPins, published: Fingerprint) => PublicationDecision;
type Row = readonly [host: Host | '*', holds: HeldPins['pin']['state'] | '*', Relation | '*', Proof | '*', then: Then];

// biome-ignore format: a table
const rows: readonly Row[] = [
  // host  hub holds     published    with          then
  ['out', '*',          '*',         '*',          refuse],
  ['in',  'unreadable', '*',         '*',          answerUnavailable],
  ['in',  '*',          '*',         'membership', ignoreMembership],
  ['in',  '*',          'nothing',   'enrolment',  refuseKey],
  ['in',  '*',          'malformed', 'enrolment',  refuseKey],
  ['in',  '*',          '*',         'enrolment',  takeEnrolled],
  ['in',  'none',       'nothing',   '*',          countTooOld],
  ['in',  'pinned',     'nothing',   '*',          keep],
  ['in',  '*',          'malformed', '*',          countUnusable],
  ['in',  '*',          'approved',  '*',          takeApproved],
  ['in',  'none',       'first-use', 'bearer',     takeFirstUse],
  ['in',  'none',       '*',         '*',          observe],
  ['in',  'pinned',     'pin',       '*',          notePin],
  ['in',  'pinned',     'previous',  '*',          notePrevious],
  ['in',  'pinned',     'other',     'continuity', takeContinued],
  ['in',  'pinned',     'other',     '*',          pend],
];

/** Invited and evicted hosts are let in by an enrolment proof only: whoever holds the master cannot be them. */
function isLetIn(held: HeldPins, proof: PublishedWith): boolean {
  switch (held.status) {
    case 'active':
      return true;
    case 'invited':
    case 'evicted':
      return proof === 'enrolment' && !held.banned;
    case 'suspended':
      return false;
  }
}

function proofOf(proof: PublishedWith): Proof {
  if (proof === 'enrolment' || proof === 'continuity') return proof;
  return proof === 'mtls' || isEnoughFor('publish-key', proof) ? 'bearer' : 'membership';
}

/** What the published key is to the host's record. */
function relationOf(held: HeldPins, key: PublishedKey, policy: PublicationPolicy): Relation {
  if (key.state === 'none') return 'nothing';
  if (key.state === 'malformed') return 'malformed';
  if (held.pin.state === 'pinned' && key.fingerprint === held.pin.fingerprint) return 'pin';
  if (key.fingerprint === held.approved) return 'approved';
  if (held.pin.state === 'pinned' && key.fingerprint === held.pin.previous) return 'previous';
  if (held.pin.state === 'none' && key.fingerprint === held.firstUse && isFirstUseOpen(policy)) return 'first-use';
  return 'other';
}

function isFirstUseOpen({ firstUseUntilMs, nowMs }: PublicationPolicy): boolean {
  return firstUseUntilMs !== null && nowMs < firstUseUntilMs;
}

/** Rows that speak of no key never look at it. */
function keyOf({ key }: Publication): Fingerprint {
  return key.state === 'valid' ? key.fingerprint : '';
}

function refuse(): PublicationDecision {
  return { kind: 'refused', code: 'unauthenticated' };
}

function refuseKey(): PublicationDecision {
  return { kind: 'refused', code: 'malformed_key' };
}

function answerUnavailable(): PublicationDecision {
  return { kind: 'unavailable', because: 'pin_unreadable' };
}

/** Membership names nobody, so it neither moves a pin nor learns one. */
function ignoreMembership(_held: HeldPins, published: Fingerprint): PublicationDecision {
  return { kind: 'kept', counted: 'fleet_token', answer: { state: published === '' ? 'none' : 'not_accepted' } };
}

/** The life of an invited host was given by `host add`: enrolling completes that beginning. */
function takeEnrolled(held: HeldPins, published: Fingerprint): PublicationDecision {
  const pin: NewPin = {
    fingerprint: published,
    anchor: 'enrolment',
    previous: null,
    raisesLife: held.status !== 'invited',
  };
  return take(pin, replacementAlert(held, published));
}

/** An operator read this fingerprint on the host. */
function takeApproved(held: HeldPins, published: Fingerprint): PublicationDecision {
  const raisesLife = held.pin.state === 'pinned';
  return take({ fingerprint: published, anchor: 'operator', previous: null, raisesLife }, null);
}

function takeFirstUse(_held: HeldPins, published: Fingerprint): PublicationDecision {
  return take({ fingerprint: published, anchor: 'first-use', previous: null, raisesLife: false }, null);
}

/** While an operator's approval of another key stands, a proof by the pin it is to replace moves nothing. */
function takeContinued(held: HeldPins, published: Fingerprint): PublicationDecision {
  assert(held.pin.state === 'pinned');
  if (held.approved !== null) return pend(held, published);
  const { anchor, fingerprint: previous } = held.pin;
  return take({ fingerprint: published, anchor, previous, raisesLife: false }, null);
}

function take(pin: NewPin, alert: PinAlert | null): PublicationDecision {
  return { kind: 'taken', pin, alert, answer: { state: 'pinned', fingerprint: pin.fingerprint } };
}

function replacementAlert(held: HeldPins, published: Fingerprint): PinAlert | null {
  if (held.pin.state !== 'pinned' || held.pin.fingerprint === published) return null;
  return { code: 'pin_replaced', expected: held.pin.fingerprint, published };
}

function countTooOld(): PublicationDecision {
  return { kind: 'kept', counted: 'agent_too_old', answer: { state: 'none' } };
}

function keep(held: HeldPins): PublicationDecision {
  return { kind: 'kept', counted: null, answer: standing(held, 'pinned') };
}

function countUnusable(held: HeldPins): PublicationDecision {
  return { kind: 'kept', counted: 'unusable_key', answer: standing(held, 'unusable') };
}

/** A key other than the accepted one is what a race for first use looks like. */
function observe(held: HeldPins, published: Fingerprint): PublicationDecision {
  const other = held.firstUse !== null && held.firstUse !== published;
  return {
    kind: 'observed',
    fingerprint: published,
    alert: other ? { code: 'first_use_other_key', expected: held.firstUse, published } : null,
    counted: 'not_accepted',
    answer: { state: 'not_accepted' },
  };
}

function notePin(held: HeldPins, published: Fingerprint): PublicationDecision {
  return { kind: 'seen', fingerprint: published, as: 'pin', answer: standing(held, 'pinned') };
}

/** The key of the overlap: no challenge to the pin, but never sealed to again. */
function notePrevious(held: HeldPins, published: Fingerprint): PublicationDecision {
  return { kind: 'seen', fingerprint: published, as: 'previous', answer: standing(held, 'pinned') };
}

/** Another key than the pin. Ten thousand of them cost four rows and four alerts. */
function pend(held: HeldPins, published: Fingerprint): PublicationDecision {
  assert(held.pin.state === 'pinned');
  const challenges = held.pin.fingerprint;
  const answer = standing(held, 'pending');
  const pendings = livePendings(held);
  const isNew = !pendings.some((pending) => pending.fingerprint === published);
  if (isNew && pendings.length >= limits.pendingPinsPerHost) {
    return { kind: 'kept', counted: 'pending_overflow', answer };
  }
  const alert: PinAlert | null = isNew ? { code: 'pin_challenged', expected: challenges, published } : null;
  return { kind: 'pending', fingerprint: published, challenges, isNew, alert, answer };
}

function standing(held: HeldPins, state: PinAnswer['state']): PinAnswer {
  return held.pin.state === 'pinned' ? { state, fingerprint: held.pin.fingerprint } : { state };
}

/** A frozen hub goes on answering heartbeats; an enrolment must not spend its token. */
function withoutTaking(held: HeldPins, decision: PublicationDecision, proof: PublishedWith): PublicationDecision {
  if (decision.kind !== 'taken') return decision;
  if (proof === 'enrolment') return { kind: 'unavailable', because: 'trust_frozen' };
  return {
    kind: 'kept',
    counted: 'trust_frozen',
    answer: standing(held, held.pin.state === 'pinned' ? 'pending' : 'not_accepted'),
  };
}
