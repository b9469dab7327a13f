import { decodeUtf8, encodeBase64url, utf8 } from '@rollcall/core/bytes';
import type { ErrorCode } from '@rollcall/core/errors';
import type { JsonValue } from '@rollcall/core/json';
import { encodeToken, SecretBytes } from '@rollcall/core/keys';
import { limits } from '@rollcall/core/limits';
import { generateWrapKey, type WrapPublicKey } from '@rollcall/core/seal';
import type { HeartbeatBody } from '@rollcall/wire';
import { describe, expect, it } from 'vitest';
import type { AgentEvent, AgentState, Effect, LogAction, Moment } from './agent-state.ts';
import { describeAgent } from './agent-status.ts';
import {
  assignment,
  delivery,
  durableState,
  enrolment,
  heartbeatKey,
  host,
  hubRoot,
  hubs,
  masters,
  nextHubKey,
  random,
  seededRandom,
  spki,
  strangerKey,
  tlsSpkiStatement,
  trustDomain,
  wrapKey,
} from './fleet.fixture.ts';
import { decideStart, type Given } from './start.ts';
import type { DurableState } from './state/durable-state.ts';
import { tick } from './tick.ts';
import { makeAuthority } from './tls-hub.fixture.ts';

/** An agent under a hand-held clock: one event at a time. */
class Driven {
  state: AgentState;
  effect!: Effect;
  logs: readonly LogAction[] = [];
  nowMs = 1_000_000;
  readonly #random = seededRandom('drive');

  constructor(loaded: DurableState | undefined, given: Given = {}) {
    this.state = decideStart(loaded, given, random);
    this.on({ type: 'started' });
  }

  on(event: AgentEvent): this {
    const now: Moment = {
      wallMs: Date.parse('2026-03-01T12:00:00Z') + this.nowMs,
      monotonicMs: this.nowMs,
      random: this.#random,
    };
    const { state, actions } = tick(this.state, now, event);
    this.state = state;
    this.logs = actions.slice(0, -1) as LogAction[];
    this.effect = actions.at(-1) as Effect;
    return this;
  }

  /** How long it waits; it must be waiting. */
  get waitMs(): number {
    if (this.effect.type !== 'wake_at') throw new Error(`not waiting but ${this.effect.type}`);
    return this.effect.monotonicMs - this.nowMs;
  }

  /** Lets the time pass that it waits for. */
  wake(): this {
    this.nowMs += this.waitMs;
    return this.on({ type: 'woken' });
  }

  answer(body: unknown, status = 200, headers: Record<string, string> = {}): this {
    return this.on({ type: 'answered', answer: { status, headers, body: utf8(JSON.stringify(body)) } });
  }

  get request() {
    if (!('request' in this.effect)) throw new Error(`not asking but ${this.effect.type}`);
    return this.effect.request;
  }

  get beat(): HeartbeatBody {
    expect(this.effect.type).toBe('post_heartbeat');
    return JSON.parse(decodeUtf8(this.request.body as Uint8Array) as string) as HeartbeatBody;
  }

  get bearer(): string {
    return this.request.headers['authorization'] as string;
  }
}

const bearer = (version: number) => `Bearer ${encodeToken('rcb', heartbeatKey(version))}`;

function told(changes: { deliveries?: JsonValue[]; statements?: JsonValue[]; nextBeatMs?: number; pin?: string } = {}) {
  const { deliveries = [], statements = [], nextBeatMs = 10_000, pin = 'pinned' } = changes;
  return { time: '2026-03-01T12:00:00Z', nextBeatMs, pin: { state: pin }, deliveries, statements };
}

/** A restored host that is about to hear the answer to its first beat. */
function beating(changes: Partial<DurableState> = {}): Driven {
  return new Driven(durableState(changes)).wake();
}

const step2 = assignment({ step: 2, versions: [1, 2] });
const deployToken = new SecretBytes('token', utf8('x'.repeat(32)));
const deploy = assignment({ secret: 'deploy', accept: [{ version: 1, value: deployToken }] });

