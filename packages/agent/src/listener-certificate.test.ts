/** How an agent comes by the certificate of its listener, by enrolment and by proof of its key, and what it refuses. */
import { decodeBase64url, encodeBase64url, utf8 } from '@rollcall/core/bytes';
import { enrolmentKey, verifyEnrolmentProof } from '@rollcall/core/keys';
import { limits } from '@rollcall/core/limits';
import {
  type AcceptedVersion,
  generateWrapKey,
  type MasterValue,
  sealChallenge,
  verifyAnswer,
  type WrapPublicKey,
} from '@rollcall/core/seal';
import type { CertificateBody, EnrolBody } from '@rollcall/wire';
import { createAuthority, listenerId } from '@rollcall/x509';
import { describe, expect, it } from 'vitest';
import { makeListenerRequest } from './adapters/listener-key.ts';
import type { AgentEvent, AgentState, Effect, LogAction, Moment } from './agent-state.ts';
import { describeAgent } from './agent-status.ts';
import {
  assignment,
  delivery,
  durableState,
  enrolment,
  host,
  random,
  seededRandom,
  trustDomain,
  wrapKey,
} from './fleet.fixture.ts';
import { certified, HOUR_MS, issueFor, newRequest } from './listener.fixture.ts';
import { decideStart, type Given } from './start.ts';
import type { DurableState } from './state/durable-state.ts';
import { encodeDurableState, parseDurableState } from './state/durable-state.ts';
import { tick } from './tick.ts';
import { generateKeyPair, makeAuthority } from './tls-hub.fixture.ts';

const START_MS = Date.parse('2026-03-01T12:00:00Z');
const authority = createAuthority({
  trustDomain,
  commonName: 'Fleet root',
  generateKeyPair,
  random,
  nowMs: START_MS - 100 * 24 * HOUR_MS,
  lifeMs: 1_000 * 24 * HOUR_MS,
});
const roots = [authority.certificateDer];
const enrolled = (changes: Partial<DurableState> = {}) => durableState({ roots, ...changes });

const wholeSeconds = (ms: number) => Math.floor(ms / 1_000) * 1_000;

/** An agent with a listener under a hand-held clock. */
class Driven {
  state: AgentState;
  effect!: Effect;
  logs: readonly LogAction[] = [];
  monotonicMs = 1_000_000;
  wallMs = START_MS;
  isListening: boolean;
  readonly #random = seededRandom('listener');

  constructor(loaded: DurableState | undefined, given: Given = {}, isListening = true) {
    this.isListening = isListening;
    this.state = decideStart(loaded, isListening ? { ...given, makeListenerRequest } : given, random);
    this.on({ type: 'started' });
  }

  on(event: AgentEvent): this {
    const now: Moment = {
      wallMs: this.wallMs,
      monotonicMs: this.monotonicMs,
      random: this.#random,
      ...(this.isListening ? { makeListenerRequest } : {}),
    };
    const { state, actions } = tick(this.state, now, event);
    this.state = state;
    this.logs = actions.slice(0, -1) as LogAction[];
    this.effect = actions.at(-1) as Effect;
    return this;
  }

  pass(ms: number): this {
    this.monotonicMs += ms;
    this.wallMs += ms;
    return this;
  }

  get waitMs(): number {
    if (this.effect.type !== 'wake_at') throw new Error(`not waiting but ${this.effect.type}`);
    return this.effect.monotonicMs - this.monotonicMs;
  }

  wake(): this {
    return this.pass(this.waitMs).on({ type: 'woken' });
  }

  /** The disk takes it. What is written must be readable. */
  persisted(): this {
    if (this.effect.type !== 'persist') throw new Error(`not writing but ${this.effect.type}`);
    parseDurableState(encodeDurableState(this.effect.next));
    return this.on({ type: 'persisted' });
  }

  answer(body: unknown, status = 200): this {
    return this.on({ type: 'answered', answer: { status, headers: {}, body: utf8(JSON.stringify(body)) } });
  }

  beat(): this {
    expect(this.effect.type).toBe('post_heartbeat');
    return this.answer({ nextBeatMs: 10_000, pin: { state: 'pinned' }, deliveries: [], statements: [] });
  }

  /** Lets it beat until it asks for something else. */
  until(type: Effect['type'], atMost = 20_000): this {
    for (let count = 0; count < atMost && this.effect.type !== type; count += 1) {
      if (this.effect.type === 'wake_at') this.wake();
      else this.beat();
    }
    expect(this.effect.type).toBe(type);
    return this;
  }

