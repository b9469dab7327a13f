/**
 * Who this agent is, from what is on its disk and what it was given at start. What is on the disk wins; what contradicts
 * it is an error, and never a reason to begin anew (I11).
 */
import { hash } from 'node:crypto';
import { equalBytes } from '@rollcall/core/bytes';
import { type ErrorCode, RollcallError } from '@rollcall/core/errors';
import {
  deriveHostKey,
  type EnrolmentToken,
  enrolmentKey,
  enrolmentProof,
  type HubRootFile,
  SecretBytes,
} from '@rollcall/core/keys';
import type { Random } from '@rollcall/core/ports';
import { generateWrapKey, type WrapKeyPair } from '@rollcall/core/seal';
import type { AgentState, FleetBearer, MakeListenerRequest } from './agent-state.ts';
import { freshBearerMemory } from './bearer.ts';
import { freshCertificateMemory } from './listener-certificate.ts';
import type { DurableState, PendingEnrolment } from './state/durable-state.ts';

/** What an operator handed over, read and parsed. */
export interface Given {
  /** A token, and the SHA-256 of its text in hex. */
  readonly enrolment?: { readonly token: EnrolmentToken; readonly digest: string };
  /** Instead of the addresses of the token, the file or the state. */
  readonly hubs?: readonly string[];
  readonly host?: string;
  readonly hubRoot?: HubRootFile;
  readonly master?: SecretBytes<'master'>;
  /** 1 when it is not given (design 11). */
  readonly life?: number;
  /** Where this agent is to have a listener: a host that enrols asks for its certificate in the same request. */
  readonly makeListenerRequest?: MakeListenerRequest;
}

/** SHA-256 of the text of a token, in hex: what is kept of one that was redeemed. */
export function tokenDigest(text: string): string {
  return hash('sha256', text, 'hex');
}

/**
 * The state to start from. Errors: `identity_contradiction`, `identity_missing`. `loaded` is `undefined` only where there
 * is verifiably no state: then, and only then, a wrap key is made.
 */
export function decideStart(loaded: DurableState | undefined, given: Given, random: Random): AgentState {
  if (loaded !== undefined) assertSameIdentity(loaded, given);
  const instance = random(INSTANCE_BYTES);
  const durable = loaded ?? firstState(given, generateWrapKey(random), instance);
  const fleet = fleetBearer(durable, given);
  const isRedeemed = given.enrolment !== undefined && durable.redeemed.includes(given.enrolment.digest);
  const toRedeem = loaded === undefined || isRedeemed ? undefined : newEnrolment(loaded, given, instance);
  const hasBearer = durable.assignments.has('master') || fleet !== undefined;
  if (!hasBearer && durable.enrolment === undefined && toRedeem === undefined) {
    throw new RollcallError('identity_missing', { host: durable.host, missing: ['--enrol', '--master-file'] });
  }
  return {
    durable,
    onDisk: loaded !== undefined,
    startup: loaded === undefined ? 'fresh' : 'restored',
    instance,
    ...(given.hubs === undefined ? {} : { hubs: given.hubs }),
    ...(fleet === undefined ? {} : { fleet }),
    ...(toRedeem === undefined ? {} : { toRedeem }),
    enrolmentRefused: false,
    warnings: isRedeemed ? (['enrolment_already_redeemed'] satisfies ErrorCode[]) : [],
    doing: { kind: 'waiting' },
    seq: 0,
    failures: 0,
    hubIndex: 0,
    bearer: freshBearerMemory,
    certificate: freshCertificateMemory,
    refused: new Map(),
    statements: durable.statements,
    hubReachable: false,
    hurried: false,
    heartbeats: new Map(),
  };
}

const INSTANCE_BYTES = 16;

