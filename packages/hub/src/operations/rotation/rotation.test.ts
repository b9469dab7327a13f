import { beforeEach, describe, expect, it } from 'vitest';
import { addExisting, createTestHost, enrolNew, type TestHost, thiefBearer } from '../../host.fixture.ts';
import { auditOf, codeOf, createTestHub, DAY_MS, operator, START_MS, type TestHub } from '../../hub.fixture.ts';
import { listAssignments } from '../../store/assignments.ts';
import { listGenerations } from '../../store/generations.ts';
import { findRotation } from '../../store/rotations.ts';
import { addHost, reenrolHost } from '../add-host.ts';
import { approvePin } from '../decide-pin.ts';
import { evictHost, removeHost } from '../end-host.ts';
import { resumeHost, suspendHost } from '../suspend-host.ts';
import { cutRotation, leaveRotation, pauseRotation, resumeRotation } from './hold.ts';
import { retireRotation } from './retire.ts';
import type { StartInput } from './subject.ts';
import { readRotation, viewRotation } from './view.ts';
import { advanceRotation, startRotation, stepMaster } from './walk.ts';

let hub: TestHub;
let fleet: TestHost[];
beforeEach(async () => {
  hub = await createTestHub();
  fleet = [];
  for (const id of ['a', 'b', 'c']) fleet.push(await enrolNew(hub, id));
});

const start = (changes: Partial<StartInput> = {}) =>
  startRotation(hub, { secret: 'master', reason: 'planned', leave: [], narrowByMs: null, ...changes }, operator);
const phase = async () => (await findRotation(hub.db, hub.vault, 'master'))?.phase;
const standing = async () =>
  [...(await listAssignments(hub.db, hub.vault, 'master')).values()].filter(
    (assignment) => assignment !== 'unreadable',
  );
const steps = async () => {
  while (await stepMaster(hub));
};
const states = async () =>
  (await listGenerations(hub.db, hub.vault, 'master')).map(({ version, state }) => `${version} ${state}`);
const blockers = async () =>
  (await viewRotation(hub, hub.db, await readRotation(hub, hub.db, 'master'))).gate.blockers.map(
    ({ member, missing }) => `${member} ${missing}`,
  );

/** Every host of the fleet beats, twice: it takes what is due, and proves it. No beat may ever be refused (I1). */
async function beatAll(hosts: readonly TestHost[] = fleet): Promise<void> {
  for (const host of hosts) {
    await host.beat(hub);
    await host.beat(hub);
  }
  await steps();
}

/** Beats until the rotation has come as far as it does by itself. */
async function carryTo(wanted: string): Promise<void> {
  for (let round = 0; round < 6 && (await phase()) !== wanted; round += 1) await beatAll();
  expect(await phase()).toBe(wanted);
}