  body<T>(): T {
    if (!('request' in this.effect)) throw new Error(`not asking but ${this.effect.type}`);
    return JSON.parse(Buffer.from(this.effect.request.body ?? []).toString()) as T;
  }

  get asked() {
    return this.state.durable.listener?.asked;
  }

  get current() {
    return this.state.durable.listener?.current;
  }

  /** The hub challenges the key, and gets the right answer. */
  challenged(recipient: WrapPublicKey = wrapKey.public, purpose: 'certificate' | 'recovery' = 'certificate'): this {
    expect(this.effect.type).toBe('post_challenge');
    const nonce = random(32);
    const id = random(24);
    const challenge = sealChallenge({ host, purpose, recipient, id, nonce, random });
    this.answer({ challenge });
    if (this.effect.type !== 'post_certificate') return this;
    const { answer, csr, use, id: answered } = this.body<CertificateBody>();
    expect(answered).toBe(encodeBase64url(id));
    verifyAnswer(decodeBase64url(answer) as Uint8Array, {
      nonce,
      host,
      subject: { purpose: 'certificate', csr: decodeBase64url(csr) as Uint8Array, csrUse: use },
    });
    return this;
  }

  /** The hub issues what is asked for, but for what is changed. */
  issued(changes: Partial<Parameters<typeof issueFor>[2]> = {}, by = authority): this {
    expect(this.effect.type).toBe('post_certificate');
    const csr = decodeBase64url(this.body<CertificateBody>().csr) as Uint8Array;
    const leaf = issueFor(csr, by, { nowMs: this.wallMs, ...changes });
    return this.answer({ certificate: [encodeBase64url(leaf)] });
  }
}

/** An agent that has just obtained a certificate, before its next beat. */
function obtained(): Driven {
  return new Driven(enrolled()).wake().persisted().challenged().issued().persisted();
}

describe('a host with a listener and no certificate', () => {
  it('makes a key, writes it, and only then asks: challenge, proof, certificate, write', () => {
    const agent = new Driven(enrolled()).wake();
    expect(agent.effect).toMatchObject({ type: 'persist', next: { listener: { asked: {} } } });
    agent.persisted();
    const { asked } = agent;
    expect(agent.body()).toEqual({ host, purpose: 'certificate' });
    agent.challenged();
    expect(agent.body<CertificateBody>()).toMatchObject({
      host,
      use: 'listener',
      csr: encodeBase64url(asked?.csr as Uint8Array),
      sentAt: new Date(agent.wallMs).toISOString(),
    });
    agent.issued();
    expect(agent.current).toBeUndefined();
    agent.persisted();
    expect(agent.current).toMatchObject({ life: 1, notAfterMs: wholeSeconds(agent.wallMs + 24 * HOUR_MS) });
    expect(agent.current?.privateKey.reveal()).toEqual(asked?.privateKey.reveal());
    expect(agent.asked).toBeUndefined();
    agent.beat();
    expect(agent.waitMs).toBe(10_000);
  });

  it('sends no bearer with it, and judges the hub by its chain', () => {
    const agent = new Driven(enrolled()).wake().persisted();
    for (const type of ['post_challenge', 'post_certificate']) {
      expect(agent.effect.type).toBe(type);
      const { request } = agent.effect as Extract<Effect, { request: unknown }>;
      expect(request.headers).not.toHaveProperty('authorization');
      expect(request.judge).toMatchObject({ kind: 'chain', roots });
      if (type === 'post_challenge') agent.challenged();
    }
  });

  it('goes on with the key that it had made when it was cut off', () => {
    const asked = newRequest();
    const agent = new Driven(enrolled({ listener: { asked } })).wake();
    agent.challenged();
    expect(agent.body<CertificateBody>().csr).toBe(encodeBase64url(asked.csr));
  });

  it('first learns whom to believe', () => {
    const agent = new Driven(durableState({ roots: [] })).wake();
    expect(agent.effect.type).toBe('fetch_trust_bundle');
  });
});

describe('a host without a listener', () => {
  it('asks for nothing, also where it once had one', () => {
    for (const listener of [{}, { current: certified(authority, START_MS - 48 * HOUR_MS) }, { asked: newRequest() }]) {
      const agent = new Driven(enrolled({ listener }), {}, false).wake();
      for (let count = 0; count < 20; count += 1) agent.beat().wake();
      expect(agent.state.durable.listener).toEqual(listener);
    }
  });
});

