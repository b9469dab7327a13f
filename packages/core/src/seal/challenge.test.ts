import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { encodeBase64url, encodeHex } from '../bytes.ts';
import type { JsonValue } from '../json.ts';
import { SecretBytes } from '../keys/secret-bytes.ts';
import { limits } from '../limits.ts';
import { faultOf, refusalOf } from '../refusal.fixture.ts';
import { seededRandom } from '../testing/seeded-random.ts';
import { answerChallenge, type ChallengeSubject, sealChallenge, verifyAnswer } from './challenge.ts';
import { createHubKey, createHubRoot } from './hub-key.ts';
import { generateWrapKey, type WrapPublicKey } from './wrap-key.ts';

const random = seededRandom('challenge');
const pinned = generateWrapKey(random);
const next = generateWrapKey(random);
const host = 'agent-7';
const nonce = random(32);
const id = random(80);

const subjects: readonly ChallengeSubject[] = [
  { purpose: 'continuity', next: next.public },
  { purpose: 'certificate', csr: Buffer.from('a request'), csrUse: 'client' },
  { purpose: 'recovery', instance: new Uint8Array(16).fill(1) },
];
const others: Record<ChallengeSubject['purpose'], ChallengeSubject> = {
  continuity: { purpose: 'continuity', next: pinned.public },
  certificate: { purpose: 'certificate', csr: Buffer.from('a request'), csrUse: 'listener' },
  recovery: { purpose: 'recovery', instance: new Uint8Array(16).fill(2) },
};

describe.each(subjects)('a challenge for $purpose', (subject) => {
  const { purpose } = subject;
  const challenge = JSON.parse(
    JSON.stringify(sealChallenge({ host, purpose, recipient: pinned.public, id, nonce, random })),
  ) as Record<string, JsonValue>;
  const own = { host, wrapKeys: [next, pinned], subject };
  const verdict = (json: JsonValue, change: Partial<typeof own> = {}) =>
    refusalOf(() => answerChallenge(json, { ...own, ...change }));

  test('is answered by whoever holds the pinned key, among others', () => {
    const answered = answerChallenge(challenge, own);
    expect(answered.id).toEqual(id);
    expect(verifyAnswer(answered.answer, { nonce, host, subject })).toBe(subject);
  });

  test('proves nothing of another host, nonce, subject or purpose', () => {
    const { answer } = answerChallenge(challenge, own);
    const wrong = [
      { nonce, host: 'agent-8', subject },
      { nonce: random(32), host, subject },
      { nonce, host, subject: others[purpose] },
      ...subjects.filter((other) => other !== subject).map((other) => ({ nonce, host, subject: other })),
    ];
    for (const claim of wrong) expect(refusalOf(() => verifyAnswer(answer, claim))).toBe('unauthenticated');
    for (const bad of [new Uint8Array(), answer.subarray(1), new Uint8Array(32), new Uint8Array([...answer, 0])]) {
      expect(refusalOf(() => verifyAnswer(bad, { nonce, host, subject }))).toBe('unauthenticated');
    }
  });

  test.each<[string, () => string, string]>([
    ['without the pinned key', () => verdict(challenge, { wrapKeys: [next] }), 'challenge_unopenable'],
    ['with no key', () => verdict(challenge, { wrapKeys: [] }), 'challenge_unopenable'],
    ['as another host', () => verdict(challenge, { host: 'agent-8' }), 'challenge_unopenable'],
    ['for what it was not made for', () => verdict({ ...challenge, purpose: 'other' }), 'challenge_unopenable'],
    ['under another id', () => verdict({ ...challenge, id: encodeBase64url(random(80)) }), 'challenge_unopenable'],
    [
      'with another enc',
      () => verdict({ ...challenge, enc: encodeBase64url(next.public.bytes) }),
      'challenge_unopenable',
    ],
    ['with another ct', () => verdict({ ...challenge, ct: encodeBase64url(random(48)) }), 'challenge_unopenable'],
    ['with a short ct', () => verdict({ ...challenge, ct: encodeBase64url(random(47)) }), 'challenge_malformed'],
    ['without an id', () => verdict({ ...challenge, id: '' }), 'challenge_malformed'],
    ['with a huge id', () => verdict({ ...challenge, id: encodeBase64url(random(2_000)) }), 'challenge_malformed'],
    ['when it is no object', () => verdict(null), 'challenge_malformed'],
  ])('is not answered %s', (_, act, code) => {
    expect(act()).toBe(code);
    expect(verdict(challenge)).toBe('accepted');
  });

  test.each<[string, JsonValue]>([
    ['id', { ...challenge, id: '' }],
    ['purpose', { ...challenge, purpose: '' }],
    ['purpose', { ...challenge, purpose: 'other' }],
    ['enc', { ...challenge, enc: encodeBase64url(random(31)) }],
    ['ct', { ...challenge, ct: encodeBase64url(random(47)) }],
    ['challenge', null],
  ])('says that its %s is at fault', (what, json) => {
    expect(faultOf(() => answerChallenge(json, own))).toBe(what);
  });

  test('relabelled for another purpose it opens for neither', () => {
    for (const other of subjects) {
      if (other === subject) continue;
      expect(verdict(challenge, { subject: other })).toBe('challenge_unopenable');
      expect(verdict({ ...challenge, purpose: other.purpose }, { subject: other })).toBe('challenge_unopenable');
    }
  });
});

