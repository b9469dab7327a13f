/** Reads what the hub answered. Its form only: what is signed or sealed in it is judged where it is taken. */
import { RollcallError } from '@rollcall/core/errors';
import {
  type JsonObject,
  type JsonValue,
  parseJson,
  readArray,
  readBytes,
  readInteger,
  readMember,
  readObject,
  readText,
} from '@rollcall/core/json';
import { limits } from '@rollcall/core/limits';
import type { PinState } from '@rollcall/wire';
import { parseCertificate } from '@rollcall/x509';

export interface HeartbeatTold {
  /** Within the bounds of `limits`, whatever was asked. */
  readonly nextBeatMs: number;
  readonly pin: PinState;
  readonly deliveries: readonly JsonValue[];
  readonly statements: readonly JsonValue[];
}

/** Throws `hub_answer_unusable`, as all of this file. */
export function parseHeartbeatAnswer(body: Uint8Array): HeartbeatTold {
  return usable(body, (answer) => {
    const nextBeatMs = readInteger(readMember(answer, 'nextBeatMs'), 'nextBeatMs');
    const pin = readText(readMember(readObject(readMember(answer, 'pin'), 'pin'), 'state'), 'pin.state', 64);
    if (!isPinState(pin)) throw new RollcallError('malformed_json', { what: 'pin.state' });
    return {
      nextBeatMs: Math.min(limits.beatMaxMs, Math.max(limits.beatMinMs, nextBeatMs)),
      pin,
      deliveries: readDeliveries(answer),
      statements: readArray(readMember(answer, 'statements'), 'statements', limits.statementsPerAnswer),
    };
  });
}

export interface EnrolmentTold {
  readonly trustDomain: string;
  readonly roots: readonly Uint8Array[];
  readonly deliveries: readonly JsonValue[];
  /** DER, leaf first, where one was asked for and issued. */
  readonly certificate?: readonly Uint8Array[];
}

export function parseEnrolAnswer(body: Uint8Array): EnrolmentTold {
  return usable(body, (answer) => {
    const certificate = readMember(answer, 'certificate');
    return {
      trustDomain: readText(readMember(answer, 'trustDomain'), 'trustDomain', 255),
      roots: readBundle(readMember(answer, 'bundle')),
      deliveries: readDeliveries(answer),
      ...(certificate === undefined ? {} : { certificate: readChain(certificate) }),
    };
  });
}

/** A challenge: whether it is for this host is seen when it is opened. */
export function parseChallengeAnswer(body: Uint8Array): JsonValue {
  return usable(body, (answer) => readObject(readMember(answer, 'challenge'), 'challenge'));
}

/** DER, leaf first. */
export function parseCertificateAnswer(body: Uint8Array): readonly Uint8Array[] {
  return usable(body, (answer) => readChain(readMember(answer, 'certificate')));
}

/** DER of each authority of a SPIFFE bundle; at least one. */
export function parseTrustBundle(body: Uint8Array): readonly Uint8Array[] {
  return usable(body, readBundle);
}

function usable<T>(body: Uint8Array, read: (answer: JsonObject) => T): T {
  try {
    return read(readObject(parseJson(body), 'answer'));
  } catch (error) {
    if (!(error instanceof RollcallError)) throw error;
    const what = error.details['what'];
    throw new RollcallError(
      'hub_answer_unusable',
      { reason: typeof what === 'string' ? what : error.code },
      { cause: error },
    );
  }
}

function readChain(value: JsonValue | undefined): readonly Uint8Array[] {
  return readArray(value, 'certificate', limits.certificateChain).map((item) =>
    readBytes(item, 'certificate', { maxBytes: limits.certificateMaxBytes }),
  );
}

function readDeliveries(answer: JsonObject): readonly JsonValue[] {
  return readArray(readMember(answer, 'deliveries'), 'deliveries', limits.deliveriesPerAnswer);
}

function readBundle(value: JsonValue | undefined): readonly Uint8Array[] {
  const keys = readArray(readMember(readObject(value, 'bundle'), 'keys'), 'keys', limits.trustBundleRoots);
  if (keys.length === 0) throw new RollcallError('malformed_json', { what: 'keys' });
  return keys.map((item) => {
    const key = readObject(item, 'keys');
    if (readMember(key, 'use') !== 'x509-svid') throw new RollcallError('malformed_json', { what: 'use' });
    const [certificate, ...more] = readArray(readMember(key, 'x5c'), 'x5c', limits.certificateChain);
    if (more.length > 0) throw new RollcallError('malformed_json', { what: 'x5c' });
    const der = decodeBase64(readText(certificate, 'x5c', limits.certificateMaxBytes));
    // A root that cannot be read would be kept for ever, and refuse every hub.
    if (!parseCertificate(der).isCa) throw new RollcallError('malformed_json', { what: 'x5c' });
    return der;
  });
}

/** RFC 7517 §4.7: standard base64, padded. */
function decodeBase64(text: string): Uint8Array {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') !== text) throw new RollcallError('malformed_json', { what: 'x5c' });
  return Uint8Array.from(bytes);
}

const pinStates: Readonly<Record<PinState, true>> = {
  none: true,
  not_accepted: true,
  pinned: true,
  pending: true,
  unusable: true,
};

function isPinState(text: string): text is PinState {
  return Object.hasOwn(pinStates, text);
}
