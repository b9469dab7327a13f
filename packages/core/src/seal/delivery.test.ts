import { describe, expect, test } from 'vitest';
import { decodeBase64url, encodeBase64url, utf8 } from '../bytes.ts';
import { canonicalJson, type JsonValue } from '../json.ts';
import { SecretBytes } from '../keys/secret-bytes.ts';
import { limits } from '../limits.ts';
import { faultOf, refusalOf } from '../refusal.fixture.ts';
import { seededRandom } from '../testing/seeded-random.ts';
import { type Assignment, encodeAssignment } from './assignment.ts';
import { DELIVERY_INFO, deliveryAad, type Envelope, signedDelivery } from './envelope.ts';
import { sealBase } from './hpke.ts';
import { createHubKey, createHubRoot, type HubKey } from './hub-key.ts';
import { type DeliveryContext, openDelivery } from './open-delivery.ts';
import { sealDelivery } from './seal-delivery.ts';
import { generateWrapKey, type WrapKeyPair, type WrapPublicKey } from './wrap-key.ts';

const random = seededRandom('delivery');
const root = createHubRoot(random);
const hubKey = createHubKey(random, root, 2);
const wrapKey = generateWrapKey(random);
const otherWrapKey = generateWrapKey(random);

function assignmentOf(change: Partial<Assignment> = {}): Assignment {
  const value = { life: 2, keys: { heartbeat: new SecretBytes('host-key', new Uint8Array(32).fill(7)) } };
  return {
    secret: 'master',
    epoch: 1,
    step: 9,
    accept: [3, 4].map((version) => ({ version, value })),
    present: 4,
    issuedAt: '2026-11-29T12:00:00Z',
    ...change,
  };
}

const context: DeliveryContext = {
  host: 'agent-7',
  wrapKeys: [wrapKey],
  held: (secret) => (secret === 'master' ? { epoch: 1, step: 8 } : undefined),
  hubRoot: root.public,
  highestSerial: 2,
};

/** As it arrives: through the wire. */
function wire(envelope: Envelope): Envelope {
  return JSON.parse(JSON.stringify(envelope)) as Envelope;
}

function seal(change: Partial<Parameters<typeof sealDelivery>[0]> = {}): Envelope {
  return wire(
    sealDelivery({ host: 'agent-7', assignment: assignmentOf(), recipient: wrapKey.public, hubKey, random, ...change }),
  );
}

const good = seal();

/** What a hub with a fault, or a thief of the hub key, could send: any outside, any inside, bound and signed as asked. */
function forge(
  outside: Partial<Envelope>,
  {
    bound = outside,
    payload = canonicalJson(encodeAssignment(assignmentOf())),
    recipient = wrapKey,
    signer = hubKey,
  }: {
    bound?: Partial<Envelope>;
    payload?: string;
    recipient?: WrapKeyPair;
    signer?: HubKey;
  } = {},
): Envelope {
  const base = { ...good, recipient: recipient.public.fingerprint };
  const sealed = sealBase({
    recipient: recipient.public,
    info: DELIVERY_INFO,
    aad: deliveryAad({ ...base, ...bound }),
    plaintext: utf8(payload),
    random,
  });
  const envelope = { ...base, ...outside };
  return wire({
    ...envelope,
    enc: encodeBase64url(sealed.enc),
    ct: encodeBase64url(sealed.ct),
    hubKey: signer.record,
    sig: encodeBase64url(signer.sign(signedDelivery(deliveryAad(envelope), sealed.enc, sealed.ct))),
  });
}

const verdict = (envelope: JsonValue, change: Partial<DeliveryContext> = {}) =>
  refusalOf(() => openDelivery(envelope, { ...context, ...change }));

