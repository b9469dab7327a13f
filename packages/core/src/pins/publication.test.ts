import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../limits.ts';
import { A, B, C, pinned, unpinned, unreadable } from './held.fixture.ts';
import { decideApproval } from './operator-word.ts';
import type { Fingerprint, HeldPins, PendingPin } from './pin.ts';
import { decidePublication, type PublicationPolicy, type PublishedKey, type PublishedWith } from './publication.ts';
import type { PublicationDecision } from './publication-decision.ts';

const now = 1_000_000;
const closed: PublicationPolicy = { firstUseUntilMs: null, nowMs: now, trustFrozen: false };
const firstUseOpen: PublicationPolicy = { ...closed, firstUseUntilMs: now + 1 };
const frozen: PublicationPolicy = { ...firstUseOpen, trustFrozen: true };

const bearers: readonly PublishedWith[] = ['host-token', 'derived', 'mtls'];
const every: readonly PublishedWith[] = ['fleet-token', ...bearers, 'enrolment', 'continuity'];
const nothing: PublishedKey = { state: 'none' };
const malformed: PublishedKey = { state: 'malformed' };

function valid(fingerprint: Fingerprint): PublishedKey {
  return { state: 'valid', fingerprint };
}

/** What a case looks at: the kind, and of a taken pin its parts. */
function summary(decision: PublicationDecision): string {
  switch (decision.kind) {
    case 'taken': {
      const { fingerprint, anchor, previous, raisesLife } = decision.pin;
      const parts = ['taken', fingerprint[0], anchor, `previous ${previous?.[0] ?? '-'}`];
      if (raisesLife) parts.push('life rises');
      if (decision.alert !== null) parts.push(decision.alert.code);
      return [...parts, decision.answer.state].join(', ');
    }
    case 'seen':
      return `seen ${decision.as}, ${decision.answer.state}`;
    case 'pending':
      return `pending ${decision.fingerprint[0]}${decision.isNew ? ', new' : ''}, ${decision.alert?.code ?? 'quiet'}, ${decision.answer.state}`;
    case 'observed':
      return `observed, ${decision.alert?.code ?? 'quiet'}, ${decision.answer.state}`;
    case 'kept':
      return `kept, ${decision.counted ?? 'uncounted'}, ${decision.answer.state}`;
    case 'refused':
      return `refused, ${decision.code}`;
    case 'unavailable':
      return `unavailable, ${decision.because}`;
  }
}

type Case = readonly [
  what: string,
  held: HeldPins,
  key: PublishedKey,
  withs: readonly PublishedWith[],
  policy: PublicationPolicy,
  then: string,
];

const invited: HeldPins = { ...unpinned, status: 'invited' };
const evicted: HeldPins = { ...pinned(A), status: 'evicted' };
const pendingB: PendingPin = { fingerprint: B, challenges: A };
const junk: readonly PendingPin[] = ['1', '2', '3', '4'].map((digit) => ({
  fingerprint: digit.repeat(64),
  challenges: A,
}));
const acceptedA: HeldPins = { ...unpinned, firstUse: A };
const approvedB: HeldPins = { ...pinned(A), approved: B };

