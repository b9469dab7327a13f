/** Each row of the leak table against what really verifies, opens, or is decided: words alone would not tell. */

import { describe, expect, it } from 'vitest';
import { encodeBase64url } from '../bytes.ts';
import {
  deriveHostKeys,
  deriveSsoSeed,
  encodeToken,
  enrolmentKey,
  enrolmentProof,
  SecretBytes,
  verifyEnrolmentProof,
} from '../keys/index.ts';
import { A, B, pinned, unpinned } from '../pins/held.fixture.ts';
import { decidePublication, type PublishedWith } from '../pins/index.ts';
import { refusalOf } from '../refusal.fixture.ts';
import {
  createHubKey,
  createHubRoot,
  generateWrapKey,
  openDelivery,
  restoreWrapKey,
  sealDelivery,
} from '../seal/index.ts';
import { seededRandom } from '../testing/seeded-random.ts';
import { createBearerVerifier } from '../verify/index.ts';
import { type Generation, liveGenerations } from './generations.ts';
import { type LeakAct, type LeakRow, whatThiefCanStillDo } from './leak.ts';

const HOST = 'agent-7';
const LIFE = 2;
const STARTED_MS = 1_000_000;
const UNTIL_MS = 2_000_000;
const random = seededRandom('leak');

type Held = Generation & { readonly master: Uint8Array };
const old: Held = { version: 3, state: 'previous', verifyUntilMs: UNTIL_MS, leaked: true, master: random(32) };
const fresh: Held = { version: 4, state: 'current', verifyUntilMs: null, leaked: false, master: random(32) };
const hubHolds = [fresh, old];

/** All that a thief of the old master has: whatever it derives, for any host, life and purpose. */
const stolen = deriveHostKeys({ version: 3, master: old.master }, HOST, LIFE);
const hosts = deriveHostKeys({ version: 4, master: fresh.master }, HOST, LIFE);

function rowsAt(nowMs: number): ReadonlyMap<LeakAct, LeakRow> {
  const rows = whatThiefCanStillDo({ from: 3, to: 4, verifyUntilMs: UNTIL_MS, nowMs });
  return new Map(rows.map((row) => [row.act, row]));
}

/** Whether a verifier of this purpose takes the key at this moment. */
function verifies(purpose: string, key: Uint8Array, nowMs: number): boolean {
  const live = liveGenerations(hubHolds, nowMs);
  if (purpose === 'heartbeat') {
    const verify = createBearerVerifier(live.map(({ version, master }) => ({ version, master })));
    return refusalOf(() => verify(HOST, LIFE, encodeToken('rcb', key))) === 'accepted';
  }
  const taken = live.map((each) =>
    purpose === 'sso' ? deriveSsoSeed(each.master) : deriveHostKeys(each, HOST, LIFE)[purpose],
  );
  return taken.some((each) => each !== undefined && encodeBase64url(each) === encodeBase64url(key));
}

const moments = [STARTED_MS, UNTIL_MS - 1, UNTIL_MS, UNTIL_MS + 1, 10 * UNTIL_MS];

describe('what the leaked generation derives', () => {
  const purposes = [...Object.keys(stolen), 'sso'];

  it('is a row each, and there is no other such row', () => {
    const can = [...rowsAt(STARTED_MS).values()].filter((row) => row.verdict === 'can').map((row) => row.act);
    expect(can.sort()).toEqual([...purposes].sort());
  });

  it('and all other rows say what they mean, of which version', () => {
    const texts = new Map([...rowsAt(STARTED_MS)].map(([act, row]) => [act, row.text]));
    expect(new Set(texts.values()).size).toBe(texts.size);
    for (const text of texts.values()) expect(text).toMatch(/^[a-z].* /);
    for (const act of ['command', 'new_generation'] as const) expect(texts.get(act)).toContain('version 4');
    expect(texts.get('read_delivery')).toContain('version 3');
  });

  it.each(purposes)('%s: the row says at every moment what a verifier does', (purpose) => {
    const key = purpose === 'sso' ? deriveSsoSeed(old.master) : (stolen[purpose] as Uint8Array);
    const own = purpose === 'sso' ? deriveSsoSeed(fresh.master) : (hosts[purpose] as Uint8Array);
    for (const nowMs of moments) {
      const row = rowsAt(nowMs).get(purpose as LeakAct);
      expect(row?.verdict).toBe(verifies(purpose, key, nowMs) ? 'can' : 'cannot');
      expect(row?.untilMs).toBe(nowMs < UNTIL_MS ? UNTIL_MS : null);
      expect(verifies(purpose, own, nowMs)).toBe(true); // The control: who has come along notices nothing.
    }
  });

  it('has ended when the hub names no end (I7)', () => {
    for (const verifyUntilMs of [null, 0, Number.NaN]) {
      const rows = whatThiefCanStillDo({ from: 3, to: 4, verifyUntilMs, nowMs: STARTED_MS });
      expect(rows.filter((row) => row.verdict === 'can')).toEqual([]);
      const live = liveGenerations([fresh, { ...old, verifyUntilMs }], STARTED_MS);
      expect(live.map(({ version }) => version)).toEqual([4]);
    }
  });
});

