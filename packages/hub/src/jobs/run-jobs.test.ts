import { limits } from '@rollcall/core/limits';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createTestHost, enrolNew, type TestHost, thiefBearer } from '../host.fixture.ts';
import { createTestHub, operator, type TestHub } from '../hub.fixture.ts';
import { addHost } from '../operations/add-host.ts';
import { createSecret } from '../operations/create-secret.ts';
import { startRotation } from '../operations/rotation/walk.ts';
import { listLiveness } from '../store/liveness.ts';
import { findRotation } from '../store/rotations.ts';
import { type Jobs, runJobs } from './run-jobs.ts';

let hub: TestHub;
let host: TestHost;
let jobs: Jobs;
beforeEach(async () => {
  hub = await createTestHub();
  host = await enrolNew(hub, 'agent-7');
});

function start(): Jobs {
  jobs = runJobs({ ...hub, nudgeRotation: () => jobs.nudge() }, hub.wall, { renewIfDue: () => undefined });
  onTestFinished(() => jobs.stop());
  return jobs;
}

/** Queries are answered in turns of the event loop, which a clock of a test knows nothing of. */
async function pass(ms: number): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
  await hub.wall.advance(ms);
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
}

const phase = async () => (await findRotation(hub.db, hub.vault, 'master'))?.phase;
const rotate = (windowMs = 30_000) =>
  startRotation(
    hub,
    { secret: 'master', reason: 'planned', leave: [], narrowByMs: hub.wall.now() + windowMs },
    operator,
  );

