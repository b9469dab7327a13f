import { encodeBase64url, utf8 } from '@rollcall/core/bytes';
import type { JsonValue } from '@rollcall/core/json';
import { limits } from '@rollcall/core/limits';
import { verifyStatement } from '@rollcall/core/seal';
import { beforeEach, describe, expect, it } from 'vitest';
import { enrolNew, type TestHost, thiefBearer } from '../host.fixture.ts';
import { auditOf, codeOf, createTestHub, DAY_MS, HOUR_MS, operator, START_MS, type TestHub } from '../hub.fixture.ts';
import { listAudit } from '../store/audit.ts';
import { findRotation } from '../store/rotations.ts';
import { acceptTime } from './accept-time.ts';
import { addHost } from './add-host.ts';
import { createSecret } from './create-secret.ts';
import { startRotation, stepMaster, stepTokens } from './rotation/walk.ts';

const planned = { secret: 'master', reason: 'planned', leave: [], narrowByMs: null } as const;

let hub: TestHub;
let host: TestHost;
beforeEach(async () => {
  hub = await createTestHub();
  host = await enrolNew(hub, 'agent-7');
});

/** Two seconds go by whenever the time is written. */
function writeSlowly(): void {
  const { save } = hub.clock;
  Object.assign(hub.clock, {
    save: async (...args: Parameters<typeof save>) => {
      await hub.wall.advance(2_000);
      return save(...args);
    },
  });
}

const verifies = (version: number) =>
  codeOf(() => hub.generations.verify('agent-7', 1, thiefBearer(hub, 'agent-7', 1, version)));

it('lets a hub open and issue again after its clock jumped, and not before', async () => {
  hub.wall.setWall(START_MS + 3_650 * DAY_MS);
  expect(await codeOf(startRotation(hub, planned, operator))).toBe('hub_time_jumped');
  hub.wall.setWall(START_MS + HOUR_MS);
  expect(await codeOf(startRotation(hub, planned, operator))).toBe('hub_time_jumped');
  expect(await acceptTime(hub, operator)).toMatchObject({ generation: null, after: '2026-03-01T13:00:00.000Z' });
  expect(await codeOf(startRotation(hub, planned, operator))).toBe('done');
  expect(await auditOf(hub)).toContain('hub.time_accepted hub done');
});

it('holds over a restart', async () => {
  hub.wall.setWall(START_MS + 3_650 * DAY_MS);
  hub.clock.read();
  hub.wall.setWall(START_MS + HOUR_MS);
  await acceptTime(hub, operator);
  const again = await hub.restart();
  expect(again.clock.read()).toMatchObject({ jumped: false });
  expect(again.clock.now()).toBeLessThan(START_MS + DAY_MS);
});

it('is not undone by what is written while it is being accepted', async () => {
  hub.wall.setWall(START_MS + 3_650 * DAY_MS);
  hub.clock.read();
  hub.wall.setWall(START_MS + HOUR_MS);
  const { catchUp } = hub.generations;
  Object.assign(hub.generations, {
    catchUp: async () => {
      Object.assign(hub.generations, { catchUp });
      await hub.clock.save(hub.db);
    },
  });
  await acceptTime(hub, operator);
  const again = await hub.restart();
  expect([again.clock.read().jumped, again.clock.now() < START_MS + DAY_MS]).toEqual([false, true]);
});

it('begins a new epoch where it goes back, since agents take rising times only within one; and none where it does not', async () => {
  const stated = (of: TestHub) => {
    const context = { hubRoot: of.identity.hubTrust.root, highestSerial: 0 };
    return (JSON.parse(of.statements()) as JsonValue[]).map((json) => verifyStatement(json, context));
  };
  hub.wall.setWall(START_MS + 3_650 * DAY_MS);
  const before = stated(hub);
  hub.wall.setWall(START_MS + HOUR_MS);
  await acceptTime(hub, operator);
  // At once, and not when the text of before has had its minute.
  const after = stated(hub);
  expect(after.map(({ kind, epoch }) => [kind, epoch])).toEqual(before.map(({ kind, epoch }) => [kind, epoch + 1]));
  expect(after.every(({ timeMs }) => timeMs === START_MS + HOUR_MS)).toBe(true);
  const again = await hub.restart();
  expect(again.epoch).toBe(2);
  again.wall.setWall(START_MS + 400 * DAY_MS);
  await acceptTime(again, operator);
  expect([again.epoch, (await again.restart()).epoch]).toEqual([2, 2]);
});

it('gives steps that are above those of before, and counts what was proven of these', async () => {
  hub.wall.setWall(START_MS + 3_650 * DAY_MS);
  hub.clock.read();
  hub.wall.setWall(START_MS + HOUR_MS);
  await acceptTime(hub, operator);
  await startRotation(hub, planned, operator);
  for (let turn = 0; turn < 3; turn += 1) {
    while (await stepMaster(hub));
    await host.beat(hub);
  }
  expect(hub.roll.get('agent-7')).toMatchObject({ wantedEpoch: 2, provenVersion: 2 });
});

it('keeps a window open that both times leave open, and never opens one that the wrong time has closed', async () => {
  await startRotation(hub, planned, operator);
  hub.wall.setWall(START_MS + limits.verifyWindowMs - HOUR_MS);
  hub.clock.read();
  hub.wall.setWall(START_MS + HOUR_MS);
  await acceptTime(hub, operator);
  expect([await verifies(1), await verifies(2)]).toEqual(['done', 'done']);

  hub.wall.setWall(START_MS + 3_650 * DAY_MS);
  expect([await verifies(1), await verifies(2)]).toEqual(['unauthenticated', 'done']);
  hub.wall.setWall(START_MS + 2 * HOUR_MS);
  expect(await acceptTime(hub, operator)).toMatchObject({ generation: 1 });
  expect([await verifies(1), await verifies(2)]).toEqual(['unauthenticated', 'done']);
});