describe('a certificate is refused and not written', () => {
  it.each<[string, string, (agent: Driven) => void]>([
    ['of another host', 'listener_untrusted', (agent) => agent.issued({ uri: listenerId(trustDomain, 'agent-12') })],
    ['of the hub', 'listener_untrusted', (agent) => agent.issued({ uri: `spiffe://${trustDomain}/hub` })],
    ['for the other side', 'listener_untrusted', (agent) => agent.issued({ usage: 'clientAuth' })],
    ['of another authority', 'listener_untrusted', (agent) => agent.issued({ nowMs: Date.now() }, makeAuthority())],
    [
      'over another key',
      'listener_untrusted',
      (agent) => agent.issued({ subjectPublicKey: generateKeyPair().publicKey }),
    ],
    [
      'that has ended',
      'listener_untrusted',
      (agent) => agent.issued({ nowMs: START_MS - 2 * HOUR_MS, lifeMs: HOUR_MS }),
    ],
    ['that is none', 'hub_answer_unusable', (agent) => agent.answer({ certificate: 'x' })],
    ['in an empty chain', 'listener_untrusted', (agent) => agent.answer({ certificate: [] })],
    ['of bytes that are no certificate', 'listener_untrusted', (agent) => agent.answer({ certificate: ['AAAA'] })],
  ])('%s', (_what, code, act) => {
    const agent = new Driven(enrolled()).wake().persisted().challenged();
    const { asked } = agent;
    act(agent);
    expect(agent.current).toBeUndefined();
    expect(agent.asked).toBe(asked);
    expect(describeAgent(agent.state).problems.map((problem) => problem.code)).toContain(code);
    // And the next one, which is right, is taken.
    agent.wake().until('post_challenge').challenged().issued().persisted();
    expect(agent.current).toBeDefined();
    expect(describeAgent(agent.state).problems).toEqual([]);
  });

  it.each([
    ['to another key', () => generateWrapKey(random).public, 'certificate' as const],
    ['for another purpose', () => wrapKey.public, 'recovery' as const],
  ])('nor is a challenge answered that is sealed %s', (_what, recipient, purpose) => {
    const agent = new Driven(enrolled()).wake().persisted().challenged(recipient(), purpose);
    expect(agent.effect.type).toBe('wake_at');
    expect(agent.state.certificate.problem).toBe('challenge_unopenable');
    agent.wake().until('post_challenge').challenged();
    expect(agent.effect.type).toBe('post_certificate');
  });
});

describe('renewal', () => {
  it('happens at half of the life, a tenth more or less, with a new key, and keeps the old one until then', () => {
    const agent = obtained();
    const first = agent.current;
    const sinceMs = agent.monotonicMs;
    agent.until('persist');
    const share = (agent.monotonicMs - sinceMs) / (24 * HOUR_MS + limits.certificateBackdateMs);
    expect(share).toBeGreaterThan(0.4);
    expect(share).toBeLessThan(0.61);
    agent.persisted();
    expect(agent.current).toBe(first);
    agent.challenged();
    expect(agent.current).toBe(first);
    agent.issued();
    expect(agent.current).toBe(first);
    agent.persisted();
    expect(agent.current).not.toBe(first);
    expect(agent.current?.privateKey.reveal()).not.toEqual(first?.privateKey.reveal());
    agent.beat();
    expect(agent.waitMs).toBe(10_000);
  });

  it('is due after a start, where the certificate has aged while the host was off', () => {
    const fresh = new Driven(enrolled({ listener: { current: certified(authority, START_MS) } })).wake();
    expect(fresh.effect.type).toBe('post_heartbeat');
    for (const agedMs of [15 * HOUR_MS, 1_000 * HOUR_MS].filter((ms) => ms < 24 * HOUR_MS)) {
      const agent = new Driven(enrolled({ listener: { current: certified(authority, START_MS - agedMs) } })).wake();
      expect(agent.effect.type).toBe('persist');
    }
  });

  it('is not asked for again and again by a clock that has jumped', () => {
    const agent = obtained();
    agent.wallMs += 10_000 * HOUR_MS;
    agent.beat().wake();
    for (let count = 0; count < 50; count += 1) agent.beat().wake();
    expect(agent.effect.type).toBe('post_heartbeat');
    // And one that is set back delays nothing.
    agent.wallMs -= 20_000 * HOUR_MS;
    agent
      .beat()
      .pass(15 * HOUR_MS)
      .on({ type: 'woken' });
    expect(agent.effect.type).toBe('persist');
  });

  it('is due at once in another life of the host', () => {
    const agent = obtained();
    const next = assignment({ step: 2 });
    const { keys } = (next.accept[0] as AcceptedVersion).value as MasterValue;
    const inLife2 = { ...next, accept: [{ version: 1, value: { life: 2, keys } }] };
    agent.answer({
      nextBeatMs: 10_000,
      pin: { state: 'pinned' },
      deliveries: [delivery(inLife2)],
      statements: [],
    });
    agent.persisted();
    expect(agent.effect).toMatchObject({ type: 'persist', next: { listener: { asked: {} } } });
    agent.persisted().until('post_challenge').challenged().issued().persisted();
    expect(agent.current?.life).toBe(2);
    for (let count = 0; count < 20; count += 1) agent.beat().wake();
    expect(agent.effect.type).toBe('post_heartbeat');
  });
});