describe('a heartbeat', () => {
  it('says who it is by its bearer, what it holds, and its wrap key, over a judged connection', () => {
    const agent = beating();
    expect(agent.bearer).toBe(bearer(1));
    expect(agent.request).toMatchObject({
      url: hubs[0],
      method: 'POST',
      path: '/v1/heartbeat',
      headers: { 'x-rollcall-host': host },
      judge: { kind: 'chain', trustDomain, knownSpki: [spki] },
    });
    expect(agent.beat).toMatchObject({
      instance: encodeBase64url(agent.state.instance),
      seq: 1,
      host,
      wrapKey: { suite: 'x25519', public: encodeBase64url(wrapKey.public.bytes) },
      held: { master: { epoch: 1, step: 1 } },
      refused: [],
      startup: 'restored',
    });
  });

  it('comes when the hub says, and rises in its sequence', () => {
    const agent = beating().answer(told({ nextBeatMs: 4_321 }));
    expect(agent.waitMs).toBe(4_321);
    expect(agent.wake().beat.seq).toBe(2);
    expect(agent.state).toMatchObject({ hubReachable: true, failures: 0 });
  });

  it('is spread over the first second after a restart, and not after a first boot', () => {
    const waits = Array.from({ length: 5 }, () => new Driven(durableState()).waitMs);
    for (const waitMs of waits) expect(waitMs).toBeLessThan(limits.firstBeatSpreadMs);
    expect(new Driven(undefined, { enrolment: enrolment() }).effect.type).toBe('persist');
  });
});