describe('the good envelope', () => {
  test('is opened: the assignment, the serial and the key that it was sealed to', () => {
    const opened = openDelivery(good, context);
    if (opened.kind !== 'new') throw new Error('not new');
    expect(canonicalJson(encodeAssignment(opened.assignment))).toBe(canonicalJson(encodeAssignment(assignmentOf())));
    expect(opened.hubKeySerial).toBe(2);
    expect(opened.recipient).toBe(wrapKey.public.fingerprint);
  });

  test('has the form of design 4', () => {
    expect(Object.keys(good)).toEqual([
      'v',
      'host',
      'secret',
      'epoch',
      'step',
      'present',
      'recipient',
      'enc',
      'ct',
      'hubKey',
      'sig',
    ]);
    expect(good).toMatchObject({ v: 1, host: 'agent-7', secret: 'master', epoch: 1, step: 9, present: 4 });
  });

  test('is opened also when it is forged right: the forge is no reason for a refusal below', () => {
    expect(verdict(forge({}))).toBe('accepted');
  });

  test('is opened with either of two wrap keys, with unknown fields, with a later hub key', () => {
    expect(verdict(good, { wrapKeys: [otherWrapKey, wrapKey] })).toBe('accepted');
    expect(verdict({ ...good, later: { x: 1 } })).toBe('accepted');
    const later = openDelivery(seal({ hubKey: createHubKey(random, root, 7) }), context);
    expect(later).toMatchObject({ kind: 'new', hubKeySerial: 7 });
  });

  test('holds the largest assignment that there is', () => {
    // A control character is six bytes in JSON, more than any other character.
    const value = new SecretBytes('token', new Uint8Array(limits.tokenTextMaxCharacters).fill(1));
    const largest = assignmentOf({ secret: 's'.repeat(64), accept: [3, 4].map((version) => ({ version, value })) });
    const opened = openDelivery(seal({ assignment: largest }), context);
    if (opened.kind !== 'new') throw new Error('not new');
    expect(canonicalJson(encodeAssignment(opened.assignment))).toBe(canonicalJson(encodeAssignment(largest)));
  });

  test('is opened by a host that holds nothing yet', () => {
    expect(verdict(good, { held: () => undefined })).toBe('accepted');
  });
});