// biome-ignore format: a table
const cases: readonly Case[] = [
  // No pin
  ['a first key with an enrolment proof is pinned', invited, valid(A), ['enrolment'], closed, 'taken, a, enrolment, previous -, pinned'],
  ['an active host enrols: a new beginning', unpinned, valid(A), ['enrolment'], closed, 'taken, a, enrolment, previous -, life rises, pinned'],
  ['first use, accepted', acceptedA, valid(A), bearers, firstUseOpen, 'taken, a, first-use, previous -, pinned'],
  ['first use, accepted for another key', acceptedA, valid(B), bearers, firstUseOpen, 'observed, first_use_other_key, not_accepted'],
  ['first use, accepted, but the window has closed', acceptedA, valid(A), bearers, { ...firstUseOpen, nowMs: now + 1 }, 'observed, quiet, not_accepted'],
  ['first use, accepted, but there is no window', acceptedA, valid(A), bearers, closed, 'observed, quiet, not_accepted'],
  ['first use, open, but not for this host', unpinned, valid(A), bearers, firstUseOpen, 'observed, quiet, not_accepted'],
  ['first use, open, but continuity proves nothing without a pin', acceptedA, valid(A), ['continuity'], firstUseOpen, 'observed, quiet, not_accepted'],
  ['an agent that publishes no key', unpinned, nothing, [...bearers, 'continuity'], closed, 'kept, agent_too_old, none'],
  ['an operator approved the key of a host without a pin', { ...unpinned, approved: B }, valid(B), bearers, closed, 'taken, b, operator, previous -, pinned'],
  ['and another key than that is only observed', { ...unpinned, approved: B }, valid(A), bearers, closed, 'observed, quiet, not_accepted'],

  // Membership names nobody
  ['membership pins nothing', acceptedA, valid(A), ['fleet-token'], firstUseOpen, 'kept, fleet_token, not_accepted'],
  ['membership challenges nothing', pinned(A), valid(B), ['fleet-token'], closed, 'kept, fleet_token, not_accepted'],
  ['membership does not see the pin', pinned(A), valid(A), ['fleet-token'], closed, 'kept, fleet_token, not_accepted'],
  ['membership takes no approved key', approvedB, valid(B), ['fleet-token'], closed, 'kept, fleet_token, not_accepted'],
  ['membership without a key', pinned(A), nothing, ['fleet-token'], closed, 'kept, fleet_token, none'],
  ['membership with a malformed key marks nobody', pinned(A), malformed, ['fleet-token'], closed, 'kept, fleet_token, none'],

  // Pin A
  ['the pin itself is seen', pinned(A), valid(A), [...bearers, 'continuity'], closed, 'seen pin, pinned'],
  ['the pin itself enrols again', pinned(A), valid(A), ['enrolment'], closed, 'taken, a, enrolment, previous -, life rises, pinned'],
  ['another key on a bearer is pending', pinned(A), valid(B), bearers, closed, 'pending b, new, pin_challenged, pending'],
  ['and the second time it is quiet', { ...pinned(A), pendings: [pendingB] }, valid(B), bearers, closed, 'pending b, quiet, pending'],
  ['also against a first-use pin', pinned(A, 'first-use'), valid(B), bearers, firstUseOpen, 'pending b, new, pin_challenged, pending'],
  ['also when first use had accepted it', { ...pinned(A), firstUse: B }, valid(B), bearers, firstUseOpen, 'pending b, new, pin_challenged, pending'],
  ['another key with continuity', pinned(A), valid(B), ['continuity'], closed, 'taken, b, enrolment, previous a, pinned'],
  ['continuity inherits the weaker anchor', pinned(A, 'first-use'), valid(B), ['continuity'], closed, 'taken, b, first-use, previous a, pinned'],
  ['continuity in an overlap keeps two keys', pinned(B, 'operator', A), valid(C), ['continuity'], closed, 'taken, c, operator, previous b, pinned'],
  ['another key enrols', pinned(A), valid(B), ['enrolment'], closed, 'taken, b, enrolment, previous -, life rises, pin_replaced, pinned'],
  ['a host that stops publishing keeps its pin', pinned(A), nothing, [...bearers, 'continuity'], closed, 'kept, uncounted, pinned'],
  ['previous key in the overlap', pinned(B, 'enrolment', A), valid(A), [...bearers, 'continuity'], closed, 'seen previous, pinned'],
  ['previous key enrols', pinned(B, 'enrolment', A), valid(A), ['enrolment'], closed, 'taken, a, enrolment, previous -, life rises, pin_replaced, pinned'],

  // Pendings
  ['a fifth key is counted', { ...pinned(A), pendings: junk }, valid(B), bearers, closed, 'kept, pending_overflow, pending'],
  ['one of the four is still noted', { ...pinned(A), pendings: junk }, valid('1'.repeat(64)), bearers, closed, 'pending 1, quiet, pending'],
  ['pendings against a former pin take no room', { ...pinned(C), pendings: junk }, valid(B), bearers, closed, 'pending b, new, pin_challenged, pending'],

  // An operator's word
  ['an approved key is taken when published', approvedB, valid(B), [...bearers, 'continuity'], closed, 'taken, b, operator, previous -, life rises, pinned'],
  ['also with all places taken by junk', { ...approvedB, pendings: junk }, valid(B), bearers, closed, 'taken, b, operator, previous -, life rises, pinned'],
  ['also the previous one', { ...pinned(B, 'operator', A), approved: A }, valid(A), bearers, closed, 'taken, a, operator, previous -, life rises, pinned'],
  ['another key than the approved one', approvedB, valid(C), bearers, closed, 'pending c, new, pin_challenged, pending'],
  ['while approved, the old key proves nothing more', approvedB, valid(C), ['continuity'], closed, 'pending c, new, pin_challenged, pending'],
  ['while approved, the pin stands', approvedB, valid(A), bearers, closed, 'seen pin, pinned'],

  // Malformed
  ['malformed beside a pin', pinned(A), malformed, [...bearers, 'continuity'], closed, 'kept, unusable_key, unusable'],
  ['malformed without a pin', acceptedA, malformed, bearers, firstUseOpen, 'kept, unusable_key, unusable'],
  ['malformed in an enrolment spends no token', invited, malformed, ['enrolment'], closed, 'refused, malformed_key'],
  ['no key in an enrolment spends no token', invited, nothing, ['enrolment'], closed, 'refused, malformed_key'],

  // Unreadable is not absent
  ['unreadable', { ...unreadable, firstUse: A, approved: A }, valid(A), every, firstUseOpen, 'unavailable, pin_unreadable'],
  ['unreadable, and no key', unreadable, nothing, every, closed, 'unavailable, pin_unreadable'],
  ['unreadable, and malformed', unreadable, malformed, every, closed, 'unavailable, pin_unreadable'],

  // Who is let in
  ['invited: whoever holds the master is refused', { ...invited, firstUse: A, approved: A }, valid(A), ['fleet-token', ...bearers, 'continuity'], firstUseOpen, 'refused, unauthenticated'],
  ['suspended: refused, whatever it proves', { ...pinned(A), status: 'suspended' }, valid(A), every, closed, 'refused, unauthenticated'],
  ['evicted: refused on any bearer', evicted, valid(A), ['fleet-token', ...bearers, 'continuity'], closed, 'refused, unauthenticated'],
  ['evicted: may enrol', evicted, valid(B), ['enrolment'], closed, 'taken, b, enrolment, previous -, life rises, pin_replaced, pinned'],
  ['banned: may not', { ...evicted, banned: true }, valid(B), every, closed, 'refused, unauthenticated'],

  // A hub that was rolled back
  ['frozen: no enrolment, and the token stays good', invited, valid(A), ['enrolment'], frozen, 'unavailable, trust_frozen'],
  ['frozen: no first use', acceptedA, valid(A), bearers, frozen, 'kept, trust_frozen, not_accepted'],
  ['frozen: no continuity', pinned(A), valid(B), ['continuity'], frozen, 'kept, trust_frozen, pending'],
  ['frozen: no approval takes effect', approvedB, valid(B), bearers, frozen, 'kept, trust_frozen, pending'],
  ['frozen: heartbeats go on', pinned(A), valid(A), bearers, frozen, 'seen pin, pinned'],
];