describe('a delivery', () => {
  it('is in force only after the disk has it, and is proven at once with the new bearer', () => {
    const next = assignment({ step: 3, versions: [2] });
    const agent = beating().answer(told({ deliveries: [delivery(next)] }));
    expect(agent.effect.type).toBe('persist');
    expect(agent.state.durable.assignments.get('master')?.step).toBe(1);
    agent.on({ type: 'persisted' });
    expect(agent.beat.held).toEqual({ master: { epoch: 1, step: 3 } });
    expect(agent.bearer).toBe(bearer(2));
  });

  it('that is held already does nothing', () => {
    const agent = beating().answer(told({ deliveries: [delivery(assignment())] }));
    expect(agent.waitMs).toBe(10_000);
    expect(agent.wake().beat.refused).toEqual([]);
  });

  it('goes with all others of its answer into one write', () => {
    const agent = beating().answer(told({ deliveries: [delivery(step2), delivery(deploy)] }));
    agent.on({ type: 'persisted' });
    expect(agent.beat.held).toEqual({ master: { epoch: 1, step: 2 }, deploy: { epoch: 1, step: 1 } });
  });

  const other = generateWrapKey(random);
  const good = delivery(step2) as Record<string, JsonValue>;
  it.each<readonly [ErrorCode, JsonValue]>([
    ['delivery_malformed', { ...good, v: 2 }],
    ['delivery_other_host', delivery(step2, { host: 'agent-8' })],
    ['delivery_unknown_recipient', delivery(step2, { recipient: other.public })],
    ['delivery_replayed', delivery(assignment({ epoch: 1, step: 1 }))],
    ['delivery_unknown_hub_key', delivery(step2, { hubKey: strangerKey })],
    ['delivery_bad_signature', { ...good, present: 2 }],
  ])('that is refused as %s changes nothing, is reported, and is an error from the third time on', (code, refused) => {
    const held = { assignments: new Map([['master', assignment({ step: code === 'delivery_replayed' ? 2 : 1 })]]) };
    const agent = beating(held);
    for (const level of ['warn', 'warn', 'error', 'error']) {
      agent.answer(told({ deliveries: [refused] }));
      expect(agent.logs).toContainEqual(expect.objectContaining({ level, fields: expect.objectContaining({ code }) }));
      expect(agent.waitMs).toBe(10_000);
      expect(agent.wake().beat.refused).toEqual([{ secret: 'master', reason: code }]);
    }
    expect(agent.state.durable.assignments).toEqual(held.assignments);
    expect(describeAgent(agent.state).problems).toContainEqual(expect.objectContaining({ code }));
    // The control: the same host takes the right one, and forgets the refusal.
    const right = delivery(assignment({ step: 3, versions: [1, 2] }));
    agent.answer(told({ deliveries: [right] })).on({ type: 'persisted' });
    expect(agent.beat).toMatchObject({ refused: [], held: { master: { epoch: 1, step: 3 } } });
  });

  it('that is good is applied beside one that is refused', () => {
    const stranger = delivery(deploy, { hubKey: strangerKey });
    const agent = beating()
      .answer(told({ deliveries: [stranger, delivery(step2)] }))
      .on({ type: 'persisted' });
    expect(agent.beat).toMatchObject({
      held: { master: { epoch: 1, step: 2 } },
      refused: [{ secret: 'deploy', reason: 'delivery_unknown_hub_key' }],
    });
  });

  it('of a hub key that was followed by another is refused from then on, across a restart', () => {
    const agent = beating()
      .answer(told({ deliveries: [delivery(step2, { hubKey: nextHubKey })] }))
      .on({ type: 'persisted' });
    const late = delivery(assignment({ step: 3, versions: [1, 2] }));
    for (const driven of [agent, new Driven(agent.state.durable).wake()]) {
      driven.answer(told({ deliveries: [late] })).wake();
      expect(driven.beat).toMatchObject({
        held: { master: { step: 2 } },
        refused: [{ secret: 'master', reason: 'delivery_unknown_hub_key' }],
      });
    }
  });

  it('does not make a host beat without a pause when there is a new one each time', () => {
    const agent = beating();
    const waits: number[] = [];
    for (let step = 2; step < 8; step += 1) {
      agent.answer(told({ nextBeatMs: 5_000, deliveries: [delivery(assignment({ step }))] })).on({ type: 'persisted' });
      if (agent.effect.type === 'wake_at') {
        waits.push(agent.waitMs);
        agent.wake();
      }
    }
    expect(waits.length).toBeGreaterThanOrEqual(3);
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(1_000);
  });
});

describe('a disk that takes nothing', () => {
  it.each(['disk_full', 'state_unwritable'] as const)(
    'keeps the old state in force, says %s, and converges when it does again',
    (code) => {
      const agent = beating().answer(told({ deliveries: [delivery(step2)] }));
      agent.on({ type: 'persist_failed', code, cause: 'ENOSPC' });
      expect(agent.state.durable.assignments.get('master')?.step).toBe(1);
      expect(agent.waitMs).toBe(10_000);
      expect(agent.wake().beat).toMatchObject({
        held: { master: { step: 1 } },
        refused: [{ secret: 'master', reason: code }],
      });
      expect(agent.bearer).toBe(bearer(1));
      expect(describeAgent(agent.state).problems[0]).toMatchObject({ code });
      agent.answer(told({ deliveries: [delivery(step2)] })).on({ type: 'persisted' });
      expect(agent.beat).toMatchObject({ held: { master: { step: 2 } }, refused: [] });
      expect(describeAgent(agent.state).problems).toEqual([]);
    },
  );

  it('at first boot keeps the host silent: nothing is said before its key is durable', () => {
    const agent = new Driven(undefined, { enrolment: enrolment() });
    const fingerprint = agent.state.durable.wrapKeys[0]?.public.fingerprint;
    const waits: number[] = [];
    for (let at = 0; at < 5; at += 1) {
      agent.on({ type: 'persist_failed', code: 'disk_full', cause: 'ENOSPC' });
      waits.push(agent.waitMs);
      agent.wake();
      expect(agent.effect.type).toBe('persist');
    }
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(1_000);
    agent.on({ type: 'persisted' });
    expect(agent.effect.type).toBe('post_enrol');
    expect(agent.state.durable.wrapKeys[0]?.public.fingerprint).toBe(fingerprint);
  });

  it('does not silence an identity that has a new token to redeem, nor make it hurry', () => {
    const agent = new Driven(durableState(), { enrolment: enrolment() }).wake();
    expect(agent.effect.type).toBe('persist');
    agent.on({ type: 'persist_failed', code: 'disk_full', cause: 'ENOSPC' });
    expect(agent.effect.type).toBe('post_heartbeat');
    agent
      .answer(told({ deliveries: [delivery(step2)] }))
      .on({ type: 'persist_failed', code: 'disk_full', cause: 'ENOSPC' });
    expect(agent.waitMs).toBe(10_000);
    expect(agent.wake().effect.type).toBe('persist');
    expect(agent.on({ type: 'persisted' }).effect.type).toBe('post_enrol');
  });
});

