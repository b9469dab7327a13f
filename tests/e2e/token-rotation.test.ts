/** Rotations of a shared token as operators and callers see them, over real processes: held up, turned back, ended whoever minds. */
import type { RotationStatus } from '@rollcall/wire';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Callers, refusedOf, startCallers, takenBy } from './harness/token-callers.ts';
import { createTokenFleet, hosts, push, type TokenFleet, verifierNames } from './harness/token-fleet.ts';
import { during } from './harness/wait-until.ts';

const quietWindowMs = 3_000;
const TEST_MS = 180_000;
/** The members whose processes are ended in the middle. */
const restarted = ['a', 'replica:local'];

let world: TokenFleet;
/** From the first test to the last, each with what the file of its host says at that moment. */
let valid: Callers;

beforeAll(async () => {
  world = await createTokenFleet(`${quietWindowMs}ms`);
  const tokens = Object.fromEntries(hosts.map((host) => [host, () => world.told(host)]));
  valid = startCallers(tokens, targets());
}, TEST_MS);
afterAll(async () => {
  await valid?.stop();
  await world?.fleet.close();
});

describe('a cron job that nobody remembers', () => {
  it('holds the rotation before narrowing, and is named by its address; so do counters that began anew', {
    timeout: TEST_MS,
  }, async () => {
    const { fleet, first } = world;
    let told = () => first;
    const cron = startCallers(
      { cron: () => told() },
      targets({ localAddress: '127.0.0.23', userAgent: 'cron-job' }).filter(({ name }) => name === 'b'),
      200,
    );
    await world.start({ auto: 'to_narrowing' });
    await world.waitForPhase('proving');
    const held = await fleet.waitUntil('it alone is left', async () => {
      const status = await world.rotation();
      return lacks(status, 'b', 'quiet_window') && status.gate.blockers.length === 1 && status;
    });
    expect(held.gate.blockers[0]?.hint).toContain('127.0.0.23 (cron-job)');
    expect(held.retiringHits.sources).toContainEqual(
      expect.objectContaining({ address: '127.0.0.23', userAgent: 'cron-job', verifier: 'b', route: '/v1/echo' }),
    );
    const refused = await fleet.rollcall('rotation', 'advance', 'fleet');
    expect([refused.code, refused.stdout]).toEqual([3, expect.stringContaining('127.0.0.23')]);
    // Time alone opens nothing while it goes on.
    await during(quietWindowMs + 1_000, async () => {
      const { rotation, gate } = await world.rotation();
      expect([rotation.phase, gate.open]).toEqual(['proving', false]);
    });

    // The control: it is mended, and nothing else holds.
    told = () => world.told('c');
    await world.waitForGate();
    expect((await world.rotation()).rotation.phase).toBe('proving');

    // Who ends in order says what was counted, and no window begins anew.
    await world.agent('a').kill('SIGTERM');
    await fleet.hub().kill('SIGTERM');
    world.startAgent('a');
    await fleet.startHub();
    const begunAnew: string[] = [];
    await fleet.waitUntil('they have said so', async () => {
      const status = await world.rotation();
      begunAnew.push(...restarted.filter((member) => lacks(status, member, 'quiet_window')));
      return status.gate.open;
    });
    expect(begunAnew).toEqual([]);

    // What a process had counted when it was killed is not known, and that is not "nobody".
    await world.agent('a').kill('SIGKILL');
    await fleet.hub().kill('SIGKILL');
    world.startAgent('a');
    await fleet.startHub();
    const anew = new Set<string>();
    await fleet.waitUntil('the windows of both begin anew', async () => {
      const status = await world.rotation();
      for (const member of restarted) if (lacks(status, member, 'quiet_window')) anew.add(member);
      return anew.size === restarted.length;
    });
    expect((await fleet.askRaw('POST', '/v1/rotations/fleet/advance', {})).json()['code']).toBe('gate_closed');
    await world.waitForGate();

    await world.advance();
    await world.waitForPhase('done');
    await assertOnly(world.told('c'), first);
    expect(refusedOf(await cron.stop())).toEqual([]);
    assertNobodyRefused();
  });
});

describe('two operators', () => {
  it('who start at once: one starts. Who advance at once: one wins, the other is told', {
    timeout: TEST_MS,
  }, async () => {
    const starts = await both(() => world.fleet.askRaw('POST', '/v1/rotations', { secret: 'fleet' }));
    expect(starts).toEqual([
      [200, undefined],
      [409, 'rotation_running'],
    ]);
    const { rotations } = await world.fleet.ask<{ rotations: { secret: string; phase: string }[] }>(
      'GET',
      '/v1/rotations',
    );
    const running = rotations.filter(({ secret, phase }) => secret === 'fleet' && phase !== 'done');
    expect(running).toHaveLength(1);
    expect((await world.versions()).map(({ state }) => state)).toEqual(['destroyed', 'current', 'next']);

    await world.waitForGate();
    const body = { from: 'widening' };
    expect(await both(() => world.fleet.askRaw('POST', '/v1/rotations/fleet/advance', body))).toEqual([
      [200, undefined],
      [409, 'rotation_moved_on'],
    ]);
    expect((await world.rotation()).rotation.phase).toBe('rolling');
  });
});