/** The state of a host that was never here before. */
function firstState(given: Given, wrapKey: WrapKeyPair, instance: Uint8Array): DurableState {
  const { enrolment, hubRoot, hubs, master } = given;
  const trust = enrolment?.token ?? hubRoot;
  const host = enrolment?.token.host ?? given.host;
  if (trust === undefined || host === undefined || (enrolment === undefined && master === undefined)) {
    throw new RollcallError('identity_missing', { missing: missingFlags(given) });
  }
  const first: DurableState = {
    host,
    hubRoot: trust.root,
    trustDomain: trust.trustDomain,
    hubs: hubs ?? trust.hubs,
    knownSpki: trust.spki,
    roots: [],
    wrapKeys: [wrapKey],
    assignments: new Map(),
    hubKeySerial: 0,
    statements: new Map(),
    redeemed: [],
  };
  if (enrolment === undefined) return { ...first, life: given.life ?? FIRST_LIFE };
  assertSameIdentity(first, given);
  const asked = given.makeListenerRequest?.(host);
  const keyed: DurableState = asked === undefined ? first : { ...first, listener: { asked } };
  return { ...keyed, enrolment: pendingEnrolment(keyed, enrolment, instance) };
}

const FIRST_LIFE = 1;

function missingFlags({ enrolment, host, hubRoot, master }: Given): readonly string[] {
  if (enrolment === undefined && host === undefined && hubRoot === undefined && master === undefined)
    return ['--enrol'];
  return [
    ...(host === undefined ? ['--host'] : []),
    ...(hubRoot === undefined ? ['--hub-root-file'] : []),
    ...(master === undefined ? ['--master-file'] : []),
  ];
}

/** A token that was redeemed is past, whatever it says; any other must be for this host and this hub root. */
function assertSameIdentity(state: DurableState, { enrolment, host, hubRoot }: Given): void {
  const token = enrolment !== undefined && !state.redeemed.includes(enrolment.digest) ? enrolment.token : undefined;
  const hosts = [host, token?.host].filter((given) => given !== undefined);
  if (hosts.some((given) => given !== state.host)) throw contradiction('host', state);
  const trusts = [hubRoot, token].filter((given) => given !== undefined);
  if (trusts.some((given) => !equalBytes(given.root, state.hubRoot))) throw contradiction('hub root', state);
  if (trusts.some((given) => given.trustDomain !== state.trustDomain)) throw contradiction('trust domain', state);
}

function contradiction(what: string, { host, trustDomain }: DurableState): RollcallError {
  return new RollcallError('identity_contradiction', { what, host, trustDomain });
}

/** A token that is being redeemed already goes on with the proof that was sent: another one might not be answered alike. */
function newEnrolment(state: DurableState, { enrolment }: Given, instance: Uint8Array): PendingEnrolment | undefined {
  const isNew = enrolment !== undefined && state.enrolment?.token !== enrolment.digest;
  return isNew ? pendingEnrolment(state, enrolment, instance) : undefined;
}

/** Binds the request for a certificate that is in the state already: what is asked for is durable first (I11). */
function pendingEnrolment(
  { host, wrapKeys, listener }: DurableState,
  { token, digest }: NonNullable<Given['enrolment']>,
  instance: Uint8Array,
): PendingEnrolment {
  const [wrapKey] = wrapKeys;
  if (wrapKey === undefined) throw new TypeError('a state without a wrap key');
  const csr = listener?.asked?.csr;
  const proof = enrolmentProof(enrolmentKey(token.secret), {
    host,
    wrapPublic: wrapKey.public.bytes,
    instance,
    ...(csr === undefined ? {} : { csr, csrUse: 'listener' }),
  });
  const { hubs, spki } = token;
  return { token: digest, hubs, spki, instance, proof, ...(csr === undefined ? {} : { csr }) };
}

/** Of no use once there is an assignment, which then says what to present. */
function fleetBearer({ host, assignments, life }: DurableState, given: Given): FleetBearer | undefined {
  if (given.master === undefined || assignments.has('master')) return undefined;
  const ownLife = given.life ?? life ?? FIRST_LIFE;
  const key = deriveHostKey(given.master.reveal(), 'heartbeat', host, ownLife);
  return { life: ownLife, key: new SecretBytes('host-key', key) };
}
