import { SecretBytes } from '@rollcall/core/keys';
import type { Rotation } from '@rollcall/core/rotation';
import { seededRandom } from '@rollcall/core/testing';
import SqliteDatabase from 'better-sqlite3';
import { beforeEach, describe, expect, it } from 'vitest';
import { codeOf, createTestDatabase, createTestVault } from '../hub.fixture.ts';
import type { Vault } from '../kek/vault.ts';
import { ackStep, findAssignment, issueSteps, listAssignments } from './assignments.ts';
import {
  findEnrolmentToken,
  insertEnrolmentToken,
  killEnrolmentTokens,
  spendEnrolmentToken,
} from './enrolment-tokens.ts';
import { type GenerationRecord, insertGeneration, listGenerations, updateGeneration } from './generations.ts';
import { findHost, type HostRecord, listRoll, putHosts, readHost, updateHost } from './hosts.ts';
import { flushLiveness, listLiveness } from './liveness.ts';
import { readMeta, writeMeta } from './meta.ts';
import {
  deletePendings,
  findObserved,
  findPendings,
  findPin,
  insertObserved,
  insertPending,
  listObserved,
  listPendings,
  listPins,
  writePin,
} from './pins.ts';
import { findRotation, findRunning, insertRotation, updateRotation } from './rotations.ts';
import type { Db, LivenessTable, Tx } from './schema.ts';

const random = seededRandom('records');
const vault = createTestVault('kek');

let db: Db;
let file: string;
beforeEach(async () => {
  ({ db, file } = await createTestDatabase());
});

const write = (act: (tx: Tx) => Promise<unknown>) => db.transaction().execute(act);

function host(id: string, changes: Partial<HostRecord> = {}): HostRecord {
  return {
    id,
    folded: id.toLowerCase(),
    status: 'active',
    reach: 'pull',
    address: 'agent.example:7444',
    life: 3,
    former_life_until: 17,
    banned: 0,
    approved_fingerprint: 'aa',
    first_use_fingerprint: 'bb',
    first_use_until: 18,
    proven_version: 2,
    added_at: 19,
    knows_master: 1,
    ...changes,
  };
}

const pin = {
  host: 'agent-7',
  suite: 'x25519',
  public: random(32),
  fingerprint: 'ab',
  anchor: 'enrolment',
  since: 5,
} as const;
const pending = {
  host: 'agent-7',
  fingerprint: 'cd',
  public: random(32),
  pinned: 'ab',
  first_seen_at: 6,
  address: '192.0.2.1',
  instance: 'i',
  startup: 'fresh',
  pinned_address: '192.0.2.2',
  pinned_last_seen_at: 4,
};
const observed = { host: 'agent-7', fingerprint: 'ef', public: random(32), first_seen_at: 7, address: '192.0.2.1' };
const generation: GenerationRecord = {
  secret: 'master',
  version: 4,
  scheme: { name: 'hkdf' },
  state: 'previous',
  value: new SecretBytes('master', random(32)),
  createdAtMs: 8,
  verifyUntilMs: 9,
  leaked: true,
};
const token = {
  id: 't',
  host: 'agent-7',
  key: random(32),
  expires_at: 10,
  state: 'live',
  used_at: null,
  used_by: null,
} as const;
const step = { host: 'agent-7', secret: 'master', epoch: 1, accept: [4, 3], present: 4, issuedAt: 11 };
const rotation: Rotation = {
  id: 'r-1',
  secret: 'master',
  from: 3,
  to: 4,
  phase: 'rolling',
  phaseStartedAtMs: 12,
  reason: 'leak',
  startedAtMs: 13,
  left: ['a', 'b'],
  pausedBecause: 'lunch',
  canary: 'a',
};

/** One row of each kind that trust rests on. */
async function writeOfEach(): Promise<void> {
  await write(async (tx) => {
    await putHosts(tx, vault, [host('agent-7')]);
    await writePin(tx, vault, pin);
    await insertPending(tx, vault, pending);
    await insertObserved(tx, vault, observed);
    await insertGeneration(tx, vault, generation);
    await insertEnrolmentToken(tx, vault, token);
    await issueSteps(tx, vault, [{ ...step, refuse: [2], before: undefined }]);
    await insertRotation(tx, vault, rotation);
    await writeMeta(tx, vault, 'epoch', '1');
  });
}

