import type { HostTokenAnswer } from '@rollcall/wire';
import SqliteDatabase from 'better-sqlite3';
import { beforeEach, describe, expect, it } from 'vitest';
import { addExisting, createTestHost, createWrapKey, enrolNew, type TestHost, thiefBearer } from '../host.fixture.ts';
import { auditOf, codeOf, createTestHub, DAY_MS, operator, type TestHub } from '../hub.fixture.ts';
import { acceptFirstUse } from './accept-first-use.ts';
import { addHost, reenrolHost } from './add-host.ts';
import { createSecret } from './create-secret.ts';
import { approvePin, confirmPin, rejectPin } from './decide-pin.ts';
import { evictHost, removeHost } from './end-host.ts';
import { dropHostToken, issueHostToken } from './issue-host-token.ts';
import { cutRotation, leaveRotation, pauseRotation, resumeRotation } from './rotation/hold.ts';
import { retireRotation } from './rotation/retire.ts';
import { advanceRotation, startRotation, stepMaster } from './rotation/walk.ts';
import { clearRungRule, decideRungRule } from './rungs/decide-rung.ts';
import { resumeHost, suspendHost, unbanHost } from './suspend-host.ts';

let hub: TestHub;
let host: TestHost;
let older: TestHost;
const pending = createWrapKey();
let ownToken: HostTokenAnswer;
beforeEach(async () => {
  hub = await createTestHub();
  host = await enrolNew(hub, 'agent-7');
  await host.beat(hub, { key: pending });
  older = await addExisting(hub, 'older');
  await older.beat(hub, { bearer: thiefBearer(hub, 'older', 1, 1) });
  await hub.wall.advance(DAY_MS);
  await host.beat(hub);
  await older.beat(hub, { bearer: thiefBearer(hub, 'older', 1, 1) });
});

/** Every table but the audit itself and what was merely seen. */
function dump(file: string): string {
  const beside = new SqliteDatabase(file, { readonly: true });
  const names = beside
    .prepare(`select name from sqlite_master where type = 'table' order by name`)
    .pluck()
    .all() as string[];
  const tables = names.filter((name) => name !== 'audit' && name !== 'liveness');
  const rows = tables.flatMap((name) =>
    beside
      .prepare(`select * from "${name}"`)
      .raw()
      .all()
      .map((row) => `${name} ${JSON.stringify(row)}`),
  );
  beside.close();
  return rows.sort().join('\n');
}

/** What the roll in memory would answer from. */
function trusted(of: TestHub): string {
  const entries = [...of.roll.entries()];
  return JSON.stringify(
    entries.map(({ id, status, life, pinFingerprint, provenVersion }) => [
      id,
      status,
      life,
      pinFingerprint,
      provenVersion,
    ]),
  );
}

const NO_AUDIT = `create trigger no_audit before insert on audit begin select raise(fail, 'the audit cannot be written'); end`;

type Act = (of: TestHub) => Promise<unknown>;
const start: Act = (of) =>
  startRotation(of, { secret: 'master', reason: 'planned', leave: ['older'], narrowByMs: null }, operator);
const closing = { isAccepted: false, reason: 'everybody has climbed' };
const nothing: Act = async () => undefined;
const until = () => new Date(hub.wall.now() + DAY_MS).toISOString();