describe('a rotation of the master', () => {
  it('rolls by itself, a canary first, waits in proving for the window, and narrows when it ends', async () => {
    await start();
    expect(await states()).toEqual(['1 previous', '2 current']);
    await steps();
    expect(await phase()).toBe('rolling');
    const switched = async () => (await standing()).filter(({ present }) => present === 2).map(({ host }) => host);
    expect(await switched()).toHaveLength(1);
    await beatAll();
    expect((await switched()).sort()).toEqual(['a', 'b', 'c']);
    await carryTo('proving');
    expect(await blockers()).toEqual(['master window_closed']);
    await hub.wall.advance(7 * DAY_MS);
    await beatAll();
    await carryTo('done');
    expect(fleet.map(({ assignment }) => assignment?.accept.map(({ version }) => version))).toEqual([[2], [2], [2]]);
    // The row stays, closed, until it is retired.
    expect(await states()).toEqual(['1 previous', '2 current']);
    await retireRotation(hub, 'master', { now: false, leave: [] }, operator);
    expect(await states()).toEqual(['1 destroyed', '2 current']);
  });

  it('is proven by what a verifier saw: a host that only holds the new version is not counted', async () => {
    await start();
    await steps();
    await beatAll();
    // Two take the delivery and go on presenting the old one.
    for (const host of fleet) await host.beat(hub, { version: 1 });
    await steps();
    expect(await phase()).toBe('rolling');
    expect((await blockers()).length).toBeGreaterThan(0);
    await carryTo('proving');
  });

  it('retires at once what nobody needs any more, and never what would strand someone', async () => {
    await start();
    await steps();
    expect(await codeOf(retireRotation(hub, 'master', { now: false, leave: [] }, operator))).toBe('window_open');
    expect(await codeOf(retireRotation(hub, 'master', { now: true, leave: [] }, operator))).toBe('would_strand');
    expect(await states()).toEqual(['1 previous', '2 current']);
    await carryTo('proving');
    const old = thiefBearer(hub, 'a', 1, 1);
    expect(await codeOf(retireRotation(hub, 'master', { now: false, leave: [] }, operator))).toBe('window_open');
    await retireRotation(hub, 'master', { now: true, leave: [] }, operator);
    expect(await codeOf((fleet[0] as TestHost).beat(hub, { bearer: old }))).toBe('unauthenticated');
    expect(await phase()).toBe('narrowing');
    await carryTo('done');
  });

  it('names those it strands with --leave, and goes on without them', async () => {
    const [, , silent] = fleet as [TestHost, TestHost, TestHost];
    await start();
    await steps();
    fleet.pop();
    for (let round = 0; round < 3; round += 1) await beatAll();
    expect(await phase()).toBe('rolling');
    expect(await blockers()).toEqual(['c proof_of_new']);
    expect(await codeOf(retireRotation(hub, 'master', { now: true, leave: ['nobody'] }, operator))).toBe(
      'leave_unknown',
    );
    expect(await codeOf(retireRotation(hub, 'master', { now: true, leave: ['b'] }, operator))).toBe('would_strand');
    await retireRotation(hub, 'master', { now: true, leave: ['c'] }, operator);
    await carryTo('done');
    expect((await findRotation(hub.db, hub.vault, 'master'))?.left).toEqual(['c']);
    expect(await codeOf(silent.beat(hub))).toBe('unauthenticated');
  });

  it('goes on without a host that an operator leaves, with his reason in the audit', async () => {
    await start();
    await steps();
    fleet.pop();
    for (let round = 0; round < 3; round += 1) await beatAll();
    await leaveRotation(hub, 'master', { leave: ['c'], reason: 'in a cupboard' }, operator);
    await carryTo('proving');
    expect(await auditOf(hub)).toContain(`rotation.left ${(await findRotation(hub.db, hub.vault, 'master'))?.id} done`);
  });

  it('stands still while it is paused, in no phase longer than its window', async () => {
    await start();
    await steps();
    await pauseRotation(hub, 'master', 'lunch', operator);
    await beatAll();
    expect(await phase()).toBe('rolling');
    expect((await standing()).filter(({ present }) => present === 2)).toHaveLength(1);
    expect(await codeOf(advanceRotation(hub, 'master', undefined, operator))).toBe('rotation_paused');
    await resumeRotation(hub, 'master', operator);
    await beatAll();
    expect((await standing()).filter(({ present }) => present === 2)).toHaveLength(3);
    await pauseRotation(hub, 'master', 'supper', operator);
    await hub.wall.advance(7 * DAY_MS);
    await steps();
    expect(await phase()).toBe('narrowing');
  });

  it('goes on with another canary when one refuses the delivery: a thief with one bearer could say it', async () => {
    await start();
    await steps();
    const canary = (await findRotation(hub.db, hub.vault, 'master'))?.canary;
    const host = fleet.find(({ id }) => id === canary) as TestHost;
    const refused = [{ secret: 'master', reason: 'delivery_unopenable' }];
    await host.beat(hub, { lost: true, body: { refused } });
    await steps();
    expect(await findRotation(hub.db, hub.vault, 'master')).toMatchObject({ pausedBecause: null, phase: 'rolling' });
    expect((await findRotation(hub.db, hub.vault, 'master'))?.canary).not.toBe(canary);
    await beatAll(fleet.filter(({ id }) => id !== canary));
    await beatAll(fleet.filter(({ id }) => id !== canary));
    expect(await blockers()).toEqual([`${canary} proof_of_new`]);
    await carryTo('proving');
  });

  it('can be cut short, never made longer', async () => {
    await start();
    await carryTo('proving');
    const at = (ms: number) => ({ untilMs: START_MS + ms, leave: [] });
    expect(await codeOf(cutRotation(hub, 'master', at(8 * DAY_MS), operator))).toBe('window_not_shortened');
    await cutRotation(hub, 'master', at(DAY_MS), operator);
    const old = thiefBearer(hub, 'a', 1, 1);
    await hub.wall.advance(DAY_MS - 1);
    expect(await codeOf((fleet[0] as TestHost).beat(hub, { bearer: old }))).toBe('done');
    await hub.wall.advance(1);
    expect(await codeOf((fleet[0] as TestHost).beat(hub, { bearer: old }))).toBe('unauthenticated');
    expect(await codeOf((fleet[0] as TestHost).beat(hub))).toBe('done');
  });

  it('goes on after a restart of the hub between any two steps, and nothing is done twice', async () => {
    await start();
    for (let turn = 0; turn < 12; turn += 1) {
      hub = await hub.restart();
      for (const host of fleet) await host.beat(hub);
      await stepMaster(hub);
    }
    expect(await phase()).toBe('proving');
    const lines = (await auditOf(hub)).filter((line) => line.startsWith('rotation.'));
    expect(lines.map((line) => line.split(' ')[0])).toEqual([
      'rotation.started',
      'rotation.advanced',
      'rotation.wave',
      'rotation.wave',
      'rotation.advanced',
    ]);
  });
});

