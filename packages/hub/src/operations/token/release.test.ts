/** A host that is released from a token: it is told so, and a member of walks until it was seen without (design 4, 5). */
import { beforeEach, describe, expect, it } from 'vitest';
import { enrolNew, open, type TestHost } from '../../host.fixture.ts';
import { codeOf, createTestHub, DAY_MS, operator, type TestHub } from '../../hub.fixture.ts';
import { findAssignment } from '../../store/assignments.ts';
import { listAudit } from '../../store/audit.ts';
import { findRotation } from '../../store/rotations.ts';
import { showHost } from '../../views/hosts.ts';
import { showRotation } from '../../views/rotations.ts';
import { addHost, reenrolHost } from '../add-host.ts';
import { createSecret } from '../create-secret.ts';
import { evictHost, removeHost } from '../end-host.ts';
import { leaveRotation } from '../rotation/hold.ts';
import { advanceRotation, startRotation, stepTokens } from '../rotation/walk.ts';
import { changeHolders, showToken } from './create-token.ts';

const SECRET = 'fleet';
let hub: TestHub;
let host: TestHost;
let other: TestHost;

beforeEach(async () => {
  hub = await createTestHub();
  host = await enrolNew(hub, 'agent-7');
  other = await enrolNew(hub, 'agent-8');
  await createSecret(hub, { name: SECRET, holders: ['agent-7', 'agent-8', 'caller:deploy'] }, operator);
  await beats();
});

async function beats(hosts: readonly TestHost[] = [host, other]): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    for (const one of hosts) await one.beat(hub);
    while (await stepTokens(hub));
  }
}

const release = (...remove: string[]) => changeHolders(hub, SECRET, { remove }, operator);
const hold = (...add: string[]) => changeHolders(hub, SECRET, { add }, operator);
/** What the hub itself takes is asked elsewhere. */
const start = () =>
  startRotation(
    hub,
    { secret: SECRET, reason: 'planned', leave: ['replica:local'], narrowByMs: null, auto: 'off', batch: 1 },
    operator,
  );
const phase = async () => (await findRotation(hub.db, hub.vault, SECRET))?.phase;
const blockers = async () =>
  (await showRotation(hub, SECRET)).gate.blockers.map(({ member, missing }) => `${member} ${missing}`);
const wanted = (id = 'agent-7') => findAssignment(hub.db, hub.vault, id, SECRET);

function sets(of: TestHost = host): string {
  const { step, accept, present } = of.tokens.get(SECRET) ?? { step: 0, accept: [], present: -1 };
  return `${step}: ${accept.map(({ version }) => version).join('+')} sends ${present}`;
}

async function carryTo(end: string, hosts: readonly TestHost[]): Promise<void> {
  for (let round = 0; round < 12 && (await phase()) !== end; round += 1) {
    if ((await phase()) === 'proving') await hub.wall.advance(DAY_MS + 1);
    await beats(hosts);
    await codeOf(advanceRotation(hub, SECRET, undefined, operator));
  }
  expect(await phase()).toBe(end);
}

