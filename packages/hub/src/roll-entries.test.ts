import { beforeEach, describe, expect, it } from 'vitest';
import { createWrapKey, enrolNew, type TestHost } from './host.fixture.ts';
import { codeOf, createTestHub, operator, START_MS, type TestHub } from './hub.fixture.ts';
import { flushDirtyLiveness } from './jobs/flush-liveness.ts';
import { reenrolHost } from './operations/add-host.ts';
import { removeHost } from './operations/end-host.ts';
import { createRoll } from './roll.ts';
import { listLiveness } from './store/liveness.ts';

let hub: TestHub;
let host: TestHost;
beforeEach(async () => {
  hub = await createTestHub();
  host = await enrolNew(hub, 'agent-7');
});

const entry = () => hub.roll.get('agent-7') ?? expect.fail('agent-7 is not on the roll');

describe('the roll in memory', () => {
  it('is what the store says, after every act and after a restart', async () => {
    await enrolNew(hub, 'agent-8');
    const trust = (of: TestHub) =>
      [...of.roll.entries()].map(
        ({ id, status, life, provenVersion, pinState, pinFingerprint, wantedStep, wantedAccept, ackedStep }) => ({
          id,
          status,
          life,
          provenVersion,
          pinState,
          pinFingerprint,
          wantedStep,
          wantedAccept,
          ackedStep,
        }),
      );
    const before = trust(hub);
    expect(before).toHaveLength(2);
    await hub.roll.reloadAll();
    expect(trust(hub)).toEqual(before);
    expect(trust(await hub.restart())).toEqual(before);
  });

  it('keeps what this process saw when it is read anew, and what was flushed over a restart', async () => {
    await hub.wall.advance(5_000);
    await host.beat(hub, { from: '198.51.100.7' });
    await hub.roll.reloadAll();
    expect(entry()).toMatchObject({ lastSeenAt: START_MS + 5_000, address: '198.51.100.7', seenMonotonic: 5_000 });
    await flushDirtyLiveness(hub);
    const again = await hub.restart();
    // When it was seen is known; whether it is fresh is only known of what this process heard.
    expect(again.roll.get('agent-7')).toMatchObject({
      lastSeenAt: START_MS + 5_000,
      address: '198.51.100.7',
      seenMonotonic: null,
    });
  });

  it('forgets what was seen of a former life, and keeps it of the present one', async () => {
    await host.beat(hub, { key: createWrapKey() });
    await hub.roll.reload('agent-7');
    expect(entry()).toMatchObject({ version: 1, pinSeenAt: START_MS });
    expect(entry().pendingBeats.size).toBe(1);
    await host.enrol(hub, (await reenrolHost(hub, 'agent-7', undefined, operator)).token ?? '');
    expect(entry()).toMatchObject({ life: 2, version: null, pinSeenAt: null, presentedOld: null });
    expect(entry().pendingBeats.size).toBe(0);
    expect(entry().instances.current).toBeNull();
  });

  it('drops a host that left, by one look or by all', async () => {
    await enrolNew(hub, 'agent-8');
    const beside = { ...hub, roll: { ...hub.roll, catchUp: async () => undefined } };
    await removeHost(beside, 'agent-7', operator);
    expect(hub.roll.get('agent-7')).toBeDefined();
    expect(await hub.roll.reload('agent-7')).toBeUndefined();
    await removeHost(beside, 'agent-8', operator);
    await hub.roll.reloadAll();
    expect([...hub.roll.entries()]).toEqual([]);
  });
});

