import { beforeEach, describe, expect, it } from 'vitest';
import { createTestHost } from '../host.fixture.ts';
import { auditOf, codeOf, createTestHub, DAY_MS, operator, START_MS, type TestHub } from '../hub.fixture.ts';
import { addHost } from './add-host.ts';
import { removeHost } from './end-host.ts';
import { importHosts } from './import-hosts.ts';

let hub: TestHub;
beforeEach(async () => {
  hub = await createTestHub();
});

const add = (host: string, changes = {}) => codeOf(addHost(hub, { host, ...changes }, operator));

describe('a host is added', () => {
  it('as invited, with a token that is shown once and good for an hour', async () => {
    const { token = '', ...answer } = await addHost(hub, { host: 'agent-7' }, operator);
    expect(answer).toEqual({ host: 'agent-7', life: 1, expiresAt: new Date(START_MS + 3_600_000).toISOString() });
    expect(token).toMatch(/^rce_/);
    expect(hub.roll.get('agent-7')).toMatchObject({ status: 'invited', life: 1, pinState: 'none' });
    expect(JSON.stringify(hub.logged)).not.toContain(token);
    expect(await codeOf(createTestHost('agent-7').enrol(hub, token))).toBe('done');
  });

  it('of an older fleet as active, without a token', async () => {
    expect(await addHost(hub, { host: 'older', existing: true }, operator)).toEqual({ host: 'older', life: 1 });
    expect(hub.roll.get('older')).toMatchObject({ status: 'active', pinState: 'none' });
  });

  it('under an id that no other on the roll has, in any case; a removed one is free again', async () => {
    expect(await add('Agent-7')).toBe('done');
    for (const id of ['Agent-7', 'agent-7', 'AGENT-7']) expect(await add(id)).toBe('host_exists');
    expect(await add('agent-70')).toBe('done');
    await removeHost(hub, 'Agent-7', operator);
    expect(await add('agent-7')).toBe('done');
    expect(hub.roll.get('Agent-7')).toBeUndefined();
    expect(hub.roll.get('agent-7')).toMatchObject({ life: 1 });
  });

  it('with reach push only where it can be asked, and so are the rows of an import, each by itself', async () => {
    const address = '127.0.0.1:7444';
    expect(await add('a', { reach: 'push' })).toBe('address_missing');
    expect(hub.roll.get('a')).toBeUndefined();
    expect(await add('a', { reach: 'push', address })).toBe('done');
    expect(await add('b', { reach: 'pull' })).toBe('done');
    const rows = [
      { host: 'c', reach: 'push' },
      { host: 'd', reach: 'push', address },
      { host: 'e', reach: 'pull' },
    ];
    const imported = await importHosts(hub, { hosts: rows, dryRun: false }, operator);
    expect(imported).toMatchObject({
      added: 0,
      refused: 1,
      rows: [
        { host: 'c', outcome: 'refused', code: 'address_missing', hint: expect.stringContaining('HOST:PORT') },
        { host: 'd', outcome: 'would_add' },
        { host: 'e', outcome: 'would_add' },
      ],
    });
    expect(await importHosts(hub, { hosts: rows.slice(1), dryRun: false }, operator)).toMatchObject({ added: 2 });
  });

  it.each(['', '-agent', 'agent-', 'a b', 'agent/7', 'é', 'a'.repeat(129), 'a\n'])('not as %j', async (id) => {
    expect(await add(id)).toBe('malformed_host_id');
    expect(await add('a'.repeat(128))).toBe('done');
  });

  it('with a life that counts on over every removal', async () => {
    const lives: number[] = [];
    for (let turn = 0; turn < 3; turn += 1) {
      lives.push((await addHost(hub, { host: 'agent-7' }, operator)).life);
      await removeHost(hub, 'agent-7', operator);
    }
    expect(lives).toEqual([1, 2, 3]);
  });

  it('with a token of at most seven days, and not at all with a longer one', async () => {
    expect(await add('agent-7', { tokenLifeMs: 7 * DAY_MS + 1 })).toBe('window_out_of_bounds');
    expect(hub.roll.get('agent-7')).toBeUndefined();
    expect(await add('agent-7', { tokenLifeMs: 7 * DAY_MS })).toBe('done');
  });

  it('not while the clock of the hub jumped', async () => {
    expect(await add('agent-7')).toBe('done');
    hub.wall.setWall(START_MS + DAY_MS);
    expect(await add('agent-8')).toBe('hub_time_jumped');
    expect(hub.roll.get('agent-8')).toBeUndefined();
  });
});

it('there is no roll without a master', async () => {
  const bare = await createTestHub({ master: false });
  expect(await codeOf(addHost(bare, { host: 'agent-7' }, operator))).toBe('master_missing');
  expect(await auditOf(bare)).toEqual([]);
  expect(await add('agent-7')).toBe('done');
});