type Decide = typeof decidePublication;

function failures(decide: Decide): readonly string[] {
  return cases.flatMap(([what, held, key, withs, policy, then]) =>
    withs
      .filter((proof) => summary(decide(held, { key, with: proof }, policy)) !== then)
      .map((proof) => `${what} (${proof})`),
  );
}

describe('what a publication does', () => {
  for (const [what, held, key, withs, policy, then] of cases) {
    it.each(withs)(`${what} (%s)`, (proof) => {
      expect(summary(decidePublication(held, { key, with: proof }, policy))).toBe(then);
    });
  }

  it('covers every kind of decision', () => {
    const kinds = cases.map(([, held, key, [proof], policy]) => {
      return decidePublication(held, { key, with: proof ?? 'derived' }, policy).kind;
    });
    expect(new Set(kinds)).toEqual(new Set(['taken', 'seen', 'pending', 'observed', 'kept', 'refused', 'unavailable']));
  });

  it('alerts with both fingerprints, and answers with the pin that stands', () => {
    const decision = decidePublication(pinned(A), { key: valid(B), with: 'derived' }, closed);
    expect(decision).toMatchObject({
      challenges: A,
      alert: { expected: A, published: B },
      answer: { state: 'pending', fingerprint: A },
    });
  });

  it('counts a key that is only observed, and names no pin where there is none', () => {
    expect(decidePublication(acceptedA, { key: valid(B), with: 'derived' }, firstUseOpen)).toStrictEqual({
      kind: 'observed',
      fingerprint: B,
      alert: { code: 'first_use_other_key', expected: A, published: B },
      counted: 'not_accepted',
      answer: { state: 'not_accepted' },
    });
    const unusable = { kind: 'kept', counted: 'unusable_key' };
    const answerTo = (held: HeldPins) => decidePublication(held, { key: malformed, with: 'derived' }, closed);
    expect(answerTo(unpinned)).toStrictEqual({ ...unusable, answer: { state: 'unusable' } });
    expect(answerTo(pinned(A))).toStrictEqual({ ...unusable, answer: { state: 'unusable', fingerprint: A } });
  });
});