describe('failures', () => {
  it.each([
    ['the refusal', 401, 'certificate_refused'],
    ['too many requests', 429, 'too_many_requests'],
    ['a hub that cannot tell', 503, 'unavailable'],
    ['a hub of before', 404, 'not_found'],
  ])('%s delays no heartbeat by more than the pace of attempts, and backs off', (_what, status, code) => {
    const agent = new Driven(enrolled()).wake().persisted();
    const attemptsAtMs: number[] = [];
    let lastBeatMs = agent.monotonicMs;
    let widestMs = 0;
    while (agent.monotonicMs < 1_000_000 + 2 * HOUR_MS) {
      if (agent.effect.type === 'post_challenge') {
        agent.challenged();
        attemptsAtMs.push(agent.monotonicMs);
        agent.answer({}, status);
        expect(agent.state.certificate.problem).toBe(code);
        expect(agent.waitMs).toBeGreaterThanOrEqual(1_000);
      } else if (agent.effect.type === 'post_heartbeat') {
        widestMs = Math.max(widestMs, agent.monotonicMs - lastBeatMs);
        lastBeatMs = agent.monotonicMs;
        agent.beat();
      } else agent.wake();
    }
    expect(widestMs).toBeLessThanOrEqual(12_000);
    const pauses = attemptsAtMs.slice(1).map((at, index) => at - (attemptsAtMs[index] as number));
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(1_000);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(limits.certificateRetryMaxMs + 12_000);
    expect(attemptsAtMs.length).toBeLessThan(40);
    expect(attemptsAtMs.length).toBeGreaterThan(10);
    expect(agent.asked).toBeDefined();
  });

  it('of the way to the hub are tried at another address', () => {
    const agent = new Driven(enrolled()).wake().persisted();
    const url = () => (agent.effect as Extract<Effect, { request: unknown }>).request.url;
    const first = url();
    agent.on({ type: 'failed', code: 'hub_unreachable', cause: 'ECONNREFUSED' });
    expect(agent.state.hubReachable).toBe(false);
    agent.wake();
    expect([agent.effect.type, url() === first]).toEqual(['post_heartbeat', false]);
  });

  it('of the disk silence no host: neither for the key nor for the certificate', () => {
    const full = { type: 'persist_failed', code: 'disk_full', cause: 'ENOSPC' } as const;
    const agent = new Driven(enrolled()).wake();
    for (let count = 0; count < 20; count += 1) {
      while (agent.effect.type !== 'persist') {
        if (agent.effect.type === 'wake_at') agent.wake();
        else agent.beat();
      }
      agent.on(full);
      expect(agent.asked).toBeUndefined();
      agent.wake();
      expect(agent.effect.type).toBe('post_heartbeat');
    }
    agent.until('persist').persisted().challenged().issued();
    agent.on(full);
    expect(agent.current).toBeUndefined();
    agent.wake();
    expect(agent.effect.type).toBe('post_heartbeat');
    agent.until('post_challenge').challenged().issued().persisted();
    expect(agent.current).toBeDefined();
  });

  it('are errors in the log once three quarters of the life are over, and warnings before', () => {
    const agent = obtained();
    agent.until('persist').persisted();
    const levels: string[] = [];
    while (agent.wallMs < START_MS + 20 * HOUR_MS) {
      if (agent.effect.type === 'post_challenge') {
        agent.answer({}, 503);
        levels.push(agent.logs.at(-1)?.level ?? '');
      } else if (agent.effect.type === 'wake_at') agent.wake();
      else agent.beat();
    }
    expect([levels[0], levels.at(-1)]).toEqual(['warn', 'error']);
    expect(levels.indexOf('error')).toBeGreaterThan(1);
    expect(levels.slice(levels.indexOf('error')).every((level) => level === 'error')).toBe(true);
    agent.until('post_challenge').challenged().issued().persisted();
    expect(agent.current?.notAfterMs).toBeGreaterThan(START_MS + 30 * HOUR_MS);
  });
});

