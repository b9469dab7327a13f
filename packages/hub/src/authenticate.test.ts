import type { IncomingMessage } from 'node:http';
import { beforeEach, describe, expect, it } from 'vitest';
import { type AuthenticatedHost, authenticateHost } from './authenticate.ts';
import { addExisting, createWrapKey, enrolNew, type TestHost, thiefBearer } from './host.fixture.ts';
import { codeOf, createTestHub, DAY_MS, operator, type TestHub } from './hub.fixture.ts';
import { addHost } from './operations/add-host.ts';
import { approvePin } from './operations/decide-pin.ts';
import { evictHost, removeHost } from './operations/end-host.ts';
import { resumeHost, suspendHost } from './operations/suspend-host.ts';

let hub: TestHub;
let host: TestHost;
beforeEach(async () => {
  hub = await createTestHub();
  host = await enrolNew(hub, 'agent-7');
});

async function authenticate(...rawHeaders: string[]): Promise<AuthenticatedHost> {
  return authenticateHost(hub, { rawHeaders } as IncomingMessage, 'heartbeat');
}

function present(id: string, bearer: string): Promise<AuthenticatedHost> {
  return authenticate('Authorization', `Bearer ${bearer}`, 'X-Rollcall-Host', id);
}

describe('a request', () => {
  it('is of the host, life and generation that were verified', async () => {
    expect(await present('agent-7', host.bearer())).toMatchObject({
      entry: { id: 'agent-7' },
      rung: 'derived',
      version: 1,
      life: 1,
    });
    expect(
      await authenticate('x-rollcall-host', 'agent-7', 'accept', '*/*', 'authorization', `Bearer ${host.bearer()}`),
    ).toMatchObject({ version: 1 });
    expect([...hub.counts.read('auth')]).toEqual([['ok', 3]]);
  });

  it.each<[string, (bearer: string) => string[]]>([
    ['nothing', () => []],
    ['no bearer', () => ['X-Rollcall-Host', 'agent-7']],
    ['no host', (bearer) => ['Authorization', `Bearer ${bearer}`]],
    ['an empty bearer', () => ['Authorization', 'Bearer ', 'X-Rollcall-Host', 'agent-7']],
    ['another scheme', (bearer) => ['Authorization', `Basic ${bearer}`, 'X-Rollcall-Host', 'agent-7']],
    ['a scheme in lower case', (bearer) => ['Authorization', `bearer ${bearer}`, 'X-Rollcall-Host', 'agent-7']],
    ['a bearer without its scheme', (bearer) => ['Authorization', bearer, 'X-Rollcall-Host', 'agent-7']],
    [
      'a bearer with a typing error',
      (bearer) => [
        'Authorization',
        `Bearer ${bearer.slice(0, -1)}${bearer.endsWith('A') ? 'B' : 'A'}`,
        'X-Rollcall-Host',
        'agent-7',
      ],
    ],
    [
      'a token of another kind',
      (bearer) => ['Authorization', `Bearer rch_${bearer.slice(4)}`, 'X-Rollcall-Host', 'agent-7'],
    ],
    ['another host on the roll', (bearer) => ['Authorization', `Bearer ${bearer}`, 'X-Rollcall-Host', 'agent-8']],
    ['a host that is on no roll', (bearer) => ['Authorization', `Bearer ${bearer}`, 'X-Rollcall-Host', 'nobody']],
    ['its own host in another case', (bearer) => ['Authorization', `Bearer ${bearer}`, 'X-Rollcall-Host', 'Agent-7']],
    ['a malformed host', (bearer) => ['Authorization', `Bearer ${bearer}`, 'X-Rollcall-Host', 'agent-7/']],
    [
      'two hosts',
      (bearer) => ['Authorization', `Bearer ${bearer}`, 'X-Rollcall-Host', 'agent-7', 'x-rollcall-host', 'agent-7'],
    ],
    [
      'a second bearer after',
      (bearer) => ['Authorization', `Bearer ${bearer}`, 'authorization', 'Bearer x', 'X-Rollcall-Host', 'agent-7'],
    ],
    [
      'a second bearer before',
      (bearer) => ['authorization', 'Bearer x', 'Authorization', `Bearer ${bearer}`, 'X-Rollcall-Host', 'agent-7'],
    ],
    [
      'the same bearer twice',
      (bearer) => [
        'Authorization',
        `Bearer ${bearer}`,
        'Authorization',
        `Bearer ${bearer}`,
        'X-Rollcall-Host',
        'agent-7',
      ],
    ],
    [
      'a fleet token beside',
      (bearer) => ['Authorization', `Bearer ${bearer}`, 'X-Rollcall-Host', 'agent-7', 'X-Node-Token', 'any'],
    ],
    ['a fleet token alone', () => ['X-Node-Token', 'any', 'X-Rollcall-Host', 'agent-7']],
  ])('with %s is refused, and the same without that fault is taken', async (_what, headers) => {
    await enrolNew(hub, 'agent-8');
    expect(await codeOf(authenticate(...headers(host.bearer())))).toBe('unauthenticated');
    const refused = (['auth', 'host_token_auth'] as const).map((count) => hub.counts.read(count).get('refused') ?? 0);
    expect(refused.toSorted((a, b) => a - b)).toEqual([0, 1]);
    expect(await codeOf(present('agent-7', host.bearer()))).toBe('done');
  });

  it('changes nothing of a host when it is refused', async () => {
    const before = structuredClone(hub.roll.get('agent-7'));
    expect(await codeOf(present('agent-7', thiefBearer(hub, 'agent-8', 1, 1)))).toBe('unauthenticated');
    expect(hub.roll.get('agent-7')).toEqual({ ...before, publication: null });
  });
});