const acts: readonly (readonly [string, before: Act, act: Act])[] = [
  ['host add', nothing, (of) => addHost(of, { host: 'new' }, operator)],
  ['host add --token', nothing, (of) => addHost(of, { host: 'new', token: true }, operator)],
  ['host token', nothing, (of) => issueHostToken(of, 'agent-7', operator)],
  [
    'host drop-token',
    async (of) => {
      ownToken = await issueHostToken(of, 'agent-7', operator);
    },
    (of) => dropHostToken(of, 'agent-7', ownToken.id, operator),
  ],
  [
    'the first sight of a token of a host',
    async (of) => {
      ownToken = await issueHostToken(of, 'agent-7', operator);
    },
    (of) => host.beat(of, { bearer: ownToken.token }),
  ],
  ['rung refuse', nothing, (of) => decideRungRule(of, 'fleet-token', { ...closing, leave: ['older'] }, operator)],
  ['rung refuse --host', nothing, (of) => decideRungRule(of, 'derived', { ...closing, host: 'older' }, operator)],
  [
    'rung clear',
    (of) => decideRungRule(of, 'derived', { ...closing, host: 'older' }, operator),
    (of) => clearRungRule(of, 'derived', { host: 'older', reason: 'x' }, operator),
  ],
  ['host reenrol', nothing, (of) => reenrolHost(of, 'agent-7', undefined, operator)],
  ['host suspend', nothing, (of) => suspendHost(of, 'agent-7', operator)],
  ['host resume', (of) => suspendHost(of, 'agent-7', operator), (of) => resumeHost(of, 'agent-7', operator)],
  ['host evict', nothing, (of) => evictHost(of, 'agent-7', true, operator)],
  ['host unban', (of) => evictHost(of, 'agent-7', true, operator), (of) => unbanHost(of, 'agent-7', operator)],
  ['host remove', nothing, (of) => removeHost(of, 'agent-7', operator)],
  ['pin approve, seen', nothing, (of) => approvePin(of, 'agent-7', pending.public.fingerprint, operator)],
  ['pin approve, unseen', nothing, (of) => approvePin(of, 'agent-7', 'ab'.repeat(32), operator)],
  ['pin reject', nothing, (of) => rejectPin(of, 'agent-7', pending.public.fingerprint, operator)],
  ['pin accept-first-use on', nothing, (of) => acceptFirstUse(of, { on: true, exposed: 0, until: until() }, operator)],
  [
    'pin accept-first-use off',
    (of) => acceptFirstUse(of, { on: true, exposed: 0, until: until() }, operator),
    (of) => acceptFirstUse(of, { on: false }, operator),
  ],
  [
    'a key taken on first use',
    (of) => acceptFirstUse(of, { on: true, exposed: 0, until: until() }, operator),
    (of) => older.beat(of, { bearer: thiefBearer(of, 'older', 1, 1) }),
  ],
  [
    'pin confirm',
    async (of) => {
      await acceptFirstUse(of, { on: true, exposed: 0, until: until() }, operator);
      await older.beat(of, { bearer: thiefBearer(of, 'older', 1, 1) });
    },
    (of) => confirmPin(of, 'older', older.key.public.fingerprint, operator),
  ],
  ['a key that challenges the pin', nothing, (of) => host.beat(of, { key: createWrapKey() })],
  ['rotation start', nothing, start],
  ['rotation advance', start, (of) => advanceRotation(of, 'master', 'widening', operator)],
  ['a step of the rotation by itself', start, (of) => stepMaster(of)],
  ['rotation pause', start, (of) => pauseRotation(of, 'master', 'lunch', operator)],
  [
    'rotation resume',
    async (of) => {
      await start(of);
      await pauseRotation(of, 'master', 'lunch', operator);
    },
    (of) => resumeRotation(of, 'master', operator),
  ],
  ['rotation leave', start, (of) => leaveRotation(of, 'master', { leave: ['agent-7'], reason: 'gone' }, operator)],
  [
    'rotation cut',
    start,
    (of) => cutRotation(of, 'master', { untilMs: of.wall.now() + DAY_MS, leave: ['agent-7'] }, operator),
  ],
  ['rotation retire', start, (of) => retireRotation(of, 'master', { now: true, leave: ['agent-7'] }, operator)],
  ['a proof of the new generation', start, (of) => host.beat(of, { bearer: thiefBearer(of, 'agent-7', 1, 2) })],
];

describe('a change whose record cannot be written does not happen', () => {
  it.each(acts)('%s', async (_name, before, act) => {
    await before(hub);
    hub.tamper(NO_AUDIT);
    const standing = dump(hub.file);
    const entries = trusted(hub);
    expect(await codeOf(act(hub))).toMatch(/^SQLITE_/);
    expect(dump(hub.file)).toBe(standing);
    expect(trusted(hub)).toBe(entries);

    hub.tamper('drop trigger no_audit');
    const recorded = (await auditOf(hub)).length;
    expect(await codeOf(act(hub))).toBe('done');
    expect(dump(hub.file)).not.toBe(standing);
    expect((await auditOf(hub)).length).toBeGreaterThan(recorded);
  });

  it('enrol', async () => {
    const fresh = createTestHost('new');
    const { token = '' } = await addHost(hub, { host: 'new' }, operator);
    hub.tamper(NO_AUDIT);
    const standing = dump(hub.file);
    expect(await codeOf(fresh.enrol(hub, token))).toMatch(/^SQLITE_/);
    expect(dump(hub.file)).toBe(standing);
    hub.tamper('drop trigger no_audit');
    expect(await codeOf(fresh.enrol(hub, token))).toBe('done');
  });

  it('secret create', async () => {
    const bare = await createTestHub({ master: false });
    bare.tamper(NO_AUDIT);
    expect(await codeOf(createSecret(bare, { name: 'master' }, operator))).toMatch(/^SQLITE_/);
    expect(bare.generations.current).toBeUndefined();
    bare.tamper('drop trigger no_audit');
    expect(await codeOf(createSecret(bare, { name: 'master' }, operator))).toBe('done');
  });
});

it('no record holds a secret, a token or a bearer', async () => {
  const { token = '' } = await addHost(hub, { host: 'new' }, operator);
  await createTestHost('new').enrol(hub, token);
  await start(hub);
  const beside = new SqliteDatabase(hub.file, { readonly: true });
  const text = JSON.stringify(beside.prepare('select * from audit').all());
  beside.close();
  const master = Buffer.from(hub.generations.read(2).value.reveal());
  for (const secret of [
    token,
    host.bearer(),
    master.toString('hex'),
    master.toString('base64url'),
    master.toString('base64'),
  ]) {
    expect(text).not.toContain(secret);
  }
  expect(text).toContain(host.key.public.fingerprint);
});