test('an answer is the HMAC of design 3 under the nonce', () => {
  const subject = { purpose: 'recovery', instance: new Uint8Array(16).fill(5) } as const;
  const challenge = sealChallenge({ host, purpose: 'recovery', recipient: pinned.public, id, nonce, random });
  const expected = createHmac('sha256', nonce)
    .update('rollcall/answer/v1\0recovery\0agent-7\0')
    .update(subject.instance)
    .digest('hex');
  expect(encodeHex(answerChallenge(challenge, { host, wrapKeys: [pinned], subject }).answer)).toBe(expected);
});

test('a decoy looks the same', () => {
  const shape = (recipient: typeof pinned) =>
    Object.entries(sealChallenge({ host, purpose: 'recovery', recipient: recipient.public, id, nonce, random })).map(
      ([name, value]) => [name, JSON.stringify(value).length],
    );
  expect(shape(generateWrapKey(random))).toEqual(shape(pinned));
});

test('a key that cannot be used is no key that does not fit', () => {
  const challenge = sealChallenge({ host, purpose: 'recovery', recipient: pinned.public, id, nonce, random });
  const subject = { purpose: 'recovery', instance: new Uint8Array(16) } as const;
  const answerBy = (secret: SecretBytes) => {
    const broken = { public: pinned.public, private: secret as SecretBytes<'wrap-private'> };
    return refusalOf(() => answerChallenge(challenge, { host, wrapKeys: [next, broken, pinned], subject }));
  };
  expect(answerBy(new SecretBytes('hub-key', pinned.private.reveal()))).toBe('TypeError');
  expect(answerBy(new SecretBytes('wrap-private', random(31)))).toBe('malformed_key');
  expect(answerBy(pinned.private)).toBe('accepted');
});

test('callers are stopped', () => {
  const input = { host, purpose: 'recovery', recipient: pinned.public, id, nonce, random } as const;
  expect(() => sealChallenge({ ...input, nonce: random(31) })).toThrow(TypeError);
  expect(() => sealChallenge({ ...input, id: new Uint8Array() })).toThrow(TypeError);
  expect(() => sealChallenge({ ...input, id: random(limits.challengeIdMaxBytes + 1) })).toThrow(TypeError);
  const longest = sealChallenge({ ...input, id: random(limits.challengeIdMaxBytes) });
  const subject = { purpose: 'recovery', instance: new Uint8Array(16) } as const;
  expect(answerChallenge(longest, { host, wrapKeys: [pinned], subject }).id).toHaveLength(limits.challengeIdMaxBytes);
  const answer = new Uint8Array(32);
  expect(() => verifyAnswer(answer, { host, nonce: random(31), subject })).toThrow(TypeError);
  expect(() => verifyAnswer(answer, { host, nonce, subject: { ...subject, instance: random(15) } })).toThrow(TypeError);
  const { suite, bytes, fingerprint, keyObject } = pinned.public;
  const lookalike = { suite, bytes, fingerprint, keyObject } as WrapPublicKey;
  expect(() => sealChallenge({ ...input, recipient: lookalike })).toThrow(TypeError);
  // @ts-expect-error a hub key is not sealed to
  expect(() => sealChallenge({ ...input, recipient: createHubKey(random, createHubRoot(random), 1) })).toThrow(
    TypeError,
  );
});