type Read = (of: Vault) => Promise<unknown>;
const readers: Readonly<Record<string, Read>> = {
  hosts: (of) => listRoll(db, of),
  pins: async (of) => [...(await listPins(db, of)).values()],
  pending_pins: async (of) => [...(await listPendings(db, of)).values()],
  observed_keys: async (of) => [...(await listObserved(db, of)).values()],
  generations: (of) => listGenerations(db, of, 'master'),
  enrolment_tokens: (of) => findEnrolmentToken(db, of, 'agent-7'),
  assignments: async (of) => [...(await listAssignments(db, of, 'master')).values()],
  rotations: (of) => findRunning(db, of, 'master'),
  meta: (of) => readMeta(db, of, 'epoch'),
};

function another(value: Buffer | number | string | null): Buffer | number | string {
  if (Buffer.isBuffer(value)) return Buffer.from([...value.subarray(1), 1]);
  return typeof value === 'number' ? value + 1 : `${value ?? ''}x`;
}

/** What is read is what was written, or it says that it cannot be read; `gone` where another key now leads to nothing. */
async function outcomeOf(read: Read, written: string, of: Vault = vault): Promise<'read' | 'unreadable' | 'gone'> {
  const code = await codeOf(async () => {
    const text = JSON.stringify(await read(of));
    if (text === written) throw Object.assign(new Error(), { code: 'read' });
    if (text === undefined || text === '[]') throw Object.assign(new Error(), { code: 'gone' });
    if (/"?unreadable"?/.test(text)) throw Object.assign(new Error(), { code: 'unreadable' });
    throw new Error(`something else was read: ${text}`);
  });
  return code === 'store_unreadable' ? 'unreadable' : (code as 'read');
}

describe('every row that trust rests on', () => {
  it('comes back as it was written', async () => {
    await writeOfEach();
    expect(await findHost(db, vault, 'agent-7')).toEqual(host('agent-7'));
    expect(await findPin(db, vault, 'agent-7')).toEqual(pin);
    expect(await listPendings(db, vault)).toEqual(new Map([['agent-7', [pending]]]));
    expect(await findPendings(db, vault, 'agent-7')).toEqual([pending]);
    expect(await listObserved(db, vault)).toEqual(new Map([['agent-7', [observed]]]));
    expect(await findObserved(db, vault, 'agent-7')).toEqual([observed]);
    const [{ value, ...rest } = expect.fail('there is no generation')] = await listGenerations(db, vault, 'master');
    expect({ ...rest, value: value?.reveal() }).toEqual({ ...generation, value: generation.value?.reveal() });
    expect(await findEnrolmentToken(db, vault, 'agent-7')).toEqual(token);
    expect(await findAssignment(db, vault, 'agent-7', 'master')).toEqual({
      ...step,
      step: 1,
      refuse: [2],
      ackedStep: 0,
      ackedAt: null,
    });
    expect(await findRotation(db, vault, 'r-1')).toEqual(rotation);
    expect(await readMeta(db, vault, 'epoch')).toBe('1');
  });

  it.each(Object.entries(readers))(
    'of %s cannot be changed in any column, nor taken from a hub with another key',
    async (table, read) => {
      await writeOfEach();
      const written = JSON.stringify(await read(vault));
      const beside = new SqliteDatabase(file);
      beside.pragma('foreign_keys = OFF');
      const columns = beside.prepare(`select name from pragma_table_info(?)`).pluck().all(table) as string[];
      expect(columns).toContain('mac');
      for (const column of columns) {
        const before = beside.prepare(`select "${column}" from "${table}"`).pluck().get() as
          | Buffer
          | number
          | string
          | null;
        beside.prepare(`update "${table}" set "${column}" = ?`).run(another(before));
        expect([column, await outcomeOf(read, written)]).not.toEqual([column, 'read']);
        beside.prepare(`update "${table}" set "${column}" = ?`).run(before);
        expect([column, await outcomeOf(read, written)]).toEqual([column, 'read']);
      }
      beside.close();
      expect(await outcomeOf(read, written, createTestVault('another kek'))).toBe('unreadable');
    },
  );

  it('is gone with its transaction', async () => {
    const failed = write(async (tx) => {
      await putHosts(tx, vault, [host('agent-7')]);
      await writePin(tx, vault, pin);
      throw new Error('no');
    });
    expect(await codeOf(failed)).not.toBe('done');
    expect([await findHost(db, vault, 'agent-7'), await findPin(db, vault, 'agent-7')]).toEqual([undefined, undefined]);
  });
});