const failures: readonly (readonly [string, AgentEvent, ErrorCode, string])[] = [
  ['401', answered(401), 'unauthenticated', 'unauthenticated'],
  ['403', answered(403), 'host_mismatch', 'host_mismatch'],
  ['429', answered(429), 'too_many_requests', 'too_many_requests'],
  ['500', answered(500), 'unavailable', 'unavailable'],
  ['503', answered(503), 'unavailable', 'unavailable'],
  ['a redirect', answered(307), 'hub_answer_unusable', 'hub_answer_unusable'],
  [
    'an answer that is no JSON',
    { type: 'answered', answer: { status: 200, headers: {}, body: utf8('<html>') } },
    'hub_answer_unusable',
    'hub_answer_unusable',
  ],
  [
    'an answer that lacks something',
    { type: 'answered', answer: { status: 200, headers: {}, body: utf8('{}') } },
    'hub_answer_unusable',
    'hub_answer_unusable',
  ],
  ['a reset', { type: 'failed', code: 'hub_unreachable', cause: 'ECONNRESET' }, 'hub_unreachable', 'unreachable'],
  ['a hang', { type: 'failed', code: 'hub_timeout', cause: '' }, 'hub_timeout', 'unreachable'],
  ['an impostor', { type: 'failed', code: 'hub_untrusted', cause: 'not_the_hub' }, 'hub_untrusted', 'hub_untrusted'],
  ['a fault of the transport', { type: 'failed', code: 'internal', cause: 'TypeError' }, 'internal', 'internal'],
];

function answered(status: number): AgentEvent {
  return { type: 'answered', answer: { status, headers: {}, body: utf8('x') } };
}

describe.each(failures)('after %s', (_what, event, code, counted) => {
  it('it backs off with jitter, never faster than once a second, up to the cap, and keeps its identity', () => {
    const agent = beating();
    const before = agent.state.durable;
    const waits: number[] = [];
    for (let at = 0; at < 12; at += 1) {
      agent.on(event);
      waits.push(agent.waitMs);
      agent.wake();
      expect(agent.effect.type).toBe('post_heartbeat');
    }
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(1_000);
    expect(Math.max(...waits)).toBeLessThanOrEqual(limits.backoffMaxMs);
    expect(waits.at(-1)).toBeGreaterThan(limits.backoffMaxMs / 4);
    expect(new Set(waits).size).toBeGreaterThan(8);
    expect(agent.state.durable).toBe(before);
    expect(agent.state.heartbeats.get(counted)).toBe(12);
    expect(describeAgent(agent.state).problems[0]).toMatchObject({ code });
    // The control: one good answer, and it is as before.
    agent.answer(told());
    expect(agent.waitMs).toBe(10_000);
    expect(describeAgent(agent.state)).toMatchObject({ problems: [], hubReachable: true });
  });
});

