/** For tests: the least of a hub that an agent can tell from a real one. One host, real proofs, real seals. */
import { timingSafeEqual } from 'node:crypto';
import { decodeBase64url, decodeUtf8, encodeBase64url, encodeHex, utf8 } from '@rollcall/core/bytes';
import { encodeToken, enrolmentKey, verifyEnrolmentProof } from '@rollcall/core/keys';
import type { TransportAnswer } from '@rollcall/core/ports';
import { type Assignment, parseWrapPublicKey, type WrapPublicKey } from '@rollcall/core/seal';
import type { EnrolBody, HeartbeatBody } from '@rollcall/wire';
import { assignment, delivery, enrolment, heartbeatKey, trustDomain } from './fleet.fixture.ts';

export interface Asked {
  readonly path: string;
  readonly authorization?: string | undefined;
  readonly body: Uint8Array;
}

export class FakeHub {
  readonly token: ReturnType<typeof enrolment>;
  readonly root: Uint8Array;
  nextBeatMs = 200;
  /** What the host is to do. Delivered until a beat says that it is held. */
  wanted: Assignment = assignment({ step: 5 });
  /** Versions whose bearers are taken. */
  live: readonly number[] = [1, 2];
  pin: WrapPublicKey | undefined;
  /** Fingerprints of all wrap keys that were ever shown, and answers by what was asked. */
  readonly shown = new Set<string>();
  readonly beats: HeartbeatBody[] = [];
  readonly provenBy = new Set<number>();
  enrolments = 0;
  /** Secrets in clear that must be in no request body: filled by what was sealed. */
  readonly bodies: string[] = [];

  constructor(root: Uint8Array, token: ReturnType<typeof enrolment> = enrolment()) {
    this.root = root;
    this.token = token;
  }

  handle({ path, authorization, body }: Asked): TransportAnswer {
    this.bodies.push(decodeUtf8(body) ?? '');
    if (path === '/v1/trust-bundle') return json(200, this.#bundle());
    if (path === '/v1/enrol') return this.#enrol(JSON.parse(decodeUtf8(body) as string) as EnrolBody);
    if (path === '/v1/heartbeat')
      return this.#heartbeat(authorization, JSON.parse(decodeUtf8(body) as string) as HeartbeatBody);
    return json(404, {});
  }

  #enrol(body: EnrolBody): TransportAnswer {
    const key = parseWrapPublicKey(body.wrapKey);
    this.shown.add(key.fingerprint);
    const claim = { host: body.host, wrapPublic: key.bytes, instance: decodeBase64url(body.instance) as Uint8Array };
    try {
      verifyEnrolmentProof(enrolmentKey(this.token.token.secret), claim, decodeBase64url(body.proof) as Uint8Array);
    } catch {
      return refused;
    }
    if (this.pin !== undefined && this.pin.fingerprint !== key.fingerprint) return refused;
    this.pin = key;
    this.enrolments += 1;
    return json(200, { trustDomain, bundle: this.#bundle(), deliveries: [this.#delivery()] });
  }

  #heartbeat(authorization: string | undefined, body: HeartbeatBody): TransportAnswer {
    const version = this.live.find((live) => isBearerOf(live, authorization));
    if (version === undefined) return refused;
    this.provenBy.add(version);
    this.beats.push(body);
    if (body.wrapKey !== undefined) {
      const key = parseWrapPublicKey(body.wrapKey);
      this.shown.add(key.fingerprint);
      this.pin ??= key;
    }
    const isDue = body.held[this.wanted.secret]?.step !== this.wanted.step;
    return json(200, {
      time: '2026-03-01T12:00:00Z',
      nextBeatMs: this.nextBeatMs,
      pin: { state: 'pinned' },
      deliveries: isDue ? [this.#delivery()] : [],
      statements: [],
    });
  }

  #delivery() {
    return delivery(this.wanted, { recipient: this.pin as WrapPublicKey });
  }

  #bundle() {
    const x5c = [Buffer.from(this.root).toString('base64')];
    return {
      keys: [{ kty: 'EC', crv: 'P-256', x: '', y: '', use: 'x509-svid', x5c }],
      spiffe_sequence: 1,
      spiffe_refresh_hint: 60,
    };
  }
}

export function json(status: number, body: unknown): TransportAnswer {
  return { status, headers: {}, body: utf8(JSON.stringify(body)) };
}

const refused: TransportAnswer = { status: 401, headers: {}, body: utf8('{"error":"node token invalid"}') };

function isBearerOf(version: number, authorization: string | undefined): boolean {
  const expected = Buffer.from(`Bearer ${encodeToken('rcb', heartbeatKey(version))}`);
  const presented = Buffer.from(authorization ?? '');
  return expected.length === presented.length && timingSafeEqual(expected, presented);
}

/** Forms in which a secret could be written down. */
export function formsOf(secret: Uint8Array): readonly string[] {
  return [encodeHex(secret), encodeBase64url(secret), Buffer.from(secret).toString('base64')];
}