describe('hosts', () => {
  it('that were removed are on no roll, and their row stays', async () => {
    await write(async (tx) => {
      await putHosts(tx, vault, [host('a')]);
      await putHosts(tx, vault, [host('b', { status: 'removed' })]);
      await putHosts(tx, vault, [host('c', { status: 'evicted' })]);
    });
    expect((await listRoll(db, vault)).map(({ id }) => id)).toEqual(['a', 'c']);
    expect(await findHost(db, vault, 'b')).toBeDefined();
    expect(await codeOf(readHost(db, vault, 'b'))).toBe('host_unknown');
    expect(await codeOf(readHost(db, vault, 'c'))).toBe('done');
  });

  it('are changed one by one: no other, and not one that is not there', async () => {
    await write(async (tx) => {
      await putHosts(tx, vault, [host('a')]);
      await putHosts(tx, vault, [host('b')]);
    });
    await write((tx) => updateHost(tx, vault, host('a', { life: 9 })));
    expect([(await readHost(db, vault, 'a')).life, (await readHost(db, vault, 'b')).life]).toEqual([9, 3]);
    expect(await codeOf(write((tx) => updateHost(tx, vault, host('nobody'))))).toBe('host_unknown');
  });
});

describe('generations', () => {
  it('lose their value when they are destroyed, and keep their row', async () => {
    await write((tx) => insertGeneration(tx, vault, generation));
    await write((tx) => updateGeneration(tx, vault, { ...generation, state: 'destroyed', value: undefined }));
    expect(await listGenerations(db, vault, 'master')).toEqual([
      { ...generation, state: 'destroyed', value: undefined },
    ]);
    const beside = new SqliteDatabase(file, { readonly: true });
    expect(beside.prepare('select value_ciphertext from generations').pluck().get()).toBeNull();
    beside.close();
  });

  it('of another version cannot lend their value: a ciphertext belongs to its row', async () => {
    await write(async (tx) => {
      await insertGeneration(tx, vault, generation);
      await insertGeneration(tx, vault, {
        ...generation,
        version: 5,
        state: 'current',
        value: new SecretBytes('master', random(32)),
      });
    });
    const beside = new SqliteDatabase(file);
    beside.exec(
      'update generations set value_ciphertext = (select value_ciphertext from generations where version = 5) where version = 4',
    );
    beside.close();
    expect(await codeOf(listGenerations(db, vault, 'master'))).toBe('store_unreadable');
  });
});

describe('enrolment tokens', () => {
  beforeEach(async () => {
    await write(async (tx) => {
      for (const id of ['agent-7', 'agent-8']) {
        await putHosts(tx, vault, [host(id)]);
        await insertEnrolmentToken(tx, vault, { ...token, id: `t-${id}`, host: id });
      }
    });
  });

  it('are spent once', async () => {
    const use = { at: 20, by: random(32) };
    await write((tx) => spendEnrolmentToken(tx, vault, 't-agent-7', use));
    expect(await findEnrolmentToken(db, vault, 'agent-7')).toMatchObject({
      state: 'used',
      used_at: 20,
      used_by: use.by,
    });
    expect(await codeOf(write((tx) => spendEnrolmentToken(tx, vault, 't-agent-7', use)))).not.toBe('done');
    expect(await findEnrolmentToken(db, vault, 'agent-8')).toMatchObject({ state: 'live' });
  });

  it('are killed for one host, used ones too, and one may follow', async () => {
    await write((tx) => spendEnrolmentToken(tx, vault, 't-agent-7', { at: 20, by: random(32) }));
    expect(await codeOf(write((tx) => insertEnrolmentToken(tx, vault, { ...token, id: 'second' })))).toMatch(
      /^SQLITE_CONSTRAINT/,
    );
    await write((tx) => killEnrolmentTokens(tx, 'agent-7'));
    expect(await findEnrolmentToken(db, vault, 'agent-7')).toBeUndefined();
    expect(await findEnrolmentToken(db, vault, 'agent-8')).toMatchObject({ state: 'live' });
    await write((tx) => insertEnrolmentToken(tx, vault, { ...token, id: 'second' }));
    expect(await findEnrolmentToken(db, vault, 'agent-7')).toMatchObject({ id: 'second' });
  });
});