describe('the seven checks, each with its own code', () => {
  const otherRoot = createHubRoot(random);
  const table: readonly [string, string, () => string][] = [
    ['1 schema', 'delivery_malformed', () => verdict({ ...good, v: 2 })],
    [
      '1 size',
      'delivery_malformed',
      () => verdict({ ...good, ct: 'A'.repeat(Math.ceil((limits.envelopeMaxBytes * 4) / 3) + 2) }),
    ],
    ['2 host', 'delivery_other_host', () => verdict(seal({ host: 'agent-8' }))],
    ['2 host, in another case', 'delivery_other_host', () => verdict(seal({ host: 'Agent-7' }))],
    ['3 recipient', 'delivery_unknown_recipient', () => verdict(seal({ recipient: otherWrapKey.public }))],
    ['3 recipient, with no key at all', 'delivery_unknown_recipient', () => verdict(good, { wrapKeys: [] })],
    ['4 step below', 'delivery_replayed', () => verdict(good, { held: () => ({ epoch: 1, step: 10 }) })],
    ['4 epoch below, step above', 'delivery_replayed', () => verdict(good, { held: () => ({ epoch: 2, step: 1 }) })],
    [
      '5 hub key of another root',
      'delivery_unknown_hub_key',
      () => verdict(seal({ hubKey: createHubKey(random, otherRoot, 2) })),
    ],
    [
      '5 hub key that is older',
      'delivery_unknown_hub_key',
      () => verdict(seal({ hubKey: createHubKey(random, root, 1) })),
    ],
    [
      '5 a root that is pinned here and not there',
      'delivery_unknown_hub_key',
      () => verdict(good, { hubRoot: otherRoot.public }),
    ],
    ['5 signature', 'delivery_bad_signature', () => verdict({ ...good, sig: seal().sig })],
    [
      '5 signature by another hub key',
      'delivery_bad_signature',
      () => verdict({ ...good, hubKey: createHubKey(random, root, 3).record }),
    ],
    [
      '6 sealed to another key',
      'delivery_unopenable',
      () => verdict(forge({ recipient: wrapKey.public.fingerprint }, { recipient: otherWrapKey })),
    ],
    ['7 no payload', 'delivery_contradicts', () => verdict(forge({}, { payload: 'x' }))],
    [
      '7 a duplicate key in the payload',
      'delivery_contradicts',
      () => verdict(forge({}, { payload: canonicalJson(encodeAssignment(assignmentOf())).replace('{', '{"step":9,') })),
    ],
    ['7 another secret', 'delivery_contradicts', () => verdict(forge({ secret: 'other' }))],
    ['7 another epoch', 'delivery_contradicts', () => verdict(forge({ epoch: 2 }))],
    ['7 another step', 'delivery_contradicts', () => verdict(forge({ step: 10 }))],
    ['7 another present', 'delivery_contradicts', () => verdict(forge({ present: 3 }))],
  ];

  test.each(table)('%s: %s', (_, code, act) => {
    expect(act()).toBe(code);
    expect(verdict(good)).toBe('accepted');
  });

  test('stop at the first that fails', () => {
    const everythingWrong = {
      ...good,
      host: 'agent-8',
      recipient: '00'.repeat(32),
      step: 1,
      sig: encodeBase64url(new Uint8Array(64)),
    };
    expect(verdict({ ...everythingWrong, v: 2 })).toBe('delivery_malformed');
    expect(verdict(everythingWrong)).toBe('delivery_other_host');
    expect(verdict({ ...everythingWrong, host: 'agent-7' })).toBe('delivery_unknown_recipient');
    expect(verdict({ ...everythingWrong, host: 'agent-7', recipient: good.recipient })).toBe('delivery_replayed');
    const badKeyAndSignature = { ...good, hubKey: createHubKey(random, otherRoot, 2).record, sig: everythingWrong.sig };
    expect(verdict(badKeyAndSignature)).toBe('delivery_unknown_hub_key');
    expect(verdict({ ...good, sig: everythingWrong.sig })).toBe('delivery_bad_signature');
  });
});

describe('order of steps (I4)', () => {
  test.each<[string, { epoch: number; step: number } | undefined, string]>([
    ['nothing held', undefined, 'new'],
    ['the step before', { epoch: 1, step: 8 }, 'new'],
    ['an earlier epoch at a later step', { epoch: 0, step: 99 }, 'new'],
    ['the same', { epoch: 1, step: 9 }, 'held'],
    ['the step after', { epoch: 1, step: 10 }, 'delivery_replayed'],
    ['a later epoch', { epoch: 2, step: 1 }, 'delivery_replayed'],
  ])('%s', (_, held, expected) => {
    const outcome = () => openDelivery(good, { ...context, held: () => held });
    if (expected === 'delivery_replayed') expect(refusalOf(outcome)).toBe(expected);
    else expect(outcome().kind).toBe(expected);
  });

  test('is asked of the secret that the envelope names', () => {
    const asked: string[] = [];
    openDelivery(good, { ...context, held: (secret) => void asked.push(secret) });
    expect(asked).toEqual(['master']);
  });
});

