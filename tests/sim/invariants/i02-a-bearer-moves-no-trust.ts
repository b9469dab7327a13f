/** I2: a pin is made or replaced by a proven enrolment, an operator's word, or an accepted first use; never by a bearer alone. */
import { decodeBase64url, equalBytes } from '@rollcall/core/bytes';
import { enrolmentKey, enrolmentProof, parseEnrolmentToken } from '@rollcall/core/keys';
import { parseWrapPublicKey } from '@rollcall/core/seal';
import type { EnrolBody } from '@rollcall/wire';
import { type Request, readJson } from '../machines/exchange.ts';
import type { StoreSnapshot } from '../machines/store-snapshot.ts';
import type { World } from '../world.ts';
import { assertThat, type Check } from './invariant.ts';

/** Kept apart from the product: which keys came with the proof of a token that an operator gave out. */
const noteEnrolments: Check = {
  onHandling: ({ ledger }, { request }) => {
    const fingerprint = request.path === '/v1/enrol' ? provenKey(ledger, request) : undefined;
    if (fingerprint !== undefined) ledger.enrolments.add(fingerprint);
  },
};

const pinsAreGrounded: Check = {
  onCommit: ({ ledger }, before, after) => {
    for (const [host, fingerprint] of after.pins) {
      if (before.pins.get(host) === fingerprint) continue;
      const key = `${host} ${fingerprint}`;
      const isEnrolled = ledger.enrolments.has(key) && spendsAToken(before, after, host);
      const isGrounded = isEnrolled || ledger.approvals.has(key) || ledger.firstUses.has(key);
      assertThat(isGrounded, 'I2', () => `the pin of ${host} became ${fingerprint.slice(0, 12)} on a bearer alone`);
    }
  },
};

/** A token is spent for its pin, and neither goes without the other: a commit that failed has cost nothing. */
const tokensAreSpentForPins: Check = {
  onCommit: ({ ledger }, before, after) => {
    for (const { id, host, state } of after.tokens.values()) {
      if (state !== 'used' || before.tokens.get(id)?.state !== 'live') continue;
      const isPinned = ledger.enrolments.has(`${host} ${after.pins.get(host)}`);
      assertThat(isPinned, 'I2', () => `a token of ${host} was spent, and its key is not pinned`);
    }
  },
};

/** A host that had a pin begins a new life with another, or again with the same: yesterday's disk holds nothing of today's. */
const aNewPinIsANewLife: Check = {
  onCommit: (_world, before, after) => {
    for (const { id, status, life } of before.hosts.values()) {
      const isTaken = before.pins.has(id) && after.pins.has(id) && before.pins.get(id) !== after.pins.get(id);
      if (!isTaken && !(status !== 'invited' && spendsAToken(before, after, id))) continue;
      assertThat((after.hosts.get(id)?.life ?? 0) > life, 'I2', () => `${id} has a new pin in its former life`);
    }
  },
};

/** An invited host has nothing but its enrolment proof; whoever holds the master is not let in as it. */
const nobodyIsAnInvitedHost: Check = {
  onAnswered: ({ ledger, snapshot, yesMs }, { request, host, nowMs }, { status }) => {
    if (status !== 200 || request.path !== '/v1/heartbeat' || host === undefined) return;
    const isLetIn = ledger.wasActive(host, nowMs, yesMs);
    assertThat(isLetIn, 'I2', () => `${host} was let in, though it is ${snapshot.hosts.get(host)?.status}`);
  },
};

/** What holds yesterday's keys holds nothing of today's, but for the overlap after an operator's re-pin. */
const formerLivesAreDead: Check = {
  onAnswered: ({ ledger, yesMs }, { request, host, bearer, before, hubNowMs, nowMs }, { status }) => {
    const row = host === undefined ? undefined : before.hosts.get(host);
    if (status !== 200 || request.path !== '/v1/heartbeat' || bearer === undefined || row === undefined) return;
    if (bearer.life >= row.life || ledger.wasInLife(row.id, bearer.life, nowMs, yesMs)) return;
    const isOverlap = hubNowMs < (row.former_life_until ?? 0);
    assertThat(isOverlap, 'I2', () => `${row.id} was let in with a key of life ${bearer.life} in life ${row.life}`);
  },
};

/** A pin that is left behind would be there for whoever gets the name next. Of a row that was put back only that is as it was. */
const whoLeftHasNoPin: Check = {
  onCommit: ({ ledger }, _before, { hosts, pins }) => {
    for (const host of pins.keys()) {
      if (ledger.putBack.has(host)) continue;
      const status = hosts.get(host)?.status;
      assertThat(status !== 'removed' && status !== 'evicted', 'I2', () => `${host} is ${status} and has a pin`);
    }
  },
};

/** What an operator accepted, whether or not he was told. */
const noteFirstUses: Check = {
  onCommit: ({ ledger }, _before, after, by) => {
    if (by?.host !== undefined) return;
    for (const { id, first_use_fingerprint } of after.hosts.values()) {
      if (first_use_fingerprint !== null) ledger.firstUses.add(`${id} ${first_use_fingerprint}`);
    }
  },
};

/** `host fingerprint`, when the proof is that of a token which was given out for this host. */
function provenKey(ledger: World['ledger'], request: Request): string | undefined {
  const { host, wrapKey, instance, proof } = readJson(request.body) as EnrolBody;
  const bytes = (text: string) => decodeBase64url(text) ?? new Uint8Array();
  const claim = { host, wrapPublic: bytes(wrapKey.public), instance: bytes(instance) };
  const isProven = ledger.tokens.some(
    (token) =>
      token.host === host &&
      equalBytes(enrolmentProof(enrolmentKey(parseEnrolmentToken(token.text).secret), claim), bytes(proof)),
  );
  if (!isProven) return undefined;
  return `${host} ${parseWrapPublicKey({ suite: 'x25519', public: claim.wrapPublic }).fingerprint}`;
}

/** One token, one pin. */
function spendsAToken(before: StoreSnapshot, after: StoreSnapshot, host: string): boolean {
  return [...after.tokens.values()].some(
    (token) => token.host === host && token.state === 'used' && before.tokens.get(token.id)?.state === 'live',
  );
}

export const aBearerMovesNoTrust: readonly Check[] = [
  noteEnrolments,
  noteFirstUses,
  pinsAreGrounded,
  tokensAreSpentForPins,
  aNewPinIsANewLife,
  nobodyIsAnInvitedHost,
  formerLivesAreDead,
  whoLeftHasNoPin,
];