describe('a rotation that is rolled back', () => {
  it('gives those that had switched the old version again, and nobody is refused on the way', {
    timeout: TEST_MS,
  }, async () => {
    const { fleet } = world;
    const back = (await world.rotation()).rotation.from;
    const switched = await fleet.waitUntil('one has switched, and is told so', async () => {
      const found = hosts.find((host) => world.told(host) === world.newest(host));
      return (await world.rotation()).progress.proven > 0 && found;
    });
    const given = world.told(switched);
    const told = await fleet.rollcall('rotation', 'rollback', 'fleet', '--reason', 'not today', '--yes', '--json');
    expect([told.code, told.stderr]).toEqual([0, '']);
    await world.waitForPhase('rolled_back');
    await fleet.waitUntil('each presents the old one again', async () => {
      const statuses = await Promise.all(hosts.map((host) => fleet.agentStatus(host)));
      return statuses.every(({ tokens }) => tokens?.[0]?.presents === back && tokens[0].accepts.length === 1);
    });
    await fleet.waitUntil('its callers are told', () => world.told(switched) !== given);
    await assertOnly(world.told(switched), given);
    assertNobodyRefused();
  });
});

describe('a thief who goes on sending the old token', () => {
  it('holds nothing open behind the time that was said: refused by all, within a beat, and the rotation ends', {
    timeout: TEST_MS,
  }, async () => {
    const { fleet } = world;
    const stolen = world.told('a');
    const thief = startCallers(
      { thief: () => stolen },
      targets({ localAddress: '127.0.0.66', userAgent: 'thief' }),
      20,
    );
    const narrowBy = new Date(Date.now() + 600_000).toISOString();
    expect((await fleet.askRaw('POST', '/v1/rotations', { secret: 'fleet', reason: 'leak' })).json()['code']).toBe(
      'narrow_by_missing',
    );
    await world.start({ reason: 'leak', narrowBy, auto: 'all' });
    await world.waitForPhase('proving');
    await during(quietWindowMs + 1_000, async () => {
      const { rotation, gate } = await world.rotation();
      expect([rotation.phase, gate.open]).toEqual(['proving', false]);
    });

    const cut = await fleet.rollcall('rotation', 'cut', 'fleet', '--until', '2s', '--yes', '--json');
    expect([cut.code, cut.stderr]).toEqual([0, '']);
    const until = Date.parse((await world.rotation()).rotation.terms?.narrowBy ?? '');
    await fleet.waitUntil('the time has come', async () => {
      const { phase } = (await world.rotation()).rotation;
      return phase === 'narrowing' || phase === 'done';
    });
    const dropped = new Map<string, number>([['hub', until]]);
    for (const host of push) {
      const before = await beatsOf(host);
      // One may have been under way.
      await fleet.waitUntil(`${host} has beaten since`, async () => (await beatsOf(host)) >= before + 2);
      dropped.set(host, Date.now());
    }
    await world.waitForPhase('done');
    await assertOnly(world.told('a'), stolen);
    const lateAt = (name: string) =>
      thief.calls().filter((call) => call.to === name && call.startedAtMs > (dropped.get(name) ?? 0));
    await fleet.waitUntil('it was tried on each since', () =>
      [...dropped.keys()].every((name) => lateAt(name).some(({ status }) => status !== undefined)),
    );
    const tried = await thief.stop();
    for (const name of dropped.keys()) {
      const late = lateAt(name);
      expect([name, new Set(late.map(({ status }) => status))]).toEqual([name, new Set([401])]);
      // The control: until then it was taken, and so it could have been seen.
      expect(takenBy(tried, name)).toBeGreaterThan(10);
    }
    assertNobodyRefused();
  });
});

function targets(as: Parameters<TokenFleet['ask']>[2] = {}) {
  return verifierNames.map((name) => ({ name, ask: (token: string) => world.ask(name, token, as) }));
}

function lacks({ gate }: RotationStatus, member: string, missing: string): boolean {
  return gate.blockers.some((blocker) => blocker.member === member && blocker.missing === missing);
}

async function beatsOf(host: string): Promise<number> {
  return (await world.fleet.agentStatus(host)).heartbeats['ok'] ?? 0;
}

/** Everyone takes the one, and refuses the other. */
async function assertOnly(taken: string, refused: string): Promise<void> {
  expect(taken).not.toBe(refused);
  for (const name of verifierNames) {
    expect([name, await world.ask(name, taken)]).toEqual([name, 200]);
    expect([name, await world.ask(name, refused)]).toEqual([name, 401]);
  }
}

function assertNobodyRefused(): void {
  expect(refusedOf(valid.calls())).toEqual([]);
  for (const name of verifierNames) expect(takenBy(valid.calls(), name)).toBeGreaterThan(50);
}

/** Sorted: which of the two is the lucky one nobody knows. */
async function both(act: () => Promise<{ status: number; json: () => Record<string, unknown> }>) {
  const answers = await Promise.all([act(), act()]);
  return answers
    .map((answer) => [answer.status, answer.json()['code']])
    .sort(([one], [other]) => Number(one) - Number(other));
}
