/** For tests: a host as it behaves toward a hub in this process. What it holds it has opened from a delivery; nothing is handed to it. */
import type { IncomingMessage } from 'node:http';
import { encodeBase64url } from '@rollcall/core/bytes';
import type { JsonValue } from '@rollcall/core/json';
import {
  deriveHostKey,
  encodeToken,
  enrolmentKey,
  enrolmentProof,
  parseEnrolmentToken,
  type SecretBytes,
} from '@rollcall/core/keys';
import type { Random } from '@rollcall/core/ports';
import {
  type Assignment,
  generateWrapKey,
  isDrop,
  type MasterValue,
  openDelivery,
  type WrapKeyPair,
} from '@rollcall/core/seal';
import { seededRandom } from '@rollcall/core/testing';
import type { EnrolAnswer, EnrolBody, HeartbeatAnswer, HeartbeatBody } from '@rollcall/wire';
import { authenticateHost } from './authenticate.ts';
import { operator, type TestHub } from './hub.fixture.ts';
import { addHost } from './operations/add-host.ts';
import { enrolHost } from './operations/enrol-host.ts';
import { receiveHeartbeat } from './operations/receive-heartbeat.ts';

export interface BeatChanges {
  readonly bearer?: string;
  /** The generation whose bearer is presented; what it is to present otherwise. */
  readonly version?: number;
  readonly key?: WrapKeyPair;
  readonly body?: Partial<HeartbeatBody>;
  readonly from?: string;
  /** Texts of shared tokens; those of all that it holds otherwise. */
  readonly tokens?: readonly string[];
  /** The answer is lost: nothing of it is applied. */
  readonly lost?: boolean;
}

export interface TestHost {
  readonly id: string;
  key: WrapKeyPair;
  instance: string;
  seq: number;
  assignment: Assignment | undefined;
  /** Of the shared tokens that it holds, by secret. */
  readonly tokens: Map<string, Assignment>;
  /** The text of a token that it accepts; the one that it is to present without `version`. */
  tokenText(secret: string, version?: number): string;
  bearer(version?: number): string;
  enrolBody(token: string, changes?: Partial<EnrolBody>): EnrolBody;
  enrol(hub: TestHub, token: string): Promise<EnrolAnswer>;
  beat(hub: TestHub, changes?: BeatChanges): Promise<HeartbeatAnswer>;
  /** As a restart of its agent. */
  newInstance(): void;
}

const random: Random = seededRandom('host.fixture');

export function createWrapKey(): WrapKeyPair {
  return generateWrapKey(random);
}

export function createTestHost(id: string): TestHost {
  const host: TestHost = {
    id,
    key: createWrapKey(),
    instance: encodeBase64url(random(16)),
    seq: 0,
    assignment: undefined,
    tokens: new Map(),

    tokenText(secret, version) {
      const { present, accept } = host.tokens.get(secret) as Assignment;
      const value = accept.find((accepted) => accepted.version === (version ?? present))?.value as SecretBytes;
      return Buffer.from(value.reveal()).toString();
    },

    bearer(version) {
      const { present, accept } = host.assignment as Assignment;
      const wanted = version ?? present;
      const value = accept.find((accepted) => accepted.version === wanted)?.value as MasterValue;
      return encodeToken('rcb', (value.keys['heartbeat'] as SecretBytes).reveal());
    },

    enrolBody(text, changes = {}) {
      const { secret } = parseEnrolmentToken(text);
      const instance = random(16);
      const proof = enrolmentProof(enrolmentKey(secret), { host: id, wrapPublic: host.key.public.bytes, instance });
      return {
        host: id,
        wrapKey: { suite: 'x25519', public: encodeBase64url(host.key.public.bytes) },
        instance: encodeBase64url(instance),
        proof: encodeBase64url(proof),
        ...changes,
      };
    },

    async enrol(hub, text) {
      const answer = await enrolHost(hub, host.enrolBody(text), '192.0.2.1');
      apply(hub, host, answer.deliveries);
      return answer;
    },

    async beat(hub, { bearer, version, key = host.key, body = {}, from = '192.0.2.1', lost = false, tokens } = {}) {
      host.seq += 1;
      const headers = ['Authorization', `Bearer ${bearer ?? host.bearer(version)}`, 'X-Rollcall-Host', id];
      const held = [...host.tokens.values()].filter((assignment) => !isDrop(assignment));
      for (const text of tokens ?? held.map(({ secret }) => host.tokenText(secret))) {
        headers.push('X-Node-Token', text);
      }
      const who = await authenticateHost(hub, { rawHeaders: headers } as IncomingMessage, 'heartbeat');
      const { epoch = 0, step = 0 } = host.assignment ?? {};
      const text = await receiveHeartbeat(hub, {
        who,
        from,
        userAgent: 'test-host',
        body: {
          instance: host.instance,
          seq: host.seq,
          wrapKey: { suite: 'x25519', public: encodeBase64url(key.public.bytes) },
          held: step === 0 ? {} : { master: { epoch, step }, ...heldTokens(host) },
          refused: [],
          agent: { version: '1.0.0' },
          startup: 'restored',
          sentAt: new Date(hub.wall.now()).toISOString(),
          ...body,
        },
      });
      const answer = JSON.parse(text) as HeartbeatAnswer;
      if (!lost) apply(hub, host, answer.deliveries);
      return answer;
    },

    newInstance() {
      host.instance = encodeBase64url(random(16));
      host.seq = 0;
    },
  };
  return host;
}

/** Adds, enrols, and beats until everything is proven. */
export async function enrolNew(hub: TestHub, id: string): Promise<TestHost> {
  const host = createTestHost(id);
  const { token = '' } = await addHost(hub, { host: id }, operator);
  await host.enrol(hub, token);
  await host.beat(hub);
  return host;
}

/** A host of an older fleet: on the roll and active, without a pin; it derives its bearer from the master that it was given. */
export async function addExisting(hub: TestHub, id: string): Promise<TestHost> {
  await addHost(hub, { host: id, existing: true }, operator);
  return createTestHost(id);
}

/** What anyone who holds this generation of the master can present. */
export function thiefBearer(hub: TestHub, id: string, life: number, version: number): string {
  const { value, scheme } = hub.generations.read(version);
  if (scheme.name !== 'hkdf') throw new TypeError('thiefBearer: of the hkdf scheme only');
  return encodeToken('rcb', deriveHostKey(value.reveal(), 'heartbeat', id, life));
}

/** Opens a delivery as the host would; throws the code of the check that it fails. */
export function open(hub: TestHub, host: TestHost, envelope: unknown, key: WrapKeyPair = host.key) {
  return openDelivery(envelope as JsonValue, {
    host: host.id,
    wrapKeys: [key],
    held: (secret) => (secret === 'master' ? host.assignment : host.tokens.get(secret)),
    hubRoot: hub.identity.hubTrust.root,
    highestSerial: 1,
  });
}

function apply(hub: TestHub, host: TestHost, deliveries: readonly unknown[]): void {
  for (const envelope of deliveries) {
    const opened = open(hub, host, envelope);
    if (opened.kind !== 'new') continue;
    const { assignment } = opened;
    if (assignment.secret === 'master') host.assignment = assignment;
    else host.tokens.set(assignment.secret, assignment);
  }
}

function heldTokens({ tokens }: TestHost): HeartbeatBody['held'] {
  return Object.fromEntries([...tokens].map(([secret, { epoch, step }]) => [secret, { epoch, step }]));
}