describe('a yes', () => {
  it('comes from memory', async () => {
    await hub.close();
    expect(await codeOf(present('agent-7', host.bearer()))).toBe('done');
  });

  it.each<[string, () => Promise<unknown>]>([
    ['suspended', () => suspendHost(hub, 'agent-7', operator)],
    ['evicted', () => evictHost(hub, 'agent-7', false, operator)],
    ['removed', () => removeHost(hub, 'agent-7', operator)],
  ])('is never given to a host that is %s', async (_state, end) => {
    const bearer = host.bearer();
    expect(await codeOf(present('agent-7', bearer))).toBe('done');
    await end();
    expect(await codeOf(present('agent-7', bearer))).toBe('unauthenticated');
    // Not for the life that the host has now either: whoever holds the master cannot be it.
    for (const life of [1, 2, 3])
      expect(await codeOf(present('agent-7', thiefBearer(hub, 'agent-7', life, 1)))).toBe('unauthenticated');
    const again = await hub.restart();
    expect(
      await codeOf(() =>
        authenticateHost(
          again,
          { rawHeaders: ['Authorization', `Bearer ${bearer}`, 'X-Rollcall-Host', 'agent-7'] } as IncomingMessage,
          'heartbeat',
        ),
      ),
    ).toBe('unauthenticated');
  });

  it('is never given to a host that was only invited, and is to one of an older fleet', async () => {
    await addHost(hub, { host: 'invited' }, operator);
    await addExisting(hub, 'existing');
    expect(await codeOf(present('invited', thiefBearer(hub, 'invited', 1, 1)))).toBe('unauthenticated');
    expect(await codeOf(present('existing', thiefBearer(hub, 'existing', 1, 1)))).toBe('done');
  });

  it('is given again to a host that was resumed', async () => {
    await suspendHost(hub, 'agent-7', operator);
    expect(await codeOf(present('agent-7', host.bearer()))).toBe('unauthenticated');
    await resumeHost(hub, 'agent-7', operator);
    expect(await codeOf(present('agent-7', host.bearer()))).toBe('done');
  });
});