describe('a failing hub', () => {
  it('is asked at its next address, unless every address would say the same', () => {
    const agent = beating().on({ type: 'failed', code: 'hub_unreachable', cause: 'ECONNREFUSED' });
    expect(agent.wake().request.url).toBe(hubs[1]);
    expect(agent.on(answered(401)).wake().request.url).toBe(hubs[1]);
    expect(agent.on(answered(503)).wake().request.url).toBe(hubs[0]);
  });

  it('is waited for as long as it asks, within the cap', () => {
    const agent = beating().answer({}, 429, { 'retry-after': '30' });
    expect(agent.waitMs).toBe(30_000);
    agent.wake().answer({}, 503, { 'retry-after': '86400' });
    expect(agent.waitMs).toBe(limits.backoffMaxMs);
  });

  it('that knows only the other accepted version is shown that one', () => {
    const agent = beating({ assignments: new Map([['master', assignment({ versions: [2, 1] })]]) });
    expect(agent.bearer).toBe(bearer(2));
    agent.on(answered(401)).wake().on(answered(401)).wake();
    expect(agent.bearer).toBe(bearer(1));
    expect(agent.answer(told()).wake().bearer).toBe(bearer(1));
    expect(describeAgent(agent.state).presents).toEqual({ secret: 'master', version: 1 });
    const next = assignment({ step: 2, versions: [2, 1] });
    expect(agent.answer(told({ deliveries: [delivery(next)] })).on({ type: 'persisted' }).bearer).toBe(bearer(2));
  });
});

describe('a statement of the hub’s TLS keys', () => {
  const key = (n: number) => new Uint8Array(32).fill(n);
  const at = (second: number) => `2026-03-01T12:00:${String(second).padStart(2, '0')}Z`;

  it('is taken, written, and not followed by a beat at once', () => {
    const agent = beating().answer(told({ statements: [tlsSpkiStatement(at(1), key(1), { next: key(2) })] }));
    expect(agent.effect.type).toBe('persist');
    agent.on({ type: 'persisted' });
    expect(agent.waitMs).toBe(10_000);
    expect(agent.state.durable.knownSpki).toEqual([key(1), key(2)]);
    expect(agent.wake().request.judge).toMatchObject({ knownSpki: [key(1), key(2)] });
  });

  it('that says the same again costs no write', () => {
    const agent = beating()
      .answer(told({ statements: [tlsSpkiStatement(at(1), key(1))] }))
      .on({ type: 'persisted' })
      .wake();
    agent.answer(told({ statements: [tlsSpkiStatement(at(2), key(1))] }));
    expect(agent.effect.type).toBe('wake_at');
  });

  it('is taken at rising times only, across a restart too', () => {
    const agent = beating()
      .answer(told({ statements: [tlsSpkiStatement(at(5), key(5))] }))
      .on({ type: 'persisted' })
      .wake();
    for (const driven of [agent, new Driven(agent.state.durable).wake()]) {
      for (const old of [at(5), at(4)]) {
        driven.answer(told({ statements: [tlsSpkiStatement(old, key(4))] }));
        expect(driven.state.durable.knownSpki).toEqual([key(5)]);
        driven.wake();
      }
      driven.answer(told({ statements: [tlsSpkiStatement(at(6), key(6))] })).on({ type: 'persisted' });
      expect(driven.state.durable.knownSpki).toEqual([key(6)]);
    }
  });

  it('of a restored hub counts by its epoch first', () => {
    const agent = beating()
      .answer(told({ statements: [tlsSpkiStatement(at(5), key(5))] }))
      .on({ type: 'persisted' })
      .wake();
    agent.answer(told({ statements: [tlsSpkiStatement(at(1), key(1), { epoch: 2 })] })).on({ type: 'persisted' });
    expect(agent.state.durable.knownSpki).toEqual([key(1)]);
    agent.wake().answer(told({ statements: [tlsSpkiStatement(at(9), key(9), { epoch: 1 })] }));
    expect(agent.state.durable.knownSpki).toEqual([key(1)]);
  });

  it('of a new hub key ends the former one', () => {
    const agent = beating().answer(told({ statements: [tlsSpkiStatement(at(1), key(1), { signer: nextHubKey })] }));
    agent.on({ type: 'persisted' }).wake();
    agent.answer(told({ statements: [tlsSpkiStatement(at(2), key(2))] }));
    expect(agent.state.durable.knownSpki).toEqual([key(1)]);
    expect(agent.logs.map(({ fields }) => fields?.['code'])).toEqual(['unknown_hub_key']);
  });

  it('that is not the hub’s changes nothing, and neither does one that says nothing to this host', () => {
    const forged = { ...(tlsSpkiStatement(at(1), key(1)) as Record<string, JsonValue>), time: at(2) };
    const agent = beating().answer(told({ statements: [forged, {}, 7] }));
    expect(agent.effect.type).toBe('wake_at');
    expect(agent.logs.map(({ fields }) => fields?.['code'])).toEqual([
      'bad_signature',
      'statement_malformed',
      'statement_malformed',
    ]);
  });
});