describe('a row that cannot be read', () => {
  it('is a host that is on the roll and of which nothing is known; the others are read', async () => {
    await enrolNew(hub, 'agent-8');
    hub.tamper(`update hosts set life = 9 where id = 'agent-7'`);
    for (const roll of [hub.roll, await createRoll(hub)]) {
      await roll.reloadAll();
      expect(roll.get('agent-7')).toMatchObject({ status: 'unreadable', life: 1 });
      expect(roll.get('agent-8')).toMatchObject({ status: 'active' });
    }
  });

  it('of a pin is not “no pin”', async () => {
    hub.tamper(`update pins set fingerprint = 'ff' where host = 'agent-7'`);
    await hub.roll.reload('agent-7');
    expect(entry()).toMatchObject({ status: 'active', pinState: 'unreadable', pinPublicText: '' });
    hub.tamper(`delete from pins where host = 'agent-7'`);
    await hub.roll.reload('agent-7');
    expect(entry()).toMatchObject({ status: 'active', pinState: 'none' });
  });

  it('is told from a database that does not answer, which changes nothing', async () => {
    const before = structuredClone(entry());
    hub.tamper('alter table pins rename to pins_away');
    expect(await codeOf(hub.roll.reload('agent-7'))).toMatch(/^SQLITE/);
    expect(await codeOf(hub.roll.reloadAll())).toMatch(/^SQLITE/);
    expect(entry()).toEqual(before);
    hub.tamper('alter table pins_away rename to pins');
    expect(await codeOf(hub.roll.reload('agent-7'))).toBe('done');
  });
});

describe('liveness', () => {
  it('touches no disk when a beat brings nothing new, and is flushed in one batch', async () => {
    for (let index = 0; index < 20; index += 1) await enrolNew(hub, `many-${index}`);
    await flushDirtyLiveness(hub);
    const flushed = await listLiveness(hub.db);
    await hub.wall.advance(1_000);
    await host.beat(hub);
    expect(await listLiveness(hub.db)).toEqual(flushed);
    expect([...hub.roll.entries()].filter(({ dirty }) => dirty).map(({ id }) => id)).toEqual(['agent-7']);
    await flushDirtyLiveness(hub);
    expect((await listLiveness(hub.db)).find((row) => row.host === 'agent-7')).toMatchObject({
      last_seen_at: START_MS + 1_000,
      instance: host.instance,
      seq: host.seq,
    });
    expect([...hub.roll.entries()].filter(({ dirty }) => dirty)).toEqual([]);
  });

  it('of a flush that failed is flushed again', async () => {
    await host.beat(hub);
    hub.tamper('alter table liveness rename to liveness_away');
    expect(await codeOf(flushDirtyLiveness(hub))).toMatch(/^SQLITE/);
    hub.tamper('alter table liveness_away rename to liveness');
    await flushDirtyLiveness(hub);
    expect(await listLiveness(hub.db)).toHaveLength(1);
  });
});

describe('instances of one host', () => {
  it('two that alternate are a clone: audited once, and the fields of the registry do not flap', async () => {
    const other = { ...host, instance: 'B'.repeat(22), seq: 0 };
    const beatOf = (instance: string, seq: number, from: string) => host.beat(hub, { from, body: { instance, seq } });
    await beatOf(other.instance, 1, '198.51.100.1');
    for (let turn = 2; turn < 8; turn += 1) {
      await beatOf(host.instance, 100 + turn, '192.0.2.1');
      await beatOf(other.instance, turn, '198.51.100.1');
    }
    expect(entry().address).toBe('198.51.100.1');
    expect(entry().cloneAlertedAt).not.toBeNull();
    expect(hub.logged.filter((line) => line.includes('alternate'))).toHaveLength(1);
    expect(hub.counts.read('instances').get('clone')).toBeGreaterThan(1);
  });

  it('a replay is answered as usual and changes nothing', async () => {
    const { seq } = host;
    await hub.wall.advance(5_000);
    const answer = await host.beat(hub, { from: '198.51.100.1', body: { seq } });
    expect(answer.pin.state).toBe('pinned');
    expect(entry()).toMatchObject({ lastSeenAt: START_MS, address: '192.0.2.1' });
    expect(hub.counts.read('instances').get('replay')).toBe(1);
    await host.beat(hub);
    expect(entry()).toMatchObject({ lastSeenAt: START_MS + 5_000 });
  });

  it('an id in the body that is another is refused, and the same is not', async () => {
    expect(await codeOf(host.beat(hub, { body: { host: 'agent-8' } }))).toBe('host_mismatch');
    expect(await codeOf(host.beat(hub, { body: { host: 'agent-7' } }))).toBe('done');
  });
});
