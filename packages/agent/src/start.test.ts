import { deriveHostKey, enrolmentKey, type HubRootFile, SecretBytes, verifyEnrolmentProof } from '@rollcall/core/keys';
import { describe, expect, it } from 'vitest';
import {
  durableState,
  enrolment,
  host,
  hubRoot,
  hubs,
  masters,
  random,
  spki,
  strangerKey,
  trustDomain,
  wrapKey,
} from './fleet.fixture.ts';
import { decideStart, type Given } from './start.ts';

const hubRootFile: HubRootFile = { trustDomain, root: hubRoot.public, spki: [spki], hubs };
const master = new SecretBytes('master', masters[1] as Uint8Array);
const fleet: Given = { host, hubRoot: hubRootFile, master, life: 4 };
const unassigned = durableState({ assignments: new Map(), roots: [] });

describe('the first start', () => {
  it('with a token is the host of the token, with a key and a proof of its own', () => {
    const given = enrolment();
    const state = decideStart(undefined, { enrolment: given }, random);
    const { durable } = state;
    expect(durable).toMatchObject({
      host,
      trustDomain,
      hubs,
      knownSpki: [spki],
      roots: [],
      redeemed: [],
      hubKeySerial: 0,
    });
    expect(state).toMatchObject({ onDisk: false, startup: 'fresh', warnings: [] });
    expect(durable).not.toHaveProperty('life');
    const [pair] = durable.wrapKeys;
    const claim = { host, wrapPublic: pair?.public.bytes as Uint8Array, instance: state.instance };
    expect(verifyEnrolmentProof(enrolmentKey(given.token.secret), claim, durable.enrolment?.proof as Uint8Array)).toBe(
      claim,
    );
    expect(durable.enrolment?.token).toBe(given.digest);
  });

  it('of a host of an older fleet presents what its master derives for its life', () => {
    const state = decideStart(undefined, fleet, random);
    expect(state.durable).toMatchObject({ host, life: 4, hubs });
    expect(state.fleet?.key.reveal()).toEqual(deriveHostKey(masters[1] as Uint8Array, 'heartbeat', host, 4));
    const { life: _life, ...without } = fleet;
    expect(decideStart(undefined, without, random).durable.life).toBe(1);
  });

  it('makes another key each time', () => {
    const fingerprints = [1, 2].map(
      () => decideStart(undefined, fleet, random).durable.wrapKeys[0]?.public.fingerprint,
    );
    expect(fingerprints[0]).not.toBe(fingerprints[1]);
  });

  it('takes an address that was given instead of those of the token or file', () => {
    const given = ['https://other.example'];
    expect(decideStart(undefined, { ...fleet, hubs: given }, random).hubs).toEqual(given);
  });

  it.each<readonly [string, Given]>([
    ['nothing', {}],
    ['no master', { host, hubRoot: hubRootFile }],
    ['no host', { hubRoot: hubRootFile, master }],
    ['no hub root', { host, master }],
  ])('needs an identity: %s is not enough', (_what, given) => {
    expect(() => decideStart(undefined, given, random)).toThrow(expect.objectContaining({ code: 'identity_missing' }));
  });

  it('refuses a token and flags that speak of different hosts, and takes them when they agree', () => {
    expect(() => decideStart(undefined, { ...fleet, enrolment: enrolment(), host: 'agent-8' }, random)).toThrow(
      expect.objectContaining({ code: 'identity_contradiction' }),
    );
    expect(decideStart(undefined, { ...fleet, enrolment: enrolment() }, random).durable.enrolment).toBeDefined();
  });
});

describe('a start with a state', () => {
  it('alone goes on as who it is, with the same key', () => {
    const state = decideStart(durableState(), {}, random);
    expect(state).toMatchObject({ onDisk: true, startup: 'restored', warnings: [] });
    expect(state.durable.wrapKeys[0]?.public.fingerprint).toBe(wrapKey.public.fingerprint);
    expect(state).not.toHaveProperty('toRedeem');
  });

  it('keeps a valid identity when a spent token is still configured, and warns', () => {
    const spent = enrolment();
    const state = decideStart(durableState({ redeemed: [spent.digest] }), { enrolment: spent }, random);
    expect(state.warnings).toEqual(['enrolment_already_redeemed']);
    expect(state).not.toHaveProperty('toRedeem');
    expect(state.durable.assignments.get('master')?.step).toBe(1);
  });

  it('redeems any other token with the key that it has', () => {
    const fresh = enrolment();
    const state = decideStart(durableState({ redeemed: ['a'.repeat(64)] }), { enrolment: fresh }, random);
    const claim = { host, wrapPublic: wrapKey.public.bytes, instance: state.instance };
    expect(verifyEnrolmentProof(enrolmentKey(fresh.token.secret), claim, state.toRedeem?.proof as Uint8Array)).toBe(
      claim,
    );
    expect(state.warnings).toEqual([]);
  });

  it('goes on with the proof that was sent when the same token is given again, or none', () => {
    const given = enrolment();
    const first = decideStart(undefined, { enrolment: given }, random).durable;
    for (const again of [{ enrolment: given }, {}]) {
      const state = decideStart(first, again, random);
      expect(state).not.toHaveProperty('toRedeem');
      expect(state.durable.enrolment).toBe(first.enrolment);
    }
  });

  it('does not look at the master any more once it holds an assignment', () => {
    expect(decideStart(durableState(), fleet, random)).not.toHaveProperty('fleet');
    expect(decideStart(unassigned, fleet, random).fleet?.life).toBe(4);
  });

  const stranger = { ...hubRootFile, root: strangerKey.public };
  it.each<readonly [string, Given]>([
    ['another host', { host: 'agent-8' }],
    ['another hub root', { hubRoot: stranger }],
    ['another trust domain', { hubRoot: { ...hubRootFile, trustDomain: 'other.example' } }],
    ['a token for another host', { enrolment: enrolment({ host: 'agent-8' }) }],
    ['a token of another hub root', { enrolment: enrolment({ root: strangerKey.public }) }],
  ])('refuses %s', (_what, given) => {
    expect(() => decideStart(durableState(), given, random)).toThrow(
      expect.objectContaining({ code: 'identity_contradiction' }),
    );
  });

  it('takes flags that say the same again', () => {
    expect(decideStart(durableState(), { ...fleet, enrolment: enrolment() }, random).durable.host).toBe(host);
  });

  it('does not mind what a token says that it redeemed long ago', () => {
    const past = enrolment({ host: 'agent-8' });
    expect(decideStart(durableState({ redeemed: [past.digest] }), { enrolment: past }, random).warnings).toEqual([
      'enrolment_already_redeemed',
    ]);
  });

  it('has nothing to say without an assignment, a token or a master', () => {
    expect(() => decideStart(unassigned, {}, random)).toThrow(expect.objectContaining({ code: 'identity_missing' }));
  });
});