describe('enrolment', () => {
  const given = enrolment();
  const root = makeAuthority().certificateDer;
  const bundle = { keys: [{ kty: 'EC', use: 'x509-svid', x5c: [Buffer.from(root).toString('base64')] }] };

  it('is asked over a connection judged by the key of the token, with no bearer, and only once its proof is durable', () => {
    const agent = new Driven(undefined, { enrolment: given });
    expect(agent.effect.type).toBe('persist');
    agent.on({ type: 'persisted' });
    expect(agent.effect.type).toBe('post_enrol');
    expect(agent.request).toMatchObject({ path: '/v1/enrol', judge: { kind: 'spki', spki: [spki] } });
    expect(Object.keys(agent.request.headers)).not.toContain('authorization');
  });

  it('is repeated with the same bytes until it is answered, across restarts', () => {
    const agent = new Driven(undefined, { enrolment: given }).on({ type: 'persisted' });
    const first = agent.request.body;
    expect(agent.on({ type: 'failed', code: 'hub_timeout', cause: '' }).wake().request.body).toEqual(first);
    const restarted = new Driven(agent.state.durable, { enrolment: given }).wake();
    expect(restarted.request.body).toEqual(first);
    expect(new Driven(agent.state.durable).wake().request.body).toEqual(first);
  });

  it('that is refused goes on asking where there is no other identity, slower and slower', () => {
    const agent = new Driven(undefined, { enrolment: given }).on({ type: 'persisted' });
    const waits = Array.from({ length: 8 }, () => {
      const { waitMs } = agent.on(answered(401));
      expect(agent.wake().effect.type).toBe('post_enrol');
      return waitMs;
    });
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(1_000);
    expect(waits.at(-1)).toBeGreaterThan(10_000);
    expect(describeAgent(agent.state).problems[0]).toMatchObject({ code: 'enrolment_refused' });
  });

  it('that is refused leaves a valid identity in use, and says so', () => {
    const agent = new Driven(durableState(), { enrolment: given }).wake().on({ type: 'persisted' });
    expect(agent.effect.type).toBe('post_enrol');
    agent.on(answered(401)).wake();
    expect(agent.bearer).toBe(bearer(1));
    agent.answer(told());
    expect(agent.wake().effect.type).toBe('post_heartbeat');
    expect(describeAgent(agent.state).problems).toMatchObject([{ code: 'enrolment_refused' }]);
  });

  it('takes turns with the heartbeats of a valid identity while the hub cannot answer it', () => {
    const agent = new Driven(durableState(), { enrolment: given }).wake().on({ type: 'persisted' });
    const asked: string[] = [];
    for (let at = 0; at < 6; at += 1) {
      asked.push(agent.effect.type);
      if (agent.effect.type === 'post_enrol') agent.on(answered(503));
      else agent.answer(told());
      agent.wake();
    }
    expect(asked).toEqual([
      'post_enrol',
      'post_heartbeat',
      'post_enrol',
      'post_heartbeat',
      'post_enrol',
      'post_heartbeat',
    ]);
  });

  it('is not over with an answer that brings no bearer', () => {
    const agent = new Driven(undefined, { enrolment: given }).on({ type: 'persisted' });
    agent.answer({ trustDomain, bundle, deliveries: [] });
    expect(agent.state.problem).toBe('hub_answer_unusable');
    expect(agent.wake().effect.type).toBe('post_enrol');
    expect(agent.state.durable.redeemed).toEqual([]);
    const refused = delivery(step2, { recipient: generateWrapKey(random).public });
    agent.answer({ trustDomain, bundle, deliveries: [refused] });
    expect(agent.state.problem).toBe('delivery_unknown_recipient');
    const [pair] = agent.state.durable.wrapKeys;
    const brought = delivery(step2, { recipient: pair?.public as WrapPublicKey });
    agent.wake().answer({ trustDomain: 'other.example', bundle, deliveries: [brought] });
    expect(agent.state.problem).toBe('hub_answer_unusable');
    // The control.
    agent
      .wake()
      .answer({ trustDomain, bundle, deliveries: [brought] })
      .on({ type: 'persisted' });
    expect(agent.beat.held).toEqual({ master: { epoch: 1, step: 2 } });
    expect(agent.state.durable).toMatchObject({ redeemed: [given.digest], roots: [root] });
  });
});

