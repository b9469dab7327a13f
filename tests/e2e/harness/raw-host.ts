/**
 * A host, or a thief who plays one, without an agent around it: speaks HTTPS to the fleet's listener, and presents
 * whatever the test says. It opens what is sealed to it as an agent would, and applies it only when told to.
 */
import { randomBytes } from 'node:crypto';
import { encodeBase64url } from '@rollcall/core/bytes';
import type { JsonValue } from '@rollcall/core/json';
import { deriveHostKey, encodeToken, enrolmentKey, enrolmentProof } from '@rollcall/core/keys';
import {
  type Assignment,
  generateWrapKey,
  type OpenedDelivery,
  openDelivery,
  type WrapKeyPair,
} from '@rollcall/core/seal';
import type { EnrolAnswer, HeartbeatAnswer, HeartbeatBody } from '@rollcall/wire';
import { type Answered, exchange } from './exchange.ts';
import { type Fleet, readToken } from './fleet.ts';

export const random = (n: number): Uint8Array => Uint8Array.from(randomBytes(n));

/** A fleet's own master. White space at the end of its file would be trimmed, so it ends in none. */
export const randomMaster = (): Uint8Array => Uint8Array.from([...random(47), 0x2a]);

export interface BeatOptions {
  /** The bearer to present; what the host holds, by default. */
  readonly bearer?: string;
  readonly wrapKey?: WrapKeyPair | { readonly suite: string; readonly public: string } | null;
  readonly body?: Partial<HeartbeatBody>;
  readonly headers?: readonly (readonly [string, string])[];
}

export interface RawHost {
  readonly id: string;
  wrapKey: WrapKeyPair;
  /** The master assignment that it holds. */
  held: Assignment | undefined;
  readonly beat: (options?: BeatOptions) => Promise<Answered>;
  /** Redeems a token. Applies the first deliveries unless told not to. */
  readonly enrol: (token: string, options?: EnrolOptions) => Promise<Answered>;
  /** Opens the deliveries of an answer as an agent would. Nothing is applied. */
  readonly open: (answer: Answered, context?: OpenContext) => readonly OpenedDelivery[];
  /** Opens and applies; whether there was something new. */
  readonly take: (answer: Answered) => boolean;
  /** Beats, applies what came, and beats under it, until nothing is due. */
  readonly settle: () => Promise<void>;
  /** What it presents; throws while it holds nothing. */
  readonly bearer: () => string;
  /** A new start of the same host. */
  readonly restart: () => void;
}

export interface EnrolOptions {
  readonly wrapKey?: WrapKeyPair;
  readonly instance?: Uint8Array;
  readonly applies?: boolean;
}

export interface OpenContext {
  readonly host?: string;
  readonly wrapKey?: WrapKeyPair;
  /** As if nothing were held. */
  readonly afresh?: boolean;
}

export function bearerOf(master: Uint8Array, host: string, life: number): string {
  return encodeToken('rcb', deriveHostKey(master, 'heartbeat', host, life));
}

/** `hubRoot` is what its operator gave it: from a token, or from the hub-root file. */
export function createRawHost(fleet: Fleet, id: string, hubRoot: Uint8Array, bearer?: string): RawHost {
  let instance = random(16);
  let seq = 0;
  const host: RawHost = {
    id,
    wrapKey: generateWrapKey(random),
    held: undefined,

    beat: (options = {}) => {
      seq += 1;
      const published = options.wrapKey === undefined ? host.wrapKey : options.wrapKey;
      const body: HeartbeatBody = {
        instance: encodeBase64url(instance),
        seq,
        ...(published === null ? {} : { wrapKey: 'private' in published ? toPublished(published) : published }),
        held: host.held === undefined ? {} : { master: { epoch: host.held.epoch, step: host.held.step } },
        refused: [],
        agent: { version: '0.1.0' },
        startup: 'restored',
        sentAt: new Date().toISOString(),
        ...options.body,
      };
      const headers = options.headers ?? [
        ['Authorization', `Bearer ${options.bearer ?? host.bearer()}`],
        ['X-Rollcall-Host', id],
      ];
      return exchange(
        { port: fleet.port },
        { method: 'POST', path: '/v1/heartbeat', headers, body: JSON.stringify(body) },
        fleet.recorder,
      );
    },

    enrol: async (token, { wrapKey = host.wrapKey, instance: at = instance, applies = true } = {}) => {
      const proof = enrolmentProof(enrolmentKey(readToken(token).secret), {
        host: id,
        wrapPublic: wrapKey.public.bytes,
        instance: at,
      });
      const body = {
        host: id,
        wrapKey: toPublished(wrapKey),
        instance: encodeBase64url(at),
        proof: encodeBase64url(proof),
      };
      const answer = await exchange(
        { port: fleet.port },
        { method: 'POST', path: '/v1/enrol', body: JSON.stringify(body) },
        fleet.recorder,
      );
      if (answer.status === 200 && applies) host.take(answer);
      return answer;
    },

    open: (answer, { host: as = id, wrapKey = host.wrapKey, afresh = false } = {}) =>
      answer.json<EnrolAnswer | HeartbeatAnswer>().deliveries.map((envelope) =>
        openDelivery(envelope as unknown as JsonValue, {
          host: as,
          wrapKeys: [wrapKey],
          held: () => (afresh ? undefined : host.held),
          hubRoot,
          highestSerial: 0,
        }),
      ),

    take: (answer) => {
      const news = host.open(answer).flatMap((opened) => (opened.kind === 'new' ? [opened.assignment] : []));
      host.held = news.at(-1) ?? host.held;
      return news.length > 0;
    },

    settle: async () => {
      for (let turn = 0; turn < 20; turn += 1) {
        const answer = await host.beat();
        if (answer.status !== 200) throw new Error(`${id}: ${answer.status} ${answer.body}`);
        if (!host.take(answer)) return;
      }
      throw new Error(`${id} is never done`);
    },

    bearer: () => {
      const value = host.held?.accept.find(({ version }) => version === host.held?.present)?.value;
      const key = value !== undefined && 'keys' in value ? value.keys['heartbeat'] : undefined;
      const text = key === undefined ? bearer : encodeToken('rcb', key.reveal());
      if (text === undefined) throw new Error(`${id} holds nothing`);
      return text;
    },

    restart: () => {
      instance = random(16);
      seq = 0;
    },
  };
  return host;
}

/** Puts a host on the roll and enrols it. */
export async function enrolRawHost(fleet: Fleet, id: string): Promise<RawHost> {
  const token = await fleet.addHost(id);
  const host = createRawHost(fleet, id, readToken(token).root);
  const answer = await host.enrol(token);
  if (answer.status !== 200) throw new Error(`${id}: ${answer.status} ${answer.body}`);
  await host.settle();
  return host;
}

/** Fingerprints of the keys that the deliveries of an answer are sealed to. */
export function recipientsIn(answer: Answered): readonly string[] {
  return answer.json<HeartbeatAnswer>().deliveries.map(({ recipient }) => recipient);
}

export function toPublished({ public: key }: WrapKeyPair): { readonly suite: string; readonly public: string } {
  return { suite: key.suite, public: encodeBase64url(key.bytes) };
}