describe('with an enrolment', () => {
  const token = enrolment();
  const given: Given = { enrolment: token };
  const bundle = () => ({
    keys: [{ use: 'x509-svid', x5c: [Buffer.from(authority.certificateDer).toString('base64')] }],
  });

  /** Answers the enrolment that is being asked for. */
  function answered(agent: Driven, certificate?: readonly Uint8Array[]): Driven {
    const recipient = agent.state.durable.wrapKeys[0]?.public as WrapPublicKey;
    return agent.answer({
      trustDomain,
      bundle: bundle(),
      deliveries: [delivery(assignment(), { recipient })],
      ...(certificate === undefined ? {} : { certificate: certificate.map(encodeBase64url) }),
    });
  }

  it('asks in the same request, which the proof binds, and has key, request and proof on the disk before', () => {
    const agent = new Driven(undefined, given);
    const { next } = agent.effect as Extract<Effect, { type: 'persist' }>;
    expect(next.enrolment?.csr).toEqual(next.listener?.asked?.csr);
    agent.persisted();
    const body = agent.body<EnrolBody>();
    expect(body.use).toBe('listener');
    const csr = decodeBase64url(body.csr ?? '') as Uint8Array;
    expect(csr).toEqual(agent.asked?.csr);
    verifyEnrolmentProof(
      enrolmentKey(token.token.secret),
      {
        host,
        wrapPublic: decodeBase64url(body.wrapKey.public) as Uint8Array,
        instance: decodeBase64url(body.instance) as Uint8Array,
        csr,
        csrUse: 'listener',
      },
      decodeBase64url(body.proof) as Uint8Array,
    );
    answered(agent, [issueFor(csr, authority, { nowMs: agent.wallMs })]).persisted();
    expect(agent.current?.life).toBe(1);
    expect(agent.asked).toBeUndefined();
    agent.beat();
    expect(agent.waitMs).toBe(10_000);
  });

  it('repeats the very same request after a crash', () => {
    const agent = new Driven(undefined, given).persisted();
    const again = new Driven(agent.state.durable, given).wake();
    expect(again.body()).toEqual(agent.body());
  });

  it.each<[string, (csr: Uint8Array) => readonly Uint8Array[] | undefined]>([
    ['none', () => undefined],
    [
      'another host’s',
      (csr) => [issueFor(csr, authority, { nowMs: START_MS, uri: listenerId(trustDomain, 'agent-8') })],
    ],
    ['one over another key', () => [issueFor(newRequest().csr, authority, { nowMs: START_MS })]],
  ])('that brings %s is an enrolment all the same, and it is asked for by proof', (_what, certificate) => {
    const agent = new Driven(undefined, given).persisted();
    const csr = agent.asked?.csr as Uint8Array;
    answered(agent, certificate(csr)).persisted();
    expect(agent.current).toBeUndefined();
    expect(agent.state.durable.assignments.has('master')).toBe(true);
    const own = agent.state.durable.wrapKeys[0]?.public as WrapPublicKey;
    agent.until('post_challenge').challenged(own);
    expect(agent.body<CertificateBody>().csr).toBe(encodeBase64url(csr));
    agent.issued().persisted();
    expect(agent.current).toBeDefined();
  });

  it('that begins another life ends the certificate of the one before', () => {
    const current = certified(authority, START_MS);
    const agent = new Driven(enrolled({ listener: { current } }), given).wake().persisted();
    expect(agent.effect.type).toBe('post_enrol');
    expect(agent.current).toBe(current);
    agent.answer({ trustDomain, bundle: bundle(), deliveries: [delivery(assignment({ step: 2 }))] }).persisted();
    expect(agent.current).toBeUndefined();
    expect(agent.effect.type).toBe('persist');
  });

  it('without a listener asks for none', () => {
    const agent = new Driven(undefined, given, false).persisted();
    expect(agent.body()).not.toHaveProperty('csr');
    expect(agent.state.durable).not.toHaveProperty('listener');
  });
});