describe('a host that is released', () => {
  it('is told to drop the token, and nothing of it is delivered any more', async () => {
    expect(sets()).toBe('1: 1 sends 1');
    await release('agent-7');
    const answer = await host.beat(hub);
    expect([sets(), sets(other)]).toEqual(['2:  sends 0', '1: 1 sends 1']);
    expect(await wanted()).toMatchObject({ step: 2, accept: [], present: 0, ackedStep: 1 });
    const text = other.tokenText(SECRET);
    expect(JSON.stringify(answer)).not.toContain(text);
    expect((await host.beat(hub)).deliveries).toEqual([]);
    expect(await wanted()).toMatchObject({ ackedStep: 2 });
    const audit = await listAudit(hub.db, 0, 10_000);
    expect(audit.filter(({ action }) => action === 'secret.holders_changed').at(-1)).toMatchObject({
      target: SECRET,
      details: { added: [], removed: ['agent-7'] },
    });
    expect(audit.at(-1)).toMatchObject({
      action: 'host.proved',
      target: 'agent-7',
      details: { secret: SECRET, dropped: true, step: 2 },
    });
    expect((await showToken(hub, hub.db, SECRET)).holders).toEqual(['agent-8', 'caller:deploy']);
  });

  it('is proven by a beat that names the step and comes without, and by no other', async () => {
    const text = host.tokenText(SECRET);
    await release('agent-7');
    const ofBefore = host.tokens.get(SECRET);
    await host.beat(hub, { lost: true });
    await host.beat(hub, { lost: true, tokens: [] });
    expect(await wanted()).toMatchObject({ ackedStep: 1 });
    await host.beat(hub, { tokens: [] });
    await host.beat(hub, { tokens: [text] });
    expect(await wanted()).toMatchObject({ ackedStep: 1 });
    await host.beat(hub);
    expect(await wanted()).toMatchObject({ ackedStep: 2 });
    // A disk that was put back says what it holds, and is told again; one that knows nothing has nothing to drop.
    host.tokens.delete(SECRET);
    expect((await host.beat(hub)).deliveries).toEqual([]);
    if (ofBefore !== undefined) host.tokens.set(SECRET, ofBefore);
    const { deliveries } = await host.beat(hub);
    expect(deliveries).toHaveLength(1);
    expect(sets()).toBe('2:  sends 0');
  });

  it('is shown with each secret that it holds, and with the token for as long as it may have it', async () => {
    const shown = async () => {
      const { assignments, released = [] } = await showHost(hub, 'agent-7');
      const rows = {
        assignments: assignments.map(({ secret, wanted, acked }) => ({ secret, wanted, acked })),
        released,
      };
      return Object.values(rows).map((of) => of.map((row) => `${row.secret} ${row.wanted.step}/${row.acked?.step}`));
    };
    expect(await shown()).toEqual([['master 2/2', `${SECRET} 1/1`], []]);
    await release('agent-7');
    expect(await shown()).toEqual([['master 2/2'], [`${SECRET} 2/1`]]);
    await beats();
    expect(await shown()).toEqual([['master 2/2'], []]);
    await hold('agent-7');
    expect(await shown()).toEqual([['master 2/2', `${SECRET} 3/2`], []]);
    hub.tamper(`update assignments set step = 7 where host = 'agent-7' and secret = '${SECRET}'`);
    expect(await shown()).toEqual([['master 2/2'], []]);
    expect((await showHost(hub, 'agent-7')).unreadable).toEqual(['assignments']);
  });

  it('does not take an earlier step again', async () => {
    host.tokens.delete(SECRET);
    const { deliveries } = await host.beat(hub, { lost: true, tokens: [] });
    const [recorded] = deliveries;
    expect(open(hub, host, recorded)).toMatchObject({ kind: 'new', assignment: { step: 1 } });
    await release('agent-7');
    await hub.wall.advance(60_001);
    await host.beat(hub);
    expect(sets()).toBe('2:  sends 0');
    expect(await codeOf(async () => open(hub, host, recorded))).toBe('delivery_replayed');
  });

  it('is a member of a walk until it was seen without, may be left, and is none after that', async () => {
    await release('agent-7');
    await start();
    await carryTo('rolling', [other]);
    await beats([other]);
    expect(await blockers()).toEqual(['agent-7 seen_without']);
    await beats();
    expect(await blockers()).toEqual([]);
    expect([sets(), sets(other)]).toEqual(['2:  sends 0', '3: 2+1 sends 2']);
    expect(await codeOf(leaveRotation(hub, SECRET, { leave: ['agent-7'], reason: 'x' }, operator))).toBe(
      'leave_unknown',
    );
    await carryTo('done', [host, other]);
    expect(sets()).toBe('2:  sends 0');
  });

  it('may be left while it sleeps, and holds no walk up then', async () => {
    await release('agent-7');
    await start();
    await carryTo('rolling', [other]);
    await beats([other]);
    expect(await codeOf(leaveRotation(hub, SECRET, { leave: ['agent-7'], reason: 'asleep' }, operator))).toBe('done');
    await carryTo('done', [other]);
  });

  it('is not let go in the middle of a walk', async () => {
    await start();
    expect(await codeOf(release('agent-7'))).toBe('rotation_running');
    expect(await wanted()).toMatchObject({ present: 1 });
  });

  it('may hold it again, by a later step', async () => {
    await release('agent-7');
    await hold('agent-7');
    await host.beat(hub);
    expect(sets()).toBe('3: 1 sends 1');
    await release('agent-7');
    await beats();
    await hold('agent-7');
    await beats();
    expect(sets()).toBe('5: 1 sends 1');
    expect(await wanted()).toMatchObject({ step: 5, ackedStep: 5 });
  });

  it('of what every host holds drops it, unless it holds it by its name', async () => {
    await hold('all');
    await release('agent-7');
    await beats();
    expect(sets()).toBe('1: 1 sends 1');
    await release('all');
    await beats();
    expect([sets(), sets(other)]).toEqual(['2:  sends 0', '1: 1 sends 1']);
  });

  it('is another one than a caller, of which nobody is told anything', async () => {
    await release('caller:deploy');
    await beats();
    expect([sets(), sets(other)]).toEqual(['1: 1 sends 1', '1: 1 sends 1']);
    expect(await codeOf(release('caller:deploy'))).toBe('no_such_holder');
  });

  it('and has an assignment that cannot be read is told above every step that it had', async () => {
    hub.tamper(`update assignments set step = 7 where host = 'agent-7' and secret = '${SECRET}'`);
    await hub.roll.catchUp();
    await release('agent-7');
    expect(await wanted()).toMatchObject({ accept: [], step: Math.floor(hub.clock.now() / 1_000) });
    await host.beat(hub);
    expect(sets()).toMatch(/: {2}sends 0$/);
  });
});

describe('nobody waits', () => {
  it('for a released host that was evicted, and one that comes back is told', async () => {
    await release('agent-7');
    await evictHost(hub, 'agent-7', false, operator);
    await start();
    await carryTo('rolling', [other]);
    await beats([other]);
    expect(await blockers()).toEqual([]);
    const { token = '' } = await reenrolHost(hub, 'agent-7', undefined, operator);
    expect(await blockers()).toEqual([]);
    await host.enrol(hub, token);
    await host.beat(hub);
    expect(await blockers()).toEqual(['agent-7 seen_without']);
    expect(sets()).toBe('2:  sends 0');
    await host.beat(hub);
    expect(await blockers()).toEqual([]);
    expect(await wanted()).toMatchObject({ ackedStep: 2 });
  });

  it('for a host that was removed, and one that is added under its id gets nothing that it does not hold', async () => {
    await removeHost(hub, 'agent-7', operator);
    await start();
    await carryTo('rolling', [other]);
    await beats([other]);
    expect(await blockers()).toEqual([]);
    const anew = await enrolNew(hub, 'agent-7');
    await anew.beat(hub);
    expect(sets(anew)).not.toContain('1 sends 1');
    expect(await wanted()).toMatchObject({ accept: [], present: 0 });
    // The control: a host that holds it gets the sets of this moment.
    const { token = '' } = await addHost(hub, { host: 'agent-9' }, operator);
    expect(token).not.toBe('');
    await hold('agent-9');
    expect(await wanted('agent-9')).toMatchObject({ accept: [2, 1] });
  });
});