describe('a start', () => {
  it('is refused while a host has no usable pin, with its name, and taken with --leave', async () => {
    await addExisting(hub, 'unpinned');
    expect(await codeOf(start())).toBe('hosts_without_pin');
    expect(await states()).toEqual(['1 current']);
    await start({ leave: ['unpinned'] });
    expect((await findRotation(hub.db, hub.vault, 'master'))?.left).toEqual(['unpinned']);
  });

  it('after a leak goes on without them, and they are not left', async () => {
    await addExisting(hub, 'unpinned');
    await start({ reason: 'leak' });
    expect((await findRotation(hub.db, hub.vault, 'master'))?.left).toEqual([]);
    expect((await listGenerations(hub.db, hub.vault, 'master'))[0]).toMatchObject({ state: 'previous', leaked: true });
  });

  it('of two operators in the same second: one starts', async () => {
    const codes = await Promise.all([codeOf(start()), codeOf(start())]);
    expect(codes.sort()).toEqual(['done', 'rotation_running']);
    expect(await states()).toEqual(['1 previous', '2 current']);
  });

  it('is refused for an unfit window, without a master, over an empty roll’s window, and while the clock jumped', async () => {
    expect(await codeOf(start({ narrowByMs: START_MS + 1 }))).toBe('window_out_of_bounds');
    expect(await codeOf(start({ narrowByMs: START_MS + 8 * DAY_MS }))).toBe('window_out_of_bounds');
    const bare = await createTestHub({ master: false });
    expect(
      await codeOf(startRotation(bare, { secret: 'master', reason: 'planned', leave: [], narrowByMs: null }, operator)),
    ).toBe('no_current_version');
    hub.wall.setWall(START_MS + DAY_MS);
    expect(await codeOf(start())).toBe('hub_time_jumped');
    expect(await states()).toEqual(['1 current']);
  });

  it('over a running rotation takes what `retire --now` takes, and makes the third generation the second live one', async () => {
    const first = await start();
    expect(first.supersedes).toBeNull();
    await steps();
    expect(await codeOf(start())).toBe('rotation_running');
    await carryTo('proving');
    expect(await start()).toMatchObject({ supersedes: first.id });
    expect(await states()).toEqual(['1 destroyed', '2 previous', '3 current']);
    await carryTo('proving');
    expect(fleet.map(({ assignment }) => assignment?.present)).toEqual([3, 3, 3]);
  });

  it('that destroys a generation leaves no host with an assignment of it: whoever beats is answered', async () => {
    await start();
    await steps();
    await beatAll();
    const [a, b, c] = fleet as [TestHost, TestHost, TestHost];
    // `c` holds the new version and presents it, but never acked the step that also carries the old one.
    await c.beat(hub, { lost: true });
    const two = thiefBearer(hub, 'c', 1, 2);
    await beatAll([a, b]);
    await c.beat(hub, { bearer: two, lost: true, body: { held: {} } });
    await start();
    expect(await states()).toEqual(['1 destroyed', '2 previous', '3 current']);
    expect(await codeOf(c.beat(hub, { bearer: two, body: { held: {} } }))).toBe('done');
    expect(c.assignment?.accept.map(({ version }) => version)).toEqual([2]);
  });
});

describe('after a leak', () => {
  it('the new generation comes alone, the thief’s beats stop at the time, and nobody holds the rotation open', async () => {
    const [a, b, c] = fleet as [TestHost, TestHost, TestHost];
    const thief = thiefBearer(hub, 'c', 1, 1);
    await start({ reason: 'leak', narrowByMs: START_MS + DAY_MS });
    await steps();
    await beatAll([a, b]);
    await beatAll([a, b]);
    expect(a.assignment?.accept.map(({ version }) => version)).toEqual([2]);
    await hub.wall.advance(DAY_MS - 1);
    expect(await codeOf(c.beat(hub, { bearer: thief, lost: true }))).toBe('done');
    await hub.wall.advance(1);
    expect(await codeOf(c.beat(hub, { bearer: thief, lost: true }))).toBe('unauthenticated');
    await beatAll([a, b]);
    expect(await phase()).toBe('done');
  });
});