describe('every field', () => {
  /** One bit of a value, in each kind of field. */
  function flipBit(value: JsonValue): JsonValue {
    if (typeof value === 'number') return value ^ 1;
    if (typeof value !== 'string') throw new Error('neither number nor text');
    const bytes = /^[0-9a-f]{64}$/.test(value) ? undefined : decodeBase64url(value);
    if (bytes !== undefined && bytes.length >= 32) {
      bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] as number) ^ 1;
      return encodeBase64url(bytes);
    }
    const last = value.charCodeAt(value.length - 1) ^ 1;
    return value.slice(0, -1) + String.fromCharCode(last);
  }

  const fields = [
    ...Object.keys(good).filter((name) => name !== 'hubKey'),
    ...Object.keys(good.hubKey).map((name) => `hubKey.${name}`),
  ];

  test.each(fields)('%s with a flipped bit is refused, without it is left out', (field) => {
    const [outer = '', inner] = field.split('.');
    const change = (spoil: (value: JsonValue) => JsonValue | undefined): JsonValue => {
      const copy = structuredClone(good) as unknown as Record<string, JsonValue> & {
        hubKey: Record<string, JsonValue>;
      };
      const target: Record<string, JsonValue> = inner === undefined ? copy : copy.hubKey;
      const name = inner ?? outer;
      const spoiled = spoil(target[name] as JsonValue);
      if (spoiled === undefined) delete target[name];
      else target[name] = spoiled;
      return copy as JsonValue;
    };
    const held = { held: () => undefined };
    expect(
      verdict(
        change((value) => value),
        held,
      ),
    ).toBe('accepted');
    expect(verdict(change(flipBit), held)).toMatch(/^delivery_/);
    expect(
      verdict(
        change(() => undefined),
        held,
      ),
    ).toBe('delivery_malformed');
    expect(
      verdict(
        change(() => null),
        held,
      ),
    ).toBe('delivery_malformed');
    expect(
      verdict(
        change((value) => [value]),
        held,
      ),
    ).toBe('delivery_malformed');
  });

  test.each<[JsonValue, string]>([
    ['envelope', 'envelope'],
    [{ ...good, v: 2 }, 'v'],
    [{ ...good, v: '1' }, 'v'],
    [{ ...good, host: '' }, 'malformed_host_id'],
    [{ ...good, secret: '' }, 'malformed_secret_name'],
    [{ ...good, epoch: 0 }, 'epoch'],
    [{ ...good, step: 0 }, 'step'],
    [{ ...good, present: 0 }, 'present'],
    [{ ...good, recipient: 7 }, 'recipient'],
    [{ ...good, recipient: good.recipient.slice(2) }, 'fingerprint'],
    [{ ...good, recipient: good.recipient.toUpperCase() }, 'fingerprint'],
    [{ ...good, enc: good.enc.slice(2) }, 'enc'],
    [{ ...good, ct: '' }, 'ct'],
    [{ ...good, hubKey: 'key' }, 'hubKey'],
    [{ ...good, sig: good.sig.slice(2) }, 'sig'],
  ])('that is not well formed is named: %#', (json, what) => {
    expect(faultOf(() => openDelivery(json, context))).toBe(what);
    expect(verdict(json)).toBe('delivery_malformed');
  });

  test('that takes a token away opens, and none that only seems to', () => {
    const drop = assignmentOf({ secret: 'fleet', accept: [], present: 0 });
    const opened = openDelivery(seal({ assignment: drop }), context);
    expect(opened).toMatchObject({ kind: 'new', assignment: { secret: 'fleet', accept: [], present: 0 } });
    expect(refusalOf(() => seal({ assignment: assignmentOf({ accept: [], present: 0 }) }))).toBe('malformed_json');
    expect(refusalOf(() => seal({ assignment: { ...drop, present: 4 } }))).toBe('malformed_json');
    const value = new SecretBytes('token', new Uint8Array(32).fill(65));
    const token = assignmentOf({ secret: 'fleet', accept: [{ version: 4, value }] });
    const payloads = [
      encodeAssignment(token),
      { ...encodeAssignment(token), present: 0 },
      { ...encodeAssignment(drop), present: 4 },
    ];
    for (const payload of payloads) {
      const outside = { secret: 'fleet', present: 0 };
      expect(verdict(forge(outside, { payload: canonicalJson(payload) }))).toBe('delivery_contradicts');
    }
    expect(verdict(forge({ secret: 'fleet', present: 0 }, { payload: canonicalJson(encodeAssignment(drop)) }))).toBe(
      'accepted',
    );
  });

  test('that the payload contradicts is named', () => {
    const faultIn = (outside: Partial<Envelope>) => faultOf(() => openDelivery(forge(outside), context));
    expect(faultIn({ secret: 'other' })).toBe('secret');
    expect(faultIn({ epoch: 2 })).toBe('epoch');
    expect(faultIn({ step: 10 })).toBe('step');
    expect(faultIn({ present: 3 })).toBe('present');
  });

  test('every single bit of enc, ct, sig and the root signature counts', () => {
    for (const field of ['enc', 'ct', 'sig'] as const) {
      const bytes = decodeBase64url(good[field]) as Uint8Array;
      for (let bit = 0; bit < Math.min(bytes.length * 8, 512); bit += 7) {
        const flipped = new Uint8Array(bytes);
        flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7));
        expect(verdict({ ...good, [field]: encodeBase64url(flipped) })).toBe('delivery_bad_signature');
      }
    }
  });
});