describe('a no', () => {
  it('is asked of the store: what this process did not see yet is taken', async () => {
    const bearer = thiefBearer(hub, 'late', 1, 1);
    expect(await codeOf(present('late', bearer))).toBe('unauthenticated');
    const beside = { ...hub, roll: { ...hub.roll, catchUp: async () => undefined } };
    await addHost(beside, { host: 'late', existing: true }, operator);
    expect(hub.roll.get('late')).toBeUndefined();
    expect(await present('late', bearer)).toMatchObject({ entry: { id: 'late' }, version: 1 });
  });

  it('is none while the store does not answer, and costs the hosts that are known nothing', async () => {
    const bearer = host.bearer();
    hub.tamper('alter table trust_changes rename to away');
    expect(await codeOf(present('agent-7', 'rcb_wrong'))).toBe('unavailable');
    expect(await codeOf(present('nobody', bearer))).toBe('unavailable');
    expect(await codeOf(present('agent-7', bearer))).toBe('done');
    hub.tamper('alter table away rename to trust_changes');
    expect(await codeOf(present('agent-7', 'rcb_wrong'))).toBe('unauthenticated');
    expect(await codeOf(present('agent-7', bearer))).toBe('done');
  });

  it('is none for a host whose row cannot be read; once it is mended the host is taken again', async () => {
    hub.tamper(`update hosts set life = life + 1 where id = 'agent-7'`);
    expect(await codeOf(present('agent-7', 'rcb_wrong'))).toBe('unavailable');
    expect(await codeOf(present('agent-7', host.bearer()))).toBe('unavailable');
    hub.tamper(`update hosts set life = life - 1 where id = 'agent-7'`);
    expect(await codeOf(present('agent-7', host.bearer()))).toBe('done');
  });
});

describe('the life before an operator’s re-pin', () => {
  async function repin(): Promise<string> {
    const former = host.bearer();
    const key = createWrapKey();
    await approvePin(hub, 'agent-7', key.public.fingerprint, operator);
    await host.beat(hub, { key, lost: true });
    host.key = key;
    return former;
  }

  it('is told from the present one, and dies with the first proof of the new one', async () => {
    const former = await repin();
    expect(await present('agent-7', former)).toMatchObject({ life: 1, entry: { life: 2 } });
    await host.beat(hub, { bearer: former });
    expect(await present('agent-7', host.bearer())).toMatchObject({ life: 2, entry: { life: 2 } });
    await host.beat(hub);
    expect(await codeOf(present('agent-7', former))).toBe('unauthenticated');
    expect(await codeOf(present('agent-7', host.bearer()))).toBe('done');
  });

  it('dies after a day', async () => {
    const former = await repin();
    await hub.wall.advance(DAY_MS - 1);
    expect(await codeOf(present('agent-7', former))).toBe('done');
    await hub.wall.advance(1);
    expect(await codeOf(present('agent-7', former))).toBe('unauthenticated');
  });

  it('is one life back, no more', async () => {
    const former = await repin();
    const key = createWrapKey();
    await approvePin(hub, 'agent-7', key.public.fingerprint, operator);
    await host.beat(hub, { bearer: thiefBearer(hub, 'agent-7', 2, 1), key, lost: true });
    expect(hub.roll.get('agent-7')?.life).toBe(3);
    expect(await codeOf(present('agent-7', thiefBearer(hub, 'agent-7', 2, 1)))).toBe('done');
    expect(await codeOf(present('agent-7', former))).toBe('unauthenticated');
  });
});

it('every refusal asks the source the same, whatever was wrong', async () => {
  const asked: string[] = [];
  const watch = (what: string, ask: () => Promise<void>) => async () => {
    asked.push(what);
    await ask();
  };
  const watched = {
    ...hub,
    roll: { ...hub.roll, catchUp: watch('roll', hub.roll.catchUp) },
    generations: {
      verify: hub.generations.verify,
      catchUp: watch('generations', hub.generations.catchUp),
    } as TestHub['generations'],
  };
  const refusals = [
    [],
    ['Authorization', 'Bearer x', 'X-Rollcall-Host', 'nobody'],
    ['Authorization', 'Bearer x', 'X-Rollcall-Host', 'agent-7'],
  ];
  for (const rawHeaders of refusals) {
    asked.length = 0;
    expect(
      await codeOf(() => authenticateHost(watched, { rawHeaders } as unknown as IncomingMessage, 'heartbeat')),
    ).toBe('unauthenticated');
    expect(asked).toEqual(['generations', 'roll']);
  }
});
