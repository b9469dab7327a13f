/** What was committed is done, also when it cannot be read again; and nobody is let in by a memory that is too old (I8). */
import { beforeEach, describe, expect, it } from 'vitest';
import { createWrapKey, enrolNew, type TestHost, thiefBearer } from './host.fixture.ts';
import { auditOf, codeOf, createTestHub, operator, START_MS, type TestHub } from './hub.fixture.ts';
import type { Hub } from './hub.ts';
import { acceptFirstUse } from './operations/accept-first-use.ts';
import { acceptTime } from './operations/accept-time.ts';
import { addHost, reenrolHost } from './operations/add-host.ts';
import { createSecret } from './operations/create-secret.ts';
import { approvePin } from './operations/decide-pin.ts';
import { evictHost, removeHost } from './operations/end-host.ts';
import { importHosts } from './operations/import-hosts.ts';
import { pauseRotation } from './operations/rotation/hold.ts';
import { retireRotation } from './operations/rotation/retire.ts';
import { startRotation, stepMaster } from './operations/rotation/walk.ts';
import { resumeHost, suspendHost } from './operations/suspend-host.ts';

let hub: TestHub;
let host: TestHost;
beforeEach(async () => {
  hub = await createTestHub();
  host = await enrolNew(hub, 'agent-7');
});

/** The same hub, of which nothing can be read into memory any more. */
function unreadable(of: TestHub): Hub {
  const fail = async () => Promise.reject(Object.assign(new Error('no disk'), { code: 'SQLITE_IOERR' }));
  const failing = { reload: { value: fail }, reloadAll: { value: fail }, catchUp: { value: fail } };
  return { ...of, roll: Object.create(of.roll, failing), generations: Object.create(of.generations, failing) };
}

const start = (of: Hub) =>
  startRotation(of, { secret: 'master', reason: 'planned', leave: [], narrowByMs: null }, operator);

describe('what was committed', () => {
  it.each<[string, string, (of: Hub) => Promise<unknown>]>([
    ['an addition', 'host.added agent-9 done', (of) => addHost(of, { host: 'agent-9' }, operator)],
    [
      'an import',
      'host.added agent-9 done',
      (of) => importHosts(of, { hosts: [{ host: 'agent-9' }], dryRun: false }, operator),
    ],
    ['a new token', 'host.reenrolment_offered agent-7 done', (of) => reenrolHost(of, 'agent-7', undefined, operator)],
    ['a suspension', 'host.suspended agent-7 done', (of) => suspendHost(of, 'agent-7', operator)],
    ['an eviction', 'host.evicted agent-7 done', (of) => evictHost(of, 'agent-7', false, operator)],
    ['a removal', 'host.removed agent-7 done', (of) => removeHost(of, 'agent-7', operator)],
    [
      'an approval',
      'pin.approved agent-7 done',
      (of) => approvePin(of, 'agent-7', createWrapKey().public.fingerprint, operator),
    ],
    ['an end of first use', 'first_use.closed roll done', (of) => acceptFirstUse(of, { on: false }, operator)],
    ['a start', 'rotation.started', (of) => start(of)],
  ])('is done: %s', async (_what, record, act) => {
    expect(await codeOf(act(unreadable(hub)))).toBe('done');
    expect((await auditOf(hub)).filter((line) => line.startsWith(record))).toHaveLength(1);
    expect(hub.logged.filter((line) => line.includes('SQLITE_IOERR'))).not.toEqual([]);
  });

  it('is done: a first master, a resumption, a pause, a step and a retirement', async () => {
    const bare = await createTestHub({ master: false });
    expect(await createSecret(unreadable(bare), { name: 'master' }, operator)).toMatchObject({
      versions: [{ version: 1 }],
    });
    await suspendHost(hub, 'agent-7', operator);
    expect(await codeOf(resumeHost(unreadable(hub), 'agent-7', operator))).toBe('done');
    await start(hub);
    expect(await codeOf(stepMaster(unreadable(hub)))).toBe('done');
    expect(await codeOf(pauseRotation(unreadable(hub), 'master', 'lunch', operator))).toBe('done');
    const retire = retireRotation(unreadable(hub), 'master', { now: true, leave: ['agent-7'] }, operator);
    expect(await codeOf(retire)).toBe('done');
  });
});

it('a time that is accepted is the one act that is not done before memory has read it: it could open what was closed', async () => {
  hub.wall.setWall(START_MS + 86_400_000);
  expect(hub.clock.read().jumped).toBe(true);
  expect(await codeOf(acceptTime(unreadable(hub), operator))).toBe('SQLITE_IOERR');
  expect(hub.clock.read().jumped).toBe(true);
  expect(await codeOf(acceptTime(hub, operator))).toBe('done');
  expect(hub.clock.read().jumped).toBe(false);
});

describe('memory that could not be made new', () => {
  it('says yes for less than 30 s after it was, and is asked of the store after that', async () => {
    expect(hub.wall.now()).toBe(START_MS);
    await evictHost(unreadable(hub), 'agent-7', false, operator);
    await hub.wall.advance(29_999);
    expect(await codeOf(host.beat(hub))).toBe('done');
    await hub.wall.advance(1);
    expect(await codeOf(host.beat(hub))).toBe('unauthenticated');
  });

  it.each(['generations', 'roll'] as const)(
    'and so where it is %s alone, behind a store that is slow',
    async (part) => {
      await start(hub);
      const bearer = thiefBearer(hub, 'agent-7', 1, 1);
      const slow = { ...hub, [part]: unreadable(hub)[part] };
      if (part === 'roll') await suspendHost(slow, 'agent-7', operator);
      else await retireRotation(slow, 'master', { now: true, leave: ['agent-7'] }, operator);
      for (const [waitMs, answer] of [
        [29_999, 'done'],
        [1, 'unauthenticated'],
      ] as const) {
        await hub.wall.advance(waitMs);
        for (const other of ['generations', 'roll', 'tokens'] as const) if (other !== part) await hub[other].catchUp();
        expect(await codeOf(host.beat(hub, { bearer }))).toBe(answer);
      }
    },
  );

  it('of shared tokens concerns who sends one, and nobody else', async () => {
    await createSecret(hub, { name: 'fleet', holders: ['all'] }, operator);
    await host.beat(hub);
    const [token = ''] = [...host.tokens.keys()].map((secret) => host.tokenText(secret));
    const fail = async () => Promise.reject(new Error('no disk'));
    const broken = { ...hub, tokens: Object.create(hub.tokens, { catchUp: { value: fail } }) };
    await hub.wall.advance(30_000);
    await Promise.all([hub.generations.catchUp(), hub.roll.catchUp()]);
    expect(await codeOf(host.beat(broken, { tokens: [] }))).toBe('done');
    expect(await codeOf(host.beat(broken, { tokens: [token] }))).toBe('unavailable');
    expect(await codeOf(host.beat(hub, { tokens: [token] }))).toBe('done');
  });

  it('says nothing at all when the store does not answer then, and yes again when it does', async () => {
    await hub.wall.advance(30_000);
    hub.tamper('alter table trust_changes rename to away');
    expect(await codeOf(host.beat(hub))).toBe('unavailable');
    hub.tamper('alter table away rename to trust_changes');
    expect(await codeOf(host.beat(hub))).toBe('done');
    await hub.wall.advance(29_999);
    hub.tamper('alter table trust_changes rename to away');
    expect(await codeOf(host.beat(hub))).toBe('done');
  });
});