describe('a host of an older fleet', () => {
  const fleet: Given = {
    host,
    hubRoot: { trustDomain, root: hubRoot.public, spki: [spki], hubs },
    master: new SecretBytes('master', masters[1] as Uint8Array),
  };

  it('shows its bearer to no one before it has the trust bundle, and then presents what its master derives', () => {
    const agent = new Driven(undefined, fleet).on({ type: 'persisted' });
    expect(agent.effect.type).toBe('fetch_trust_bundle');
    expect(agent.request).toMatchObject({
      method: 'GET',
      path: '/v1/trust-bundle',
      judge: { kind: 'spki', spki: [spki] },
    });
    expect(JSON.stringify(agent.request.headers)).not.toContain('rcb_');
    const fetched = { ...agent.state.durable, roots: [Uint8Array.of(1)] };
    const known = new Driven(fetched, fleet).wake();
    expect(known.bearer).toBe(bearer(1));
    expect(known.request.judge.kind).toBe('chain');
    expect(describeAgent(known.state).presents).toEqual({ secret: 'master', version: null });
  });

  it('presents what it was assigned as soon as it is', () => {
    const first = new Driven(undefined, fleet).state.durable;
    const agent = new Driven(
      { ...first, roots: [Uint8Array.of(1)], wrapKeys: [wrapKey] },
      { ...fleet, life: 5 },
    ).wake();
    expect(describeAgent(agent.state)).toMatchObject({ life: 5, presents: { version: null } });
    agent.answer(told({ deliveries: [delivery(assignment({ versions: [2] }))] })).on({ type: 'persisted' });
    expect(agent.bearer).toBe(bearer(2));
    // The life is then what the keys were derived for, whatever an operator had said.
    expect(describeAgent(agent.state)).toMatchObject({ life: 1, presents: { version: 2 } });
  });
});

describe('what the hub says of the pin', () => {
  it.each([
    ['pinned', []],
    ['none', ['pin_missing']],
    ['not_accepted', ['pin_missing']],
    ['pending', ['pin_contested']],
    ['unusable', ['pin_unusable']],
  ])('%s shows as %s, with what to do', (pin, codes) => {
    const { problems } = describeAgent(beating().answer(told({ pin })).state);
    expect(problems.map(({ code }) => code)).toEqual(codes);
    for (const { hint } of problems) expect(hint).not.toBe('');
  });
});
