/** Tick, persist and loop together, on a machine of its own under virtual time. */
import { SecretBytes } from '@rollcall/core/keys';
import { describe, expect, it } from 'vitest';
import { FakeHub, formsOf } from './fake-hub.fixture.ts';
import {
  assignment,
  heartbeatKey,
  host,
  hubRoot,
  hubs,
  masters,
  seededRandom,
  spki,
  trustDomain,
} from './fleet.fixture.ts';
import type { Given } from './start.ts';
import { makeAuthority } from './tls-hub.fixture.ts';
import { runMachine, unreachable } from './virtual-machine.fixture.ts';

const root = makeAuthority().certificateDer;
const nothing: ReadonlyMap<string, Uint8Array> = new Map();

function enrolling(hub: FakeHub): Given {
  return { enrolment: hub.token };
}

const fleet: Given = {
  host,
  hubRoot: { trustDomain, root: hubRoot.public, spki: [spki], hubs },
  master: new SecretBytes('master', masters[1] as Uint8Array),
};

describe('a host', () => {
  it('enrols with a token, applies what it is delivered, and proves it', async () => {
    const hub = new FakeHub(root);
    const { state } = await runMachine({ disk: nothing, hub, given: enrolling(hub), untilMs: 3_000, seed: 'enrol' });
    expect(hub.enrolments).toBe(1);
    expect(hub.beats.at(-1)).toMatchObject({ held: { master: { epoch: 1, step: 5 } }, refused: [], startup: 'fresh' });
    expect(state?.durable).toMatchObject({ redeemed: [hub.token.digest], roots: [root] });
    expect(state?.durable).not.toHaveProperty('enrolment');
  });

  it('of an older fleet fetches the bundle, publishes its key, and goes on without the master', async () => {
    const hub = new FakeHub(root);
    const first = await runMachine({ disk: nothing, hub, given: fleet, untilMs: 3_000, seed: 'fleet' });
    expect(first.state?.durable).toMatchObject({ roots: [root], life: 1 });
    expect(hub.beats.at(-1)?.held).toEqual({ master: { epoch: 1, step: 5 } });
    const beats = hub.beats.length;
    await runMachine({ disk: first.files.contents(), hub, given: {}, untilMs: 3_000, seed: 'fleet again' });
    expect(hub.beats.length).toBeGreaterThan(beats);
    expect(hub.beats.at(-1)?.startup).toBe('restored');
    expect(hub.shown.size).toBe(1);
  });

  it('keeps and uses a valid identity when it is started with its spent token', async () => {
    const hub = new FakeHub(root);
    const first = await runMachine({ disk: nothing, hub, given: enrolling(hub), untilMs: 2_000, seed: 'first' });
    const again = await runMachine({
      disk: first.files.contents(),
      hub,
      given: enrolling(hub),
      untilMs: 2_000,
      seed: 'again',
    });
    expect(again.state?.warnings).toEqual(['enrolment_already_redeemed']);
    expect(hub.enrolments).toBe(1);
    expect(hub.shown.size).toBe(1);
  });

  it('whose answer to its enrolment is lost asks again with the same key, and has one pin', async () => {
    for (const lost of [1, 2, 3]) {
      const hub = new FakeHub(root);
      const { state } = await runMachine({
        disk: nothing,
        hub,
        given: enrolling(hub),
        untilMs: 30_000,
        seed: `lost ${lost}`,
        network: (index, ask) => {
          const answer = ask();
          return index < lost ? unreachable() : answer;
        },
      });
      expect(hub.enrolments).toBe(lost + 1);
      expect(hub.shown.size).toBe(1);
      expect(state?.durable.assignments.get('master')?.step).toBe(5);
    }
  });

  it('whose hub forgot the version that it was told still reaches it by the other one', async () => {
    const hub = new FakeHub(root);
    hub.wanted = assignment({ step: 6, versions: [2, 1] });
    const first = await runMachine({ disk: nothing, hub, given: enrolling(hub), untilMs: 2_000, seed: 'first' });
    expect([...hub.provenBy]).toEqual([2]);
    hub.live = [1];
    const { beats } = hub;
    const before = beats.length;
    await runMachine({ disk: first.files.contents(), hub, given: {}, untilMs: 20_000, seed: 'restored hub' });
    expect(beats.length).toBeGreaterThan(before + 20);
    expect([...hub.provenBy]).toEqual([2, 1]);
  });

  it('never asks more than once a second while it fails, and is back within the cap', async () => {
    const hub = new FakeHub(root);
    const run = await runMachine({
      disk: nothing,
      hub,
      given: enrolling(hub),
      untilMs: 600_000,
      seed: 'down',
      network: (index, ask) => (index < 9 ? unreachable() : ask()),
    });
    const gaps = run.askedAtMs.slice(1, 9).map((atMs, index) => atMs - (run.askedAtMs[index] as number));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1_000);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(60_005);
    expect(hub.beats.length).toBeGreaterThan(100);
  });

  it('whose disk is full when a version arrives works on with the old one, says so, and converges by itself', async () => {
    const hub = new FakeHub(root);
    const first = await runMachine({ disk: nothing, hub, given: enrolling(hub), untilMs: 2_000, seed: 'first' });
    hub.wanted = assignment({ step: 7, versions: [2, 1] });
    const before = hub.beats.length;
    await runMachine({
      disk: first.files.contents(),
      hub,
      given: {},
      untilMs: 20_000,
      seed: 'full',
      prepare: (files) => {
        files.fault = (_index, operation) =>
          operation === 'write' && hub.beats.length < before + 5 ? { code: 'ENOSPC' } : undefined;
      },
    });
    const during = hub.beats.slice(before + 1, before + 5);
    for (const beat of during)
      expect(beat).toMatchObject({
        held: { master: { step: 5 } },
        refused: [{ secret: 'master', reason: 'disk_full' }],
      });
    expect(hub.beats.at(-1)).toMatchObject({ held: { master: { step: 7 } }, refused: [] });
    expect([...hub.provenBy]).toEqual([1, 2]);
  });

  it('redeems another token with the same key, and what it held before is replaced at once', async () => {
    const hub = new FakeHub(root);
    const first = await runMachine({ disk: nothing, hub, given: enrolling(hub), untilMs: 2_000, seed: 'first' });
    const again = new FakeHub(root);
    again.pin = hub.pin;
    again.wanted = assignment({ step: 9, versions: [2] });
    again.live = [2]; // the keys of the former life are dead
    const { state } = await runMachine({
      disk: first.files.contents(),
      hub: again,
      given: enrolling(again),
      untilMs: 4_000,
      seed: 'again',
    });
    expect(again.enrolments).toBe(1);
    expect(again.beats[0]?.held).toEqual({ master: { epoch: 1, step: 9 } });
    expect(state?.durable.redeemed).toEqual([hub.token.digest, again.token.digest]);
    expect(state?.durable).not.toHaveProperty('enrolment');
  });

  it('is moved by no answer that was recorded, in any order, after a restart', async () => {
    const hub = new FakeHub(root);
    const recorded: ReturnType<FakeHub['handle']>[] = [];
    let { files } = await runMachine({ disk: nothing, hub, given: enrolling(hub), untilMs: 2_000, seed: 'record' });
    for (const step of [6, 7, 8]) {
      hub.wanted = assignment({ step, versions: step % 2 === 0 ? [2, 1] : [1, 2] });
      const run = await runMachine({
        disk: files.contents(),
        hub,
        given: {},
        untilMs: 2_000,
        seed: `record ${step}`,
        network: (_index, ask) => {
          const answer = ask();
          recorded.push(answer);
          return answer;
        },
      });
      files = run.files;
    }
    const order = seededRandom('replay');
    const replayed = await runMachine({
      disk: files.contents(),
      hub,
      given: {},
      untilMs: 60_000,
      seed: 'replay',
      network: () => recorded[(order(1)[0] as number) % recorded.length] as ReturnType<FakeHub['handle']>,
    });
    expect(replayed.askedAtMs.length).toBeGreaterThan(50);
    expect(replayed.state?.durable.assignments.get('master')).toMatchObject({ step: 8, present: 2 });
    expect(replayed.lines.join()).toContain('delivery_replayed');
  });

  it('cut off at any file operation comes back as itself from every disk that this can leave', async () => {
    let cuts = 0;
    for (; ; cuts += 1) {
      const hub = new FakeHub(root);
      hub.wanted = assignment({ step: 6, versions: [2, 1] });
      let isCut = false;
      const cut = await runMachine({
        disk: nothing,
        hub,
        given: enrolling(hub),
        untilMs: 3_000,
        seed: 'cut',
        // From this operation on nothing happens on the machine any more.
        prepare: (files) => {
          files.fault = (index) => {
            isCut = index >= cuts;
            return isCut ? 'power_cut' : undefined;
          };
        },
        network: (_index, ask) => (isCut ? unreachable() : ask()),
      });
      if (!isCut) break;
      const { pin } = hub;
      for (const disk of cut.files.disksAfterPowerCut()) {
        hub.pin = pin;
        const back = await runMachine({ disk, hub, given: enrolling(hub), untilMs: 5_000, seed: `back ${cuts}` });
        expect(back.error).toBeUndefined();
        // A key that anyone has seen is the key for ever; the hub would take no other.
        if (pin !== undefined) expect(back.state?.durable.wrapKeys[0]?.public.fingerprint).toBe(pin.fingerprint);
        expect(hub.beats.at(-1)?.held).toEqual({ master: { epoch: 1, step: 6 } });
      }
    }
    expect(cuts).toBeGreaterThan(15);
  });

  it('says no secret in a log line, and none in a body', async () => {
    const hub = new FakeHub(root);
    hub.wanted = assignment({ step: 6, versions: [2, 1] });
    const run = await runMachine({
      disk: nothing,
      hub,
      given: enrolling(hub),
      untilMs: 3_000,
      seed: 'quiet',
      network: (index, ask) => (index === 2 ? unreachable() : ask()),
    });
    const secrets = [
      heartbeatKey(1),
      heartbeatKey(2),
      hub.token.token.secret.reveal(),
      ...(run.state?.durable.wrapKeys.map((pair) => pair.private.reveal()) ?? []),
    ];
    const said = [...run.lines, ...hub.bodies].join('\n');
    for (const secret of secrets) {
      for (const form of formsOf(secret)) expect(said).not.toContain(form);
    }
    expect(said).not.toMatch(/rc[a-z]_/);
    expect(said).toContain('a delivery was applied');
  });
});