describe('plausible wrong versions', () => {
  const wrong: Readonly<Record<string, Decide>> = {
    'the latest key wins': (held, publication, policy) => {
      const decision = decidePublication(held, publication, policy);
      if (decision.kind !== 'pending') return decision;
      return decidePublication({ ...held, approved: decision.fingerprint }, publication, policy);
    },
    'unreadable reads as none': (held, publication, policy) =>
      decidePublication(
        held.pin.state === 'unreadable' ? { ...held, pin: { state: 'none' } } : held,
        publication,
        policy,
      ),
    'first use accepts whoever comes first': (held, publication, policy) =>
      decidePublication(
        publication.key.state === 'valid' ? { ...held, firstUse: publication.key.fingerprint } : held,
        publication,
        policy,
      ),
    'pendings are not bound to the pin they challenge': (held, publication, policy) => {
      const { pin } = held;
      if (pin.state !== 'pinned') return decidePublication(held, publication, policy);
      const pendings = held.pendings.map((pending) => ({ ...pending, challenges: pin.fingerprint }));
      return decidePublication({ ...held, pendings }, publication, policy);
    },
    'a missing time is an open window': (held, publication, policy) =>
      decidePublication(held, publication, { ...policy, firstUseUntilMs: policy.firstUseUntilMs ?? Number.MAX_VALUE }),
    'whoever is on the roll is let in': (held, publication, policy) =>
      decidePublication({ ...held, status: 'active' }, publication, policy),
    'membership is a bearer': (held, publication, policy) =>
      decidePublication(
        held,
        publication.with === 'fleet-token' ? { ...publication, with: 'derived' } : publication,
        policy,
      ),
    'an approval waits for a free place': (held, publication, policy) =>
      decidePublication(held.pendings.length > 3 ? { ...held, approved: null } : held, publication, policy),
  };

  it('the right one passes every case', () => expect(failures(decidePublication)).toEqual([]));
  it.each(Object.keys(wrong))('%s: is caught', (name) => {
    expect(failures(wrong[name] as Decide)).not.toEqual([]);
  });
});