describe('binding: even the hub key cannot pass one off as another', () => {
  test.each<[string, Partial<Envelope>, Partial<Assignment>, Partial<DeliveryContext>]>([
    ['sealed for agent-8 does not open as agent-7', { host: 'agent-8' }, {}, {}],
    ['version 3 does not open as 4', { present: 3 }, { present: 3 }, {}],
    ['epoch 1 does not open as 2', { epoch: 1 }, {}, {}],
    ['step 8 does not open as 9', { step: 8 }, { step: 8 }, {}],
    ['one secret does not open as another', { secret: 'other' }, {}, {}],
    ['one key of the host does not open as the other', { recipient: otherWrapKey.public.fingerprint }, {}, {}],
  ])('%s', (_, bound, inside) => {
    const payload = canonicalJson(encodeAssignment(assignmentOf(inside)));
    const outside = bound.epoch === 1 ? { epoch: 2 } : {};
    expect(verdict(forge(outside, { bound, payload }))).toBe('delivery_unopenable');
    // Said as it was sealed, the same opens: for its own host, its own version, its own epoch.
    if (bound.secret === undefined && bound.recipient === undefined) {
      const own = { host: bound.host ?? 'agent-7', held: () => undefined };
      expect(verdict(forge(bound, { bound, payload }), own)).toBe('accepted');
    }
  });
});

describe('keys of another kind', () => {
  test('an Ed25519 key never reaches sealing, an X25519 key never reaches signing', () => {
    const input = { host: 'agent-7', assignment: assignmentOf(), random };
    // @ts-expect-error a hub key is not sealed to
    expect(() => sealDelivery({ ...input, recipient: hubKey, hubKey })).toThrow(TypeError);
    // @ts-expect-error nor are its public bytes
    expect(() => sealDelivery({ ...input, recipient: hubKey.public, hubKey })).toThrow(TypeError);
    // @ts-expect-error a wrap key does not sign
    expect(() => sealDelivery({ ...input, recipient: wrapKey.public, hubKey: wrapKey })).toThrow(TypeError);
    // Nor does what only looks like a hub key, which the compiler cannot tell.
    const lookalike = Object.assign({}, hubKey, { sign: (message: Uint8Array) => hubKey.sign(message) });
    expect(() => sealDelivery({ ...input, recipient: wrapKey.public, hubKey: lookalike })).toThrow(TypeError);
    const { suite, bytes, fingerprint, keyObject } = wrapKey.public;
    const recipient = { suite, bytes, fingerprint, keyObject } as WrapPublicKey;
    expect(() => sealDelivery({ ...input, recipient, hubKey })).toThrow(TypeError);
    expect(verdict(wire(sealDelivery({ ...input, recipient: wrapKey.public, hubKey })))).toBe('accepted');
  });

  test('nothing is sealed without a host', () => {
    expect(refusalOf(() => seal({ host: '' }))).toBe('malformed_host_id');
  });
});