describe('pins', () => {
  it('are replaced whole, and pending changes are dropped for their host alone', async () => {
    await write(async (tx) => {
      for (const id of ['agent-7', 'agent-8']) {
        await putHosts(tx, vault, [host(id)]);
        await writePin(tx, vault, { ...pin, host: id });
        await insertPending(tx, vault, { ...pending, host: id });
        await insertPending(tx, vault, { ...pending, host: id, fingerprint: 'other' });
      }
      await writePin(tx, vault, { ...pin, fingerprint: 'ff', anchor: 'operator', since: 99 });
      await deletePendings(tx, 'agent-7', 'cd');
    });
    expect(await findPin(db, vault, 'agent-7')).toEqual({ ...pin, fingerprint: 'ff', anchor: 'operator', since: 99 });
    expect(await findPin(db, vault, 'agent-8')).toEqual({ ...pin, host: 'agent-8' });
    const left = async () =>
      [...(await listPendings(db, vault)).values()].flatMap((of) =>
        of === 'unreadable' ? of : of.map(({ host: id, fingerprint }) => `${id} ${fingerprint}`),
      );
    expect(await left()).toEqual(['agent-7 other', 'agent-8 cd', 'agent-8 other']);
    await write((tx) => deletePendings(tx, 'agent-7'));
    expect(await left()).toEqual(['agent-8 cd', 'agent-8 other']);
  });
});

describe('steps', () => {
  beforeEach(() => write((tx) => putHosts(tx, vault, [host('agent-7')])));

  const issue = (changes: Partial<typeof step> & { readonly refuse?: readonly number[] } = {}) =>
    write(async (tx) => {
      const before = (await listAssignments(tx, vault, 'master', ['agent-7'])).get('agent-7');
      await issueSteps(tx, vault, [{ ...step, ...changes, before }]);
    });

  it('rise by one, also after the host was removed, and keep what was proven', async () => {
    await issue();
    await write((tx) => ackStep(tx, vault, { host: 'agent-7', secret: 'master', step: 1, at: 30 }));
    await write((tx) => updateHost(tx, vault, host('agent-7', { status: 'removed' })));
    await issue({ present: 3 });
    expect(await findAssignment(db, vault, 'agent-7', 'master')).toMatchObject({
      step: 2,
      present: 3,
      ackedStep: 1,
      ackedAt: 30,
    });
  });

  it('of before a step could name what it drops are read, and no other is made of them', async () => {
    await issue();
    expect(await findAssignment(db, vault, 'agent-7', 'master')).toMatchObject({ step: 1, refuse: [] });
    await issue({ refuse: [3] });
    const named = await findAssignment(db, vault, 'agent-7', 'master');
    expect(named).toMatchObject({ step: 2, refuse: [3] });
    const beside = new SqliteDatabase(file);
    for (const [refuse, code] of [
      ['null', 'store_unreadable'],
      [`'[2]'`, 'store_unreadable'],
      [`'[3]'`, 'done'],
    ]) {
      beside.exec(`update assignments set refuse = ${refuse}`);
      expect(await codeOf(findAssignment(db, vault, 'agent-7', 'master'))).toBe(code);
    }
    beside.close();
    // Nor does one without become one with it.
    await issue();
    const after = new SqliteDatabase(file);
    after.exec(`update assignments set refuse = '[3]'`);
    after.close();
    expect(await codeOf(findAssignment(db, vault, 'agent-7', 'master'))).toBe('store_unreadable');
  });

  it('are above every one that there was where that cannot be read', async () => {
    const issuedAt = Date.UTC(2026, 0);
    await issue({ issuedAt });
    const beside = new SqliteDatabase(file);
    beside.exec('update assignments set step = 7, acked_step = 7');
    beside.close();
    await issue({ issuedAt });
    expect(await findAssignment(db, vault, 'agent-7', 'master')).toMatchObject({
      step: issuedAt / 1_000,
      ackedStep: 0,
    });
    await issue({ issuedAt });
    expect((await findAssignment(db, vault, 'agent-7', 'master'))?.step).toBe(issuedAt / 1_000 + 1);
  });

  it('are written for many hosts as for one', async () => {
    const ids = Array.from({ length: 1_100 }, (_, at) => `many-${at}`);
    await write(async (tx) => {
      await putHosts(
        tx,
        vault,
        ids.map((id) => host(id)),
      );
      for (const present of [4, 3]) {
        const standing = await listAssignments(tx, vault, 'master', ids);
        await issueSteps(
          tx,
          vault,
          ids.map((id) => ({ ...step, host: id, present, before: standing.get(id) })),
        );
      }
    });
    const all = await listAssignments(db, vault, 'master');
    expect(ids.every((id) => JSON.stringify(all.get(id)).includes('"step":2,"accept":[4,3],"present":3'))).toBe(true);
    expect([all.size, (await listAssignments(db, vault, 'master', ids.slice(0, 7))).size]).toEqual([1_100, 7]);
  });

  it('are acked only while they are wanted', async () => {
    await issue();
    await issue();
    const ack = (number: number) =>
      write((tx) => ackStep(tx, vault, { host: 'agent-7', secret: 'master', step: number, at: 30 }));
    expect([await ack(1), await ack(3), await ack(2)]).toEqual([false, false, true]);
  });
});