describe('who comes in the middle gets exactly what is of that moment', () => {
  /** Brings the rotation to `wanted`, then lets `come` bring a host in, and the rotation must still end. */
  async function joins(wanted: string, come: () => Promise<TestHost>): Promise<void> {
    await start();
    await steps();
    if (wanted !== 'rolling') await carryTo('proving');
    if (wanted === 'narrowing') {
      await retireRotation(hub, 'master', { now: true, leave: [] }, operator);
      expect(await phase()).toBe('narrowing');
    }
    const host = await come();
    if (!fleet.includes(host)) fleet.push(host);
    // The first beat may be one that only fetches.
    for (let beat = 0; beat < 2; beat += 1) expect(await codeOf(host.beat(hub))).toBe('done');
    if (wanted !== 'narrowing') {
      await carryTo('proving');
      await retireRotation(hub, 'master', { now: true, leave: [] }, operator);
    }
    await carryTo('done');
    for (const { assignment } of fleet) expect(assignment).toMatchObject({ present: 2, accept: [{ version: 2 }] });
  }

  const phases = ['rolling', 'proving', 'narrowing'];

  it.each(phases)('a new host, in %s', async (wanted) => {
    await joins(wanted, async () => {
      const host = createTestHost('new');
      await host.enrol(hub, (await addHost(hub, { host: 'new' }, operator)).token ?? '');
      return host;
    });
  });

  it.each(phases)('a host that enrols again, in %s', async (wanted) => {
    await joins(wanted, async () => {
      const [host] = fleet as [TestHost];
      await host.enrol(hub, (await reenrolHost(hub, 'a', undefined, operator)).token ?? '');
      return host;
    });
  });

  it.each(phases)('a host that is re-pinned, in %s', async (wanted) => {
    await joins(wanted, async () => {
      const [host] = fleet as [TestHost];
      const { key } = createTestHost('a');
      await approvePin(hub, 'a', key.public.fingerprint, operator);
      await host.beat(hub, { key, lost: true });
      host.key = key;
      return host;
    });
  });

  it.each(phases)('a host that was suspended and comes back, in %s', async (wanted) => {
    const [host] = fleet as [TestHost];
    await start();
    await steps();
    if (wanted !== 'rolling') await carryTo('proving');
    await suspendHost(hub, 'a', operator);
    if (wanted === 'narrowing') await retireRotation(hub, 'master', { now: true, leave: [] }, operator);
    expect(await codeOf(host.beat(hub))).toBe('unauthenticated');
    await resumeHost(hub, 'a', operator);
    if (wanted === 'narrowing') {
      await carryTo('done');
    } else {
      await carryTo('proving');
    }
    expect(host.assignment?.present).toBe(2);
  });

  it('a host that returns after the end gets the current version only', async () => {
    const [host] = fleet as [TestHost];
    await start();
    await carryTo('proving');
    await retireRotation(hub, 'master', { now: true, leave: [] }, operator);
    fleet.shift();
    expect(await phase()).toBe('narrowing');
    await host.beat(hub);
    expect(host.assignment).toMatchObject({ present: 2, accept: [{ version: 2 }] });
  });
});

describe('who leaves in the middle', () => {
  it.each<[string, (id: string) => Promise<unknown>]>([
    ['removed', (id) => removeHost(hub, id, operator)],
    ['evicted', (id) => evictHost(hub, id, false, operator)],
  ])('by being %s does not hold the rotation', async (_how, end) => {
    await start();
    await steps();
    fleet.pop();
    for (let round = 0; round < 3; round += 1) await beatAll();
    expect(await blockers()).toEqual(['c proof_of_new']);
    await end('c');
    await carryTo('proving');
  });
});

describe('advance', () => {
  it('refuses a closed gate, a phase that was left, and a rotation that nobody knows', async () => {
    await start();
    await steps();
    expect(await codeOf(advanceRotation(hub, 'master', 'rolling', operator))).toBe('gate_closed');
    expect(await codeOf(advanceRotation(hub, 'master', 'widening', operator))).toBe('rotation_moved_on');
    expect(await codeOf(advanceRotation(hub, 'nobody', undefined, operator))).toBe('rotation_unknown');
    expect(await phase()).toBe('rolling');
    await carryTo('proving');
  });

  it('by two at once: one wins, the other is told', async () => {
    await start();
    const codes = await Promise.all([
      codeOf(advanceRotation(hub, 'master', 'widening', operator)),
      codeOf(advanceRotation(hub, 'master', 'widening', operator)),
    ]);
    expect(codes.sort()).toEqual(['done', 'rotation_moved_on']);
    expect(await phase()).toBe('rolling');
  });
});