describe('I2: a bearer moves no trust', () => {
  const fingerprint = fc.constantFrom(A, B, C);
  const maybe = fc.option(fingerprint, { nil: null });
  const held: fc.Arbitrary<HeldPins> = fc.record({
    status: fc.constantFrom('invited', 'active', 'suspended', 'evicted'),
    banned: fc.boolean(),
    pin: fc.oneof(
      fc.constant({ state: 'none' as const }),
      fc.constant({ state: 'unreadable' as const }),
      fc.record({
        state: fc.constant('pinned' as const),
        fingerprint,
        anchor: fc.constantFrom('enrolment' as const, 'first-use' as const, 'operator' as const),
        previous: maybe,
      }),
    ),
    approved: maybe,
    firstUse: maybe,
    pendings: fc.array(fc.record({ fingerprint, challenges: fingerprint }), { maxLength: 6 }),
  });
  const key = fc.oneof(fc.constant(nothing), fc.constant(malformed), fingerprint.map(valid));
  const policy = fc.constantFrom(closed, firstUseOpen, frozen);

  it('takes a key on a bearer only if an operator approved exactly it, or first use had accepted exactly it for a host without a pin', () => {
    let taken = 0;
    fc.assert(
      fc.property(held, key, policy, fc.constantFrom('fleet-token', ...bearers), (held, key, policy, proof) => {
        const decision = decidePublication(held, { key, with: proof }, policy);
        if (decision.kind !== 'taken') return;
        taken += 1;
        const { fingerprint } = decision.pin;
        const byOperator = held.approved === fingerprint;
        const byFirstUse =
          held.pin.state === 'none' && held.firstUse === fingerprint && policy.firstUseUntilMs !== null;
        expect(byOperator || byFirstUse).toBe(true);
        expect([held.status, policy.trustFrozen, proof === 'fleet-token']).toEqual(['active', false, false]);
        expect(key).toEqual(valid(fingerprint));
      }),
      { numRuns: 2_000 },
    );
    expect(taken).toBeGreaterThan(0);
  });

  it('never stores more pendings than the limit, however many keys come', () => {
    let state = pinned(A);
    for (let n = 0; n < 10_000; n += 1) {
      const published = n.toString(16).padStart(64, '0');
      const decision = decidePublication(state, { key: valid(published), with: 'derived' }, closed);
      if (decision.kind !== 'pending') continue;
      const { fingerprint, challenges } = decision;
      state = { ...state, pendings: [...state.pendings, { fingerprint, challenges }] };
    }
    expect(state.pendings).toHaveLength(limits.pendingPinsPerHost);
    expect(decidePublication(state, { key: valid(A), with: 'derived' }, closed).kind).toBe('seen');
  });
});

describe('re-pinning, as a story', () => {
  /** What the store does with a decision. */
  function store(held: HeldPins, decision: PublicationDecision | ReturnType<typeof decideApproval>): HeldPins {
    if (decision.kind === 'recorded') return { ...held, approved: decision.approved };
    if (decision.kind === 'pending') {
      const { fingerprint, challenges } = decision;
      return { ...held, pendings: [...held.pendings, { fingerprint, challenges }] };
    }
    if (decision.kind !== 'taken') return held;
    const { raisesLife: _, ...pin } = decision.pin;
    return { ...held, pin: { state: 'pinned', ...pin }, approved: null, firstUse: null, pendings: [] };
  }
  const sealedTo = (held: HeldPins) => (held.pin.state === 'pinned' ? held.pin.fingerprint : null);
  const publish = (held: HeldPins, fingerprint: Fingerprint) =>
    store(held, decidePublication(held, { key: valid(fingerprint), with: 'derived' }, closed));

  it('seals to A until an operator approves B, and from then on to B and not to A', () => {
    const atFirst = pinned(A);
    expect(sealedTo(atFirst)).toBe(A);
    const challenged = publish(atFirst, B);
    expect(sealedTo(challenged)).toBe(A);
    const approved = store(challenged, decideApproval(challenged, B, [B]));
    expect(sealedTo(approved)).toBe(B);
    expect(approved.pendings).toEqual([]);
    // A is nothing special any more: it challenges the new pin.
    const again = publish(approved, A);
    expect(sealedTo(again)).toBe(B);
    expect(again.pendings).toEqual([{ fingerprint: A, challenges: B }]);
  });

  it('finds the true key behind four junk ones', () => {
    const hidden = { ...pinned(A), pendings: junk };
    expect(publish(hidden, B)).toEqual(hidden);
    const approved = store(
      hidden,
      decideApproval(
        hidden,
        B,
        junk.map((pending) => pending.fingerprint),
      ),
    );
    expect(sealedTo(approved)).toBe(A);
    expect(sealedTo(publish(approved, C))).toBe(A);
    expect(sealedTo(publish(approved, B))).toBe(B);
  });
});
