import type { IncomingMessage } from 'node:http';
import { encodeBase64url, utf8 } from '@rollcall/core/bytes';
import { RollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { authenticateMember } from '../../authenticate.ts';
import { createTestHost, type TestHost } from '../../host.fixture.ts';
import { auditOf, codeOf, createTestHub, DAY_MS, HOUR_MS, operator, type TestHub } from '../../hub.fixture.ts';
import { findRotation } from '../../store/rotations.ts';
import { listTokenVersions } from '../../store/tokens.ts';
import { showRotation } from '../../views/rotations.ts';
import { addHost, reenrolHost } from '../add-host.ts';
import { createSecret, showSecret } from '../create-secret.ts';
import { evictHost, removeHost } from '../end-host.ts';
import { cutRotation, leaveRotation, pauseRotation, resumeRotation } from '../rotation/hold.ts';
import { retireRotation } from '../rotation/retire.ts';
import type { StartInput } from '../rotation/subject.ts';
import { advanceRotation, observeRotations, rollBackRotation, startRotation, stepTokens } from '../rotation/walk.ts';
import { changeHolders } from './create-token.ts';

const OLD = 'the-token-that-the-fleet-has-had-for-years';
/** As long as may pass between two reports: what is longer is a gap. */
const WINDOW_MS = 30_000;
let hub: TestHub;
let fleet: TestHost[];
/** What a program beside the hub sends. */
let callers: string[];

beforeEach(async () => {
  fleet = [];
  callers = [OLD];
  hub = await createTestHub({
    settings: { quietWindowMs: WINDOW_MS },
    ask: {
      replica: async (token) => ((await takes(token)) ? 'taken' : 'refused'),
      host: async ({ host }, token) => {
        const asked = fleet.find(({ id }) => id === host);
        const held = asked?.tokens.get('fleet')?.accept ?? [];
        const isTaken = held.some(({ version }) => asked?.tokenText('fleet', version) === token);
        return isTaken ? 'taken' : 'refused';
      },
    },
  });
  for (const id of ['a', 'b']) {
    const host = createTestHost(id);
    const { token = '' } = await addHost(hub, { host: id, reach: 'push', address: '127.0.0.1:1' }, operator);
    await host.enrol(hub, token);
    await host.beat(hub);
    fleet.push(host);
  }
  const value = encodeBase64url(utf8(OLD));
  await createSecret(hub, { name: 'fleet', value, holders: ['all', 'caller:deploy'] }, operator);
  await beatAll();
});

/** What the hub does by itself: it asks, and then it steps. */
async function jobs(): Promise<boolean> {
  // Two jobs: what one of them cannot read is no reason for the other to stand still.
  await observeRotations(hub, new AbortController().signal).catch(() => undefined);
  return stepTokens(hub);
}

async function takes(token: string): Promise<boolean> {
  const request = { rawHeaders: ['X-Node-Token', token], headers: {}, socket: {} } as unknown as IncomingMessage;
  return (await codeOf(authenticateMember(hub, request, 'ask-who-i-am'))) === 'done';
}

/** No valid caller is ever refused (I1): not a host's beat, and not what the program beside the hub sends. */
async function beatAll(): Promise<void> {
  while (await jobs());
  for (const host of fleet) {
    const report = () => ({ tokens: [{ secret: 'fleet', counter: COUNTER, hits: zeroes(host), samples: [] }] });
    await host.beat(hub, { body: report() });
    await host.beat(hub, { body: report() });
  }
  for (const token of callers) expect(await takes(token)).toBe(true);
  while (await jobs());
}

const COUNTER = 'AAAAAAAAAAAAAAAAAAAAAA';
/** As an agent says it whose callers all have switched: nothing was sent of what it accepts. */
const zeroes = ({ tokens }: TestHost) =>
  (tokens.get('fleet')?.accept ?? []).map(({ version }) => ({ version, count: 0 }));
const start = (changes: Partial<StartInput> = {}) =>
  startRotation(
    hub,
    { secret: 'fleet', reason: 'planned', leave: [], narrowByMs: null, auto: 'off', batch: 1, ...changes },
    operator,
  );
const phase = async () => (await findRotation(hub.db, hub.vault, 'fleet'))?.phase;
const newText = () => fleet[0]?.tokenText('fleet', 2) ?? '';
const blockers = async () =>
  (await showRotation(hub, 'fleet')).gate.blockers.map(({ member, missing }) => `${member} ${missing}`);
const sets = () =>
  fleet.map(({ tokens }) => {
    const { accept = [], present } = tokens.get('fleet') ?? {};
    return `${accept.map(({ version }) => version).join('+')} sends ${present}`;
  });

async function carryTo(wanted: string): Promise<void> {
  for (let round = 0; round < 12 && (await phase()) !== wanted; round += 1) {
    if ((await phase()) === 'proving') {
      callers = callers.map(() => newText());
      await hub.wall.advance(WINDOW_MS);
    }
    await beatAll();
    await advanceRotation(hub, 'fleet', undefined, operator).catch(() => undefined);
  }
  expect(await phase()).toBe(wanted);
}

describe('a shared token', () => {
  it('is brought as it is, delivered to whoever holds it, and taken by the hub', async () => {
    expect(sets()).toEqual(['1 sends 1', '1 sends 1']);
    expect(fleet[0]?.tokenText('fleet')).toBe(OLD);
    expect(await takes(OLD)).toBe(true);
    expect(await takes(`${OLD}x`)).toBe(false);
  });

  it('stops before narrowing while a forgotten program sends the old value, and names its address', async () => {
    await start({ auto: 'to_narrowing' });
    for (let round = 0; round < 6; round += 1) await beatAll();
    expect(await phase()).toBe('proving');
    hub.tokenHits.note('fleet', 1, 'retiring', {
      address: '127.0.0.23',
      userAgent: 'cron/1',
      route: '/v1/whoami',
      host: null,
      atMs: hub.clock.now(),
    });
    const { gate, retiringHits } = await showRotation(hub, 'fleet');
    const hub23 = gate.blockers.find(({ member }) => member === 'replica:local');
    expect(hub23?.hint).toContain('127.0.0.23 (cron/1)');
    expect(retiringHits.sources[0]).toMatchObject({ address: '127.0.0.23', verifier: 'replica:local' });
    await hub.wall.advance(WINDOW_MS - 1);
    callers = [];
    await beatAll();
    expect(await codeOf(advanceRotation(hub, 'fleet', 'proving', operator))).toBe('gate_closed');
    await hub.wall.advance(1);
    await beatAll();
    expect(await codeOf(advanceRotation(hub, 'fleet', 'proving', operator))).toBe('done');
  });

  it('keeps whom a listener named once, by the time of the hub', async () => {
    await start({ auto: 'to_narrowing' });
    for (let round = 0; round < 6; round += 1) await beatAll();
    const sample = {
      at: '2020-01-01T00:00:00.000Z',
      address: '127.0.0.23',
      userAgent: 'cron/1',
      route: '/v1/echo',
      host: null,
      version: 1,
    };
    const hits = [{ version: 1, count: 1 }];
    await fleet[0]?.beat(hub, { body: { tokens: [{ secret: 'fleet', counter: COUNTER, hits, samples: [sample] }] } });
    for (let round = 0; round < 2; round += 1) {
      const { retiringHits } = await showRotation(hub, 'fleet');
      const at = new Date(hub.clock.now()).toISOString();
      const named = retiringHits.sources.find(({ address }) => address === '127.0.0.23');
      expect(named).toMatchObject({ verifier: 'a', userAgent: 'cron/1', at });
      await fleet[0]?.beat(hub, { body: { tokens: [{ secret: 'fleet', counter: COUNTER, hits, samples: [] }] } });
    }
  });

  it('goes to its end by itself when it is told to, and not past a report', async () => {
    await start({ auto: 'all' });
    for (let round = 0; round < 5; round += 1) await beatAll();
    expect(await phase()).toBe('proving');
    callers = [newText()];
    await beatAll();
    await hub.wall.advance(WINDOW_MS);
    for (let round = 0; round < 4; round += 1) await beatAll();
    expect(await phase()).toBe('done');
  });

  it('goes back, callers first, and is as it was', async () => {
    await start();
    await beatAll();
    await advanceRotation(hub, 'fleet', undefined, operator);
    for (let round = 0; round < 3; round += 1) await beatAll();
    expect(sets()).toEqual(['2+1 sends 2', '2+1 sends 2']);
    await rollBackRotation(hub, 'fleet', 'not today', operator);
    await beatAll();
    expect(sets()).toEqual(['2+1 sends 1', '2+1 sends 1']);
    expect(await phase()).toBe('reverting');
    await hub.wall.advance(WINDOW_MS);
    for (let round = 0; round < 3; round += 1) await beatAll();
    expect(await phase()).toBe('rolled_back');
    expect(sets()).toEqual(['1 sends 1', '1 sends 1']);
    // The number is spent: another walk goes to another one.
    expect((await start()).to).toBe(3);
  });

  it('ends at the time that was said after a leak, whoever still sends the old value', async () => {
    expect(await codeOf(start({ reason: 'leak' }))).toBe('narrow_by_missing');
    await start({ reason: 'leak', narrowByMs: hub.clock.now() + HOUR_MS });
    await beatAll();
    expect(await takes(OLD)).toBe(true);
    await hub.wall.advance(HOUR_MS - 1);
    expect(await takes(OLD)).toBe(true);
    await hub.wall.advance(1);
    // Refused by the clock, before any job has looked.
    expect(await takes(OLD)).toBe(false);
    expect(await codeOf(rollBackRotation(hub, 'fleet', 'x', operator))).toBe('no_rollback');
    callers = [];
    while (await jobs());
    expect(await phase()).not.toBe('widening');
  });

  it('is not retired, as the master is: it has an end of its own', async () => {
    const now = { now: true, leave: [] };
    await start();
    expect(await codeOf(retireRotation(hub, 'fleet', now, operator))).toBe('not_retired');
    await startRotation(hub, { secret: 'master', reason: 'leak', leave: [], narrowByMs: null }, operator);
    expect(await codeOf(retireRotation(hub, 'master', now, operator))).toBe('would_strand');
  });

  it('is not held by one that refuses, once its end is said: all others switch before it', async () => {
    const [refusing] = fleet;
    const last = createTestHost('c');
    const { token = '' } = await addHost(hub, { host: 'c', reach: 'push', address: '127.0.0.1:1' }, operator);
    await last.enrol(hub, token);
    await last.beat(hub);
    fleet.push(last);
    const refusal = { refused: [{ secret: 'fleet', reason: 'disk_full' }] };
    const toRolling = async () => {
      await beatAll();
      await advanceRotation(hub, 'fleet', 'widening', operator);
      for (let round = 0; round < 4; round += 1) {
        for (const host of fleet) await host.beat(hub, host === refusing ? { body: refusal, lost: true } : {});
        await jobs();
      }
    };
    await start();
    await toRolling();
    // The control: without an end nobody else is switched before a person has looked.
    expect((await findRotation(hub.db, hub.vault, 'fleet'))?.pausedBecause).toContain('a refuses the delivery');
    expect(last.tokens.get('fleet')?.present).toBe(1);
    await rollBackRotation(hub, 'fleet', 'again', operator);
    await beatAll();
    await hub.wall.advance(WINDOW_MS);
    for (let round = 0; round < 3; round += 1) await beatAll();
    expect(await phase()).toBe('rolled_back');

    await start({ reason: 'leak', narrowByMs: hub.clock.now() + HOUR_MS });
    await toRolling();
    await hub.wall.advance(limits.canaryMs);
    for (let round = 0; round < 4; round += 1) {
      for (const host of fleet) await host.beat(hub, host === refusing ? { body: refusal, lost: true } : {});
      await jobs();
    }
    expect((await findRotation(hub.db, hub.vault, 'fleet'))?.pausedBecause).toBeNull();
    expect(last.tokens.get('fleet')?.present).toBe(3);
  });

  it('gives nothing up for a window that only a jump of the clock closed', async () => {
    await start({ auto: 'all' });
    for (let round = 0; round < 6; round += 1) await beatAll();
    callers = [newText()];
    expect(await phase()).toBe('proving');
    hub.wall.setWall(hub.wall.now() + DAY_MS + HOUR_MS);
    for (let round = 0; round < 3; round += 1) await beatAll();
    expect(hub.clock.read().jumped).toBe(true);
    expect(await phase()).toBe('proving');
    expect(['hub_time_jumped', 'gate_closed']).toContain(
      await codeOf(advanceRotation(hub, 'fleet', 'proving', operator)),
    );
  });

  it('waits again for a host that was left when it was removed, and has come back', async () => {
    await start();
    await removeHost(hub, 'b', operator);
    const left = async () => (await findRotation(hub.db, hub.vault, 'fleet'))?.left;
    expect(await left()).toEqual(['b']);
    await addHost(hub, { host: 'b', reach: 'push', address: '127.0.0.1:1' }, operator);
    expect(await left()).toEqual([]);
    await leaveRotation(hub, 'fleet', { leave: ['a'], reason: 'in the post' }, operator);
    await changeHolders(hub, 'fleet', { add: ['a'] }, operator);
    expect(await left()).toEqual([]);
  });

  it('rests while it is paused, and two who start it at once are one', async () => {
    const [first, second] = await Promise.all([codeOf(start()), codeOf(start())]);
    expect([first, second].sort()).toEqual(['done', 'rotation_running']);
    await beatAll();
    await pauseRotation(hub, 'fleet', 'lunch', operator);
    expect(await codeOf(advanceRotation(hub, 'fleet', undefined, operator))).toBe('rotation_paused');
    await resumeRotation(hub, 'fleet', operator);
    expect(await codeOf(advanceRotation(hub, 'fleet', undefined, operator))).toBe('done');
  });

  it('goes on without a named verifier, on the record, and never without its name', async () => {
    const [, silent] = fleet;
    fleet = fleet.slice(0, 1);
    await start();
    await beatAll();
    expect(await codeOf(advanceRotation(hub, 'fleet', undefined, operator))).toBe('gate_closed');
    expect(await codeOf(leaveRotation(hub, 'fleet', { leave: ['z'], reason: 'x' }, operator))).toBe('leave_unknown');
    await leaveRotation(hub, 'fleet', { leave: [silent?.id ?? ''], reason: 'in the post' }, operator);
    expect(await codeOf(advanceRotation(hub, 'fleet', undefined, operator))).toBe('done');
    expect((await findRotation(hub.db, hub.vault, 'fleet'))?.left).toEqual(['b']);
  });

  it('goes on while the rows of another one cannot be read', async () => {
    await createSecret(hub, { name: 'a-token', holders: ['all'] }, operator);
    await beatAll();
    await startRotation(
      hub,
      { secret: 'a-token', reason: 'planned', leave: [], narrowByMs: null, auto: 'off', batch: 1 },
      operator,
    );
    await start({ auto: 'to_narrowing' });
    hub.tamper("update token_holders set mac = x'00' where secret = 'a-token'");
    for (let round = 0; round < 3; round += 1) {
      for (const host of fleet) await host.beat(hub);
      await codeOf(jobs());
    }
    expect(await phase()).toBe('rolling');
    expect(await codeOf(jobs())).toBe('store_unreadable');
  });

  it('waits in widening until whoever reads a file was told of that very step', async () => {
    const keeper = createTestHost('c');
    const { token = '' } = await addHost(hub, { host: 'c' }, operator);
    await keeper.enrol(hub, token);
    await keeper.beat(hub);
    const tell = async (step: number | null) => {
      const sink = { name: 'web', secret: 'fleet', version: 1, step, digest: null, state: 'reloaded' } as const;
      await keeper.beat(hub, { body: { sinks: [sink] } });
      await jobs();
    };
    const held = () => keeper.tokens.get('fleet')?.step ?? 0;
    const former = held();
    await tell(former);
    await start();
    await beatAll();
    // The right state of the step before: nobody there has heard of version 2.
    await tell(former);
    expect(await blockers()).toEqual(['c sink_told']);
    expect(held()).toBeGreaterThan(former);
    await tell(null);
    expect(await blockers()).toEqual(['c sink_told']);
    expect(await codeOf(advanceRotation(hub, 'fleet', undefined, operator))).toBe('gate_closed');

    // What it kept is not known to a hub that has not heard it since it began.
    await tell(held());
    expect(await blockers()).toEqual([]);
    hub = await hub.restart();
    await beatAll();
    expect(await blockers()).toEqual(['c probe', 'c sink_told']);

    // A beat without sinks: there is nothing any more that would have to be told.
    await tell(former);
    expect(await blockers()).toEqual(['c sink_told']);
    await keeper.beat(hub);
    expect(await blockers()).toEqual([]);
    await advanceRotation(hub, 'fleet', undefined, operator);
    expect(await phase()).toBe('rolling');
  });

  it('asks a host with a closed listener for evidence, and one that it has not heard, and none without a listener', async () => {
    const puller = createTestHost('c');
    const { token = '' } = await addHost(hub, { host: 'c' }, operator);
    await puller.enrol(hub, token);
    await puller.beat(hub);
    await start();
    await beatAll();
    expect(await blockers()).toEqual([]);
    const say = async (open: boolean) => {
      const step = puller.tokens.get('fleet')?.step ?? 0;
      const at = new Date(hub.clock.now()).toISOString();
      const probe = { secret: 'fleet', step, takes: [1, 2], refuses: [], randomRefused: true, at };
      await puller.beat(hub, { body: { listener: { address: '127.0.0.1:7444', open }, probes: open ? [probe] : [] } });
    };
    await puller.beat(hub);
    // Its agent was restarted: the first beat comes before the listener is open.
    await say(false);
    expect(await blockers()).toEqual(['c listener_open']);
    expect(await codeOf(advanceRotation(hub, 'fleet', undefined, operator))).toBe('gate_closed');
    await say(true);
    expect(await blockers()).toEqual([]);
    hub = await hub.restart();
    await beatAll();
    expect(await blockers()).toEqual(['c probe', 'c sink_told']);
    await puller.beat(hub);
    expect(await blockers()).toEqual([]);
  });

  it('takes a beat whose count cannot be written, and goes on counting', async () => {
    await start({ auto: 'to_narrowing' });
    for (let round = 0; round < 6; round += 1) await beatAll();
    const count = (n: number) => ({
      tokens: [{ secret: 'fleet', counter: COUNTER, hits: [{ version: 1, count: n }], samples: [] }],
    });
    const flatSince = () => hub.tokenReports.quiet('a', 'fleet', 1)?.flatSinceMs;
    const before = flatSince();
    await hub.wall.advance(HOUR_MS);
    hub.tamper('drop table token_counts');
    await fleet[0]?.beat(hub, { body: count(3) });
    expect(flatSince()).toBe(hub.clock.now());
    expect(flatSince()).not.toBe(before);
  });

  it('brings what can be read to a host that holds another one that cannot', async () => {
    await createSecret(hub, { name: 'a-token', holders: ['all'] }, operator);
    const { read } = hub.tokens;
    const reading = vi.spyOn(hub.tokens, 'read').mockImplementation((secret, version) => {
      if (secret === 'fleet') throw new RollcallError('store_unreadable', { table: 'token_versions', row: 'fleet/1' });
      return read(secret, version);
    });
    const joined = createTestHost('c');
    const { token = '' } = await addHost(hub, { host: 'c' }, operator);
    await joined.enrol(hub, token);
    await joined.beat(hub);
    expect([...joined.tokens.keys()]).toEqual(['a-token']);
    reading.mockRestore();
    await joined.beat(hub);
    expect([...joined.tokens.keys()].sort()).toEqual(['a-token', 'fleet']);
  });

  it('sees who went back to the old one, also in the beat that proves another token, until it sends the new one again', async () => {
    const [a] = fleet as [TestHost, TestHost];
    await start();
    await beatAll();
    await advanceRotation(hub, 'fleet', undefined, operator);
    for (let round = 0; round < 4; round += 1) await beatAll();
    expect(await blockers()).toEqual([]);
    await createSecret(hub, { name: 'a-first', holders: ['a'] }, operator);
    await a.beat(hub, { tokens: [newText()] });
    await a.beat(hub, { tokens: [OLD, a.tokenText('a-first')] });
    expect(hub.roll.get('a')?.tokens.find(({ secret }) => secret === 'a-first')?.wanted?.ackedStep).toBe(1);
    const wentBack = async () => (await blockers()).some((text) => text.startsWith('a '));
    expect(await wentBack()).toBe(true);
    // Silence is not the new one.
    await hub.wall.advance(DAY_MS);
    expect(await wentBack()).toBe(true);
    await a.beat(hub);
    await a.beat(hub);
    expect(await blockers()).toEqual([]);
  });

  it('says which version is sent, which is taken beside it, and which was', async () => {
    const states = async () => (await showSecret(hub, hub.db, 'fleet')).versions.map(({ state }) => state);
    expect(await states()).toEqual(['current']);
    await start();
    expect(await states()).toEqual(['current', 'next']);
    await beatAll();
    await advanceRotation(hub, 'fleet', 'widening', operator);
    expect(await states()).toEqual(['previous', 'current']);
    await rollBackRotation(hub, 'fleet', 'not today', operator);
    expect(await states()).toEqual(['current', 'previous']);
  });

  it('is cut by name only, and narrows at that time', async () => {
    await start();
    const untilMs = hub.clock.now() + HOUR_MS;
    expect(await codeOf(cutRotation(hub, 'fleet', { untilMs, leave: [] }, operator))).toBe('would_strand');
    await cutRotation(hub, 'fleet', { untilMs, leave: ['a', 'b', 'caller:deploy'] }, operator);
    await hub.wall.advance(HOUR_MS - 1);
    await jobs();
    expect([await takes(OLD), await phase()]).toEqual([true, 'widening']);
    await hub.wall.advance(1);
    expect(await takes(OLD)).toBe(false);
    await jobs();
    expect(await phase()).toBe('narrowing');
    for (const host of fleet) await host.beat(hub, { tokens: [] });
    expect(sets()).toEqual(['2 sends 2', '2 sends 2']);
  });

  it('gives a host that joins, enrols anew or was evicted exactly the sets of that moment', async () => {
    await start();
    await beatAll();
    await advanceRotation(hub, 'fleet', undefined, operator);
    const joined = createTestHost('c');
    const { token = '' } = await addHost(hub, { host: 'c', reach: 'push', address: '127.0.0.1:1' }, operator);
    await joined.enrol(hub, token);
    await joined.beat(hub);
    expect(joined.tokens.get('fleet')?.accept.map(({ version }) => version)).toEqual([2, 1]);
    expect(joined.tokens.get('fleet')?.present).toBe(1);
    await evictHost(hub, 'b', false, operator);
    const again = createTestHost('b');
    const issued = await reenrolHost(hub, 'b', undefined, operator);
    await again.enrol(hub, issued.token ?? '');
    await again.beat(hub);
    expect(again.tokens.get('fleet')?.accept.map(({ version }) => version)).toEqual([2, 1]);
    fleet = [fleet[0] as TestHost, joined, again];
    callers = [];
    await carryTo('done');
    expect(sets()).toEqual(['2 sends 2', '2 sends 2', '2 sends 2']);
  });

  it('takes a report that does not name the retiring version for none of it, and not for zero', async () => {
    await start({ auto: 'to_narrowing' });
    for (let round = 0; round < 6; round += 1) await beatAll();
    expect(await phase()).toBe('proving');
    const [a, b] = fleet;
    await hub.wall.advance(WINDOW_MS);
    const of = (hits: ReturnType<typeof zeroes>) => ({
      tokens: [{ secret: 'fleet', counter: COUNTER, hits, samples: [] }],
    });
    await a?.beat(hub, { body: of([{ version: 2, count: 0 }]) });
    await b?.beat(hub, { body: of(zeroes(b)) });
    expect(await blockers()).toEqual(['a quiet_window']);
    await a?.beat(hub, { body: of([{ version: 1, count: 0 }]) });
    expect(await blockers()).toEqual([]);
  });

  it('goes on after a restart in each phase, and the hub begins to count anew after a stop that was not clean', async () => {
    await start({ auto: 'to_narrowing' });
    for (let round = 0; round < 5; round += 1) await beatAll();
    const flatSince = () => hub.tokenHits.count('fleet', 1, hub.clock.now()).flatSinceMs;
    callers = [newText()];
    const before = flatSince();
    await hub.wall.advance(HOUR_MS);
    await hub.tokenHits.save(hub.clock.now());
    hub = await hub.restart();
    expect(flatSince()).toBe(before);
    hub = await hub.restart();
    expect(flatSince()).toBe(hub.clock.now());

    // Nobody has sent it since: that is a count too, and outlives a clean stop as any other.
    const anew = flatSince();
    await hub.wall.advance(HOUR_MS);
    await hub.tokenHits.save(hub.clock.now());
    hub = await hub.restart();
    expect(flatSince()).toBe(anew);
  });

  it('is rotated without a refused request, each gate by its evidence, and the old value is destroyed', async () => {
    await start();
    expect(await blockers()).toEqual(['a probe', 'b probe', 'replica:local probe']);
    expect(await codeOf(advanceRotation(hub, 'fleet', undefined, operator))).toBe('gate_closed');
    await beatAll();
    expect(sets()).toEqual(['2+1 sends 1', '2+1 sends 1']);
    expect(await blockers()).toEqual([]);
    expect(await phase()).toBe('widening');
    await advanceRotation(hub, 'fleet', 'widening', operator);
    expect(await codeOf(advanceRotation(hub, 'fleet', 'widening', operator))).toBe('rotation_moved_on');

    await beatAll();
    expect(sets()).toEqual(['2+1 sends 2', '2+1 sends 1']);
    await beatAll();
    expect(sets()).toEqual(['2+1 sends 2', '2+1 sends 2']);
    await beatAll();
    await advanceRotation(hub, 'fleet', 'rolling', operator);

    // Somebody still sends the old one to the hub.
    expect(await blockers()).toEqual(['a quiet_window', 'b quiet_window', 'replica:local quiet_window']);
    await hub.wall.advance(WINDOW_MS);
    await beatAll();
    expect(await blockers()).toEqual([]);
    await advanceRotation(hub, 'fleet', 'proving', operator);

    callers = [newText()];
    await carryTo('done');
    expect(sets()).toEqual(['2 sends 2', '2 sends 2']);
    expect(await takes(OLD)).toBe(false);
    const versions = await listTokenVersions(hub.db, hub.vault, 'fleet');
    expect(versions.map(({ version, value }) => [version, value !== undefined])).toEqual([
      [1, false],
      [2, true],
    ]);
    expect(
      (await auditOf(hub)).filter((line) => line.startsWith('rotation.')).map((line) => line.split(' ')[0]),
    ).toEqual([
      'rotation.started',
      'rotation.advanced',
      'rotation.wave',
      'rotation.wave',
      'rotation.advanced',
      'rotation.advanced',
      'rotation.advanced',
    ]);
  });
});