describe('rotations', () => {
  it('are written only from the phase that was seen', async () => {
    await write((tx) => insertRotation(tx, vault, rotation));
    const proving = { ...rotation, phase: 'proving' } as const;
    expect(await write((tx) => updateRotation(tx, vault, proving, 'widening'))).toBe(false);
    expect(await findRotation(db, vault, 'r-1')).toEqual(rotation);
    expect(await write((tx) => updateRotation(tx, vault, proving, 'rolling'))).toBe(true);
    expect(await write((tx) => updateRotation(tx, vault, proving, 'rolling'))).toBe(false);
    expect(await findRotation(db, vault, 'r-1')).toEqual(proving);
  });

  it('are found by id, or the newest by the name of the secret; running is what is not over', async () => {
    await write(async (tx) => {
      await insertRotation(tx, vault, { ...rotation, phase: 'done' });
      await insertRotation(tx, vault, { ...rotation, id: 'r-2', from: 4, to: 5, startedAtMs: 20 });
    });
    expect((await findRotation(db, vault, 'r-1'))?.to).toBe(4);
    expect((await findRotation(db, vault, 'master'))?.id).toBe('r-2');
    expect(await findRotation(db, vault, 'other')).toBeUndefined();
    expect((await findRunning(db, vault, 'master'))?.id).toBe('r-2');
    await write((tx) => updateRotation(tx, vault, { ...rotation, id: 'r-2', phase: 'done' }, 'rolling'));
    expect(await findRunning(db, vault, 'master')).toBeUndefined();
  });
});

it('liveness is flushed in one transaction, however many rows there are, and each replaces the one before', async () => {
  const row = (index: number, seq: number): LivenessTable => ({
    host: `agent-${index}`,
    last_seen_at: seq,
    interval_ms: 10_000,
    instance: 'i',
    seq,
    address: '192.0.2.1',
    agent_version: '1.0.0',
    rung: 'derived',
    version: index % 2 === 0 ? 1 : null,
    skew_ms: -3,
  });
  const rows = (seq: number) => Array.from({ length: 1_203 }, (_, index) => row(index, seq));
  await flushLiveness(db, rows(1));
  await flushLiveness(db, rows(2));
  const listed = await listLiveness(db);
  expect(listed).toHaveLength(1_203);
  expect(new Set(listed.map(({ seq }) => seq))).toEqual(new Set([2]));
  expect(await codeOf(flushLiveness(db, [...rows(3), { ...row(0, 3), instance: null as never }]))).toMatch(
    /^SQLITE_CONSTRAINT/,
  );
  expect(new Set((await listLiveness(db)).map(({ seq }) => seq))).toEqual(new Set([2]));
  await flushLiveness(db, []);
});