describe('what it does not reach, in the window or after it', () => {
  const policy = { firstUseUntilMs: null, nowMs: STARTED_MS, trustFrozen: false };
  const publish = (held: Parameters<typeof decidePublication>[0], fingerprint: string, proof: PublishedWith) =>
    decidePublication(held, { key: { state: 'valid', fingerprint }, with: proof }, policy);

  it.each<LeakAct>(['new_generation', 'read_delivery', 'replace_pin', 'be_invited_host', 'get_certificate'])(
    '%s is a row that says so at every moment',
    (act) => {
      for (const nowMs of moments) expect(rowsAt(nowMs).get(act)).toMatchObject({ verdict: 'cannot', untilMs: null });
    },
  );

  it('new_generation: nothing that it derives verifies as the new one', () => {
    const onlyNew = createBearerVerifier([{ version: 4, master: fresh.master }]);
    const codes = Object.values(stolen).map((key) => refusalOf(() => onlyNew(HOST, LIFE, encodeToken('rcb', key))));
    expect(new Set(codes)).toEqual(new Set(['unauthenticated']));
    expect(onlyNew(HOST, LIFE, encodeToken('rcb', hosts['heartbeat'] as Uint8Array))).toEqual({ version: 4 });
  });

  it('replace_pin: a bearer leaves the pin where it is; a token of the operator moves it', () => {
    expect(publish(pinned(A), B, 'derived')).toMatchObject({ kind: 'pending', challenges: A });
    expect(publish(pinned(A), B, 'mtls')).toMatchObject({ kind: 'pending', challenges: A });
    expect(publish(pinned(A), B, 'enrolment')).toMatchObject({ kind: 'taken', pin: { fingerprint: B } });
  });

  it('be_invited_host: an invited host is let in by its token alone', () => {
    const invited = { ...unpinned, status: 'invited' as const };
    expect(publish(invited, B, 'derived')).toEqual({ kind: 'refused', code: 'unauthenticated' });
    expect(publish(invited, B, 'enrolment')).toMatchObject({ kind: 'taken' });
  });

  it('get_certificate: no derived key proves an enrolment, which is what a request rides on', () => {
    const claim = {
      host: HOST,
      wrapPublic: random(32),
      instance: random(16),
      csr: random(80),
      csrUse: 'client' as const,
    };
    const K = enrolmentKey(new SecretBytes('enrolment', random(32)));
    for (const key of Object.values(stolen)) {
      const forged = enrolmentProof(enrolmentKey(new SecretBytes('enrolment', key)), claim);
      expect(refusalOf(() => verifyEnrolmentProof(K, claim, forged))).toBe('unauthenticated');
    }
    expect(refusalOf(() => verifyEnrolmentProof(K, claim, enrolmentProof(K, claim)))).toBe('accepted');
  });

  it('read_delivery: it opens with the pinned key, and with nothing that the old generation gives', () => {
    const root = createHubRoot(random);
    const hubKey = createHubKey(random, root, 1);
    const wrapKey = generateWrapKey(random);
    const value = { life: LIFE, keys: { heartbeat: new SecretBytes('host-key', hosts['heartbeat'] as Uint8Array) } };
    const envelope = sealDelivery({
      host: HOST,
      assignment: {
        secret: 'master',
        epoch: 1,
        step: 2,
        accept: [{ version: 4, value }],
        present: 4,
        issuedAt: '2026-11-29T12:00:00Z',
      },
      recipient: wrapKey.public,
      hubKey,
      random,
    });
    const open = (private_: Uint8Array) => {
      const { private: key } = restoreWrapKey(private_);
      // A thief can say that its key is the pinned one; it still has to open with it.
      const claimed = { public: wrapKey.public, private: key };
      const context = {
        host: HOST,
        wrapKeys: [claimed],
        held: () => undefined,
        hubRoot: root.public,
        highestSerial: 1,
      };
      return openDelivery(JSON.parse(JSON.stringify(envelope)), context);
    };
    for (const key of [...Object.values(stolen), deriveSsoSeed(old.master), old.master]) {
      expect(refusalOf(() => open(key))).toBe('delivery_unopenable');
    }
    expect(open(wrapKey.private.reveal())).toMatchObject({ kind: 'new' });
  });
});

describe('what depends on what was done before', () => {
  it('hold_first_use_pin: whoever published the accepted key holds the pin, until a person compares it', () => {
    for (const nowMs of moments) expect(rowsAt(nowMs).get('hold_first_use_pin')?.verdict).toBe('may');
    const accepting = { firstUseUntilMs: UNTIL_MS, nowMs: STARTED_MS, trustFrozen: false };
    const held = { ...unpinned, firstUse: B };
    const published = { key: { state: 'valid', fingerprint: B }, with: 'derived' } as const;
    expect(decidePublication(held, published, accepting)).toMatchObject({
      kind: 'taken',
      pin: { anchor: 'first-use' },
    });
    const off = { ...accepting, firstUseUntilMs: null };
    expect(decidePublication(held, published, off)).toMatchObject({ kind: 'observed' });
  });
});