describe('the jobs of a hub', () => {
  it('write down what was heard, within a second', async () => {
    start();
    await pass(0);
    await host.beat(hub, { from: '198.51.100.9' });
    await pass(limits.livenessFlushMs);
    expect((await listLiveness(hub.db))[0]).toMatchObject({ address: '198.51.100.9' });
  });

  it('say once a second that the process runs: for as long as they do not nobody was counted', async () => {
    let ticks = 0;
    Object.assign(hub.attendance, { tick: () => (ticks += 1) });
    start();
    for (let round = 0; round < 5; round += 1) await pass(limits.livenessFlushMs);
    expect(ticks).toBeGreaterThanOrEqual(5);
  });

  it('carry a rotation on by themselves, and close its window when its time has come', async () => {
    start();
    await rotate();
    for (let round = 0; round < 4; round += 1) {
      await pass(limits.rotationStepMs);
      await host.beat(hub);
      await host.beat(hub);
    }
    await pass(limits.rotationStepMs);
    expect(await phase()).toBe('proving');
    for (let step = 0; step < 61; step += 1) await pass(limits.rotationStepMs);
    expect(await phase()).toBe('narrowing');
  });

  it('look again at once when they are nudged, also in the middle of a round', async () => {
    start();
    await pass(0);
    await rotate();
    expect(await phase()).toBe('widening');
    jobs.nudge();
    jobs.nudge();
    await pass(0);
    expect(await phase()).toBe('rolling');
  });

  it('go on after a failure, come back when the store can be read, and say meanwhile that they stand still', async () => {
    start();
    await pass(0);
    const bearer = host.bearer();
    hub.tamper('update generations set created_at = created_at + 1');
    for (let second = 0; second < 40; second += 1) await pass(limits.livenessFlushMs);
    expect(() => hub.generations.verify('agent-7', 1, bearer)).toThrow(
      expect.objectContaining({ code: 'unavailable' }),
    );
    expect(hub.logged.some((line) => line.includes('"job":"generations"'))).toBe(true);
    expect(jobs.areAlive()).toBe(true);
    for (let second = 0; second < 30; second += 1) await pass(limits.livenessFlushMs);
    expect(jobs.areAlive()).toBe(false);
    hub.tamper('update generations set created_at = created_at - 1');
    await pass(limits.storePollMs);
    expect(hub.generations.verify('agent-7', 1, bearer)).toEqual({ version: 1 });
    expect(jobs.areAlive()).toBe(true);
  });

  it('fail ever more seldom, whoever nudges them, say so now and then, and are at their pace again after one success', async () => {
    start();
    await pass(0);
    const lines = (text: string) => hub.logged.filter((line) => line.includes(text) && line.includes('"rotation"'));
    const state = () => jobs.states().find(({ name }) => name === 'rotation');
    expect(state()).toMatchObject({ failuresInARow: 0, failures: 0 });
    await rotate(3_600_000);
    hub.tamper(`update rotations set phase = 'rolling'`);
    let waitedMs = 0;
    for (; waitedMs < 300_000; waitedMs += 100) {
      jobs.nudge();
      await pass(100);
    }
    const failures = state()?.failures ?? 0;
    // Half a second, one, two, four, and five ever after.
    expect(failures).toBeGreaterThan(50);
    expect(failures).toBeLessThan(4 + waitedMs / limits.jobRetryMaxMs + 2);
    expect(state()?.failuresInARow).toBe(failures);
    expect(lines('a job failed').length).toBe(
      limits.jobFailuresLogged + Math.floor(failures / limits.jobFailuresPerLog),
    );
    expect(lines('a job failed')[0]).toContain('store_unreadable');

    hub.tamper(`update rotations set phase = 'widening'`);
    await pass(limits.jobRetryMaxMs);
    expect(state()).toMatchObject({ failuresInARow: 0, failures });
    expect(lines('a job works again')).toHaveLength(1);
    expect(await phase()).toBe('rolling');
    hub.tamper(`update rotations set phase = 'done'`);
    await pass(limits.rotationStepMs);
    await pass(limits.jobRetryFirstMs);
    expect(state()).toMatchObject({ failuresInARow: 2, failures: failures + 2 });
    expect(state()?.durations.read().count).toBeGreaterThan(failures);
  });

  it('are alive while a verifier does not answer: it holds the walk of its token, and no job but the one that asks', async () => {
    let giveUp: (reason: Error) => void = () => undefined;
    const asked: string[] = [];
    const silent = new Promise<never>((_resolve, reject) => {
      giveUp = reject;
    });
    silent.catch(() => undefined);
    hub = await createTestHub({
      ask: {
        replica: async () => 'refused',
        host: ({ host: member }) => {
          asked.push(member);
          return silent;
        },
      },
    });
    host = createTestHost('agent-7');
    const { token = '' } = await addHost(hub, { host: host.id, reach: 'push', address: '127.0.0.1:1' }, operator);
    await host.enrol(hub, token);
    await createSecret(hub, { name: 'fleet', holders: ['agent-7'] }, operator);
    await host.beat(hub);
    await startRotation(hub, { secret: 'fleet', reason: 'planned', leave: [], narrowByMs: null }, operator);
    await host.beat(hub);
    await host.beat(hub);
    start();
    for (let second = 0; second < 70; second += 1) await pass(1_000);
    expect(asked).toEqual(['agent-7']);
    expect(jobs.areAlive()).toBe(true);
    expect(
      jobs
        .states()
        .find(({ name }) => name === 'tokens')
        ?.durations.read().count,
    ).toBeGreaterThan(10);
    // It is asked again, ever more seldom.
    giveUp(new Error('it gave no answer'));
    for (let second = 0; second < 70; second += 1) await pass(1_000);
    expect(asked.length).toBeGreaterThan(3);
    expect(asked.length).toBeLessThan(10);
  });

  it('end at once, whatever they wait for, and flush a last time', async () => {
    start();
    await pass(0);
    await host.beat(hub, { from: '198.51.100.9' });
    const waiting = hub.wall.pending;
    await jobs.stop();
    expect(waiting).toBeGreaterThan(0);
    expect(hub.wall.pending).toBe(0);
    expect((await listLiveness(hub.db))[0]).toMatchObject({ address: '198.51.100.9' });
  });

  it('end too when they are stopped in the middle of a round', async () => {
    start();
    await jobs.stop();
    expect(hub.wall.pending).toBe(0);
  });

  it('never let the old generation verify while they are late: the clock decides, not they', async () => {
    const old = thiefBearer(hub, 'agent-7', 1, 1);
    await rotate();
    await hub.wall.advance(30_000);
    expect(() => hub.generations.verify('agent-7', 1, old)).toThrow(
      expect.objectContaining({ code: 'unauthenticated' }),
    );
    expect(await phase()).toBe('widening');
    start();
    await pass(limits.rotationStepMs);
    expect(await phase()).toBe('narrowing');
  });
});