it('ends every token that was given out, and names whose', async () => {
  const { token } = await addHost(hub, { host: 'agent-8' }, operator);
  expect(token).toBeDefined();
  expect((await acceptTime(hub, operator)).hosts).toEqual(['agent-8']);
  expect((await acceptTime(hub, operator)).hosts).toEqual([]);
});

it('opens no window that ends while it is being accepted', async () => {
  await startRotation(hub, planned, operator);
  const endsMs = START_MS + limits.verifyWindowMs;
  hub.wall.setWall(endsMs - 1_000);
  hub.clock.read();
  hub.wall.setWall(START_MS + HOUR_MS);
  writeSlowly();
  await acceptTime(hub, operator);
  expect(hub.clock.now()).toBeLessThan(endsMs - DAY_MS);
  expect([await verifies(1), await verifies(2)]).toEqual(['unauthenticated', 'done']);
});

it('lets memory open nothing that it has closed, whether or not the store can be read again', async () => {
  await startRotation(hub, planned, operator);
  hub.wall.setWall(START_MS + limits.verifyWindowMs + HOUR_MS);
  hub.clock.read();
  // As after a poll: nothing was verified since it read the store.
  await hub.generations.reload();
  hub.wall.setWall(START_MS + HOUR_MS);
  const { catchUp } = hub.generations;
  Object.assign(hub.generations, { catchUp: () => Promise.reject(new Error('gone')) });
  await expect(acceptTime(hub, operator)).rejects.toThrow();
  expect(await verifies(1)).toBe('unauthenticated');
  Object.assign(hub.generations, { catchUp });
  await acceptTime(hub, operator);
  expect(hub.clock.now()).toBeLessThan(START_MS + DAY_MS);
  expect([await verifies(1), await verifies(2)]).toEqual(['unauthenticated', 'done']);
});

describe('a shared token', () => {
  const OLD = 'the-token-that-the-fleet-has-had-for-years';
  beforeEach(async () => {
    await createSecret(hub, { name: 'fleet', value: encodeBase64url(utf8(OLD)), holders: ['all'] }, operator);
  });
  const leak = (secret = 'fleet') =>
    startRotation(hub, { secret, reason: 'leak', leave: [], narrowByMs: hub.clock.now() + DAY_MS }, operator);
  const isTaken = () => codeOf(() => hub.tokens.verify(OLD));
  const setTo = async (ms: number) => {
    hub.wall.setWall(ms);
    await acceptTime(hub, operator);
    await hub.tokens.reload();
  };

  it('that leaked is taken until the end that both times leave it', async () => {
    await leak();
    await setTo(START_MS + DAY_MS - HOUR_MS);
    await setTo(START_MS + HOUR_MS);
    expect(await isTaken()).toBe('done');
    await hub.wall.advance(DAY_MS - 2 * HOUR_MS);
    expect(await isTaken()).toBe('done');
    await hub.wall.advance(HOUR_MS);
    expect(await isTaken()).toBe('unauthenticated');
  });

  it('that leaked is not taken again where the time that was wrong has ended it', async () => {
    await leak();
    hub.wall.setWall(START_MS + 400 * DAY_MS);
    expect(await isTaken()).toBe('unauthenticated');
    await setTo(START_MS + HOUR_MS);
    expect(await isTaken()).toBe('unauthenticated');
  });

  it('that leaked while the time was wrong is taken for as long as was said, and no longer', async () => {
    await setTo(START_MS + 400 * DAY_MS);
    await leak();
    await hub.wall.advance(HOUR_MS);
    await setTo(START_MS);
    expect(await isTaken()).toBe('done');
    await hub.wall.advance(DAY_MS - HOUR_MS - 1);
    expect(await isTaken()).toBe('done');
    await hub.wall.advance(1);
    expect(await isTaken()).toBe('unauthenticated');
    const records = await listAudit(hub.db, 0, 1_000, { action: 'hub.time_accepted' });
    expect(records.at(-1)?.details).toMatchObject({ rotations: [expect.stringMatching(/ ends 2026-03-02T11:00:00/)] });
  });

  it('that leaked is not taken again where its end comes while the time is being accepted', async () => {
    await leak();
    hub.wall.setWall(START_MS + DAY_MS - 1_000);
    hub.clock.read();
    hub.wall.setWall(START_MS + HOUR_MS);
    writeSlowly();
    await acceptTime(hub, operator);
    expect([hub.clock.now() < START_MS + 2 * HOUR_MS, await isTaken()]).toEqual([true, 'unauthenticated']);
  });

  it('is rotated again after the clock was set back to before the rotation of before', async () => {
    await setTo(START_MS + 400 * DAY_MS);
    const first = await leak();
    await hub.wall.advance(DAY_MS);
    while (await stepTokens(hub));
    expect(await findRotation(hub.db, hub.vault, 'fleet')).toMatchObject({ id: first.id, phase: 'done' });
    await setTo(START_MS + DAY_MS);
    const second = await leak();
    expect([(await findRotation(hub.db, hub.vault, 'fleet'))?.id, hub.tokens.accepts('fleet')]).toEqual([
      second.id,
      [2, 3],
    ]);
    expect(await codeOf(leak())).toBe('rotation_running');
  });
});
