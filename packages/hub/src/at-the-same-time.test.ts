/** What happens in one instant: whoever comes second finds what the first has left, and memory ends as the store does. */
import type { IncomingMessage } from 'node:http';
import { beforeEach, describe, expect, it } from 'vitest';
import { authenticateHost } from './authenticate.ts';
import { createTestHost, createWrapKey, enrolNew, type TestHost, thiefBearer } from './host.fixture.ts';
import { codeOf, createTestHub, operator, type TestHub } from './hub.fixture.ts';
import { addHost, reenrolHost } from './operations/add-host.ts';
import { approvePin } from './operations/decide-pin.ts';
import { evictHost, removeHost } from './operations/end-host.ts';
import { enrolHost } from './operations/enrol-host.ts';
import { receiveHeartbeat } from './operations/receive-heartbeat.ts';
import { retireRotation } from './operations/rotation/retire.ts';
import { startRotation, stepMaster } from './operations/rotation/walk.ts';
import { suspendHost } from './operations/suspend-host.ts';
import { findPin } from './store/pins.ts';

let hub: TestHub;
let host: TestHost;
beforeEach(async () => {
  hub = await createTestHub();
  host = await enrolNew(hub, 'agent-7');
});

/** Lets that many turns of the microtask queue pass. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await Promise.resolve();
}

describe('a host that ends while it is read', () => {
  it.each<[string, (of: TestHub) => Promise<unknown>]>([
    ['removed', (of) => removeHost(of, 'agent-7', operator)],
    ['evicted', (of) => evictHost(of, 'agent-7', false, operator)],
    ['suspended', (of) => suspendHost(of, 'agent-7', operator)],
  ])('%s: is let in no more, whenever the reading began', async (_how, end) => {
    for (let lead = 0; lead < 60; lead += 1) {
      const fresh = await createTestHub();
      const ending = await enrolNew(fresh, 'agent-7');
      const reading = [fresh.roll.reload('agent-7')];
      await turns(lead);
      const ended = end(fresh);
      await turns(lead % 7);
      reading.push(fresh.roll.reload('agent-7'));
      await Promise.all([...reading, ended]);
      expect(fresh.roll.get('agent-7')?.status, `lead ${lead}`).not.toBe('active');
      expect(await codeOf(ending.beat(fresh)), `lead ${lead}`).toBe('unauthenticated');
      await fresh.close();
    }
  });
});

describe('a beat whose body comes late', () => {
  /** The header is verified now; what comes in between happens before the body is there. */
  async function beatAround(bearer: string, between: () => Promise<unknown>): Promise<string> {
    const rawHeaders = ['Authorization', `Bearer ${bearer}`, 'X-Rollcall-Host', 'agent-7'];
    const who = await authenticateHost(hub, { rawHeaders } as IncomingMessage, 'heartbeat');
    await between();
    host.seq += 1;
    return receiveHeartbeat(hub, {
      who,
      from: '203.0.113.9',
      userAgent: '',
      body: {
        instance: host.instance,
        seq: host.seq,
        held: {},
        refused: [],
        agent: { version: '1.0.0' },
        startup: 'restored',
        sentAt: new Date(hub.wall.now()).toISOString(),
      },
    });
  }

  it('is answered as its header was', async () => {
    expect(await codeOf(beatAround(host.bearer(), async () => undefined))).toBe('done');
    expect(hub.roll.get('agent-7')?.address).toBe('203.0.113.9');
  });

  it.each<[string, (of: TestHub, at: TestHost) => Promise<unknown>]>([
    ['was suspended', (of) => suspendHost(of, 'agent-7', operator)],
    ['was evicted', (of) => evictHost(of, 'agent-7', false, operator)],
    ['was removed', (of) => removeHost(of, 'agent-7', operator)],
    [
      'was removed and added again',
      async (of) => {
        await removeHost(of, 'agent-7', operator);
        await addHost(of, { host: 'agent-7', existing: true }, operator);
      },
    ],
    [
      'has begun a new life',
      async (of) => {
        const { token = '' } = await reenrolHost(of, 'agent-7', undefined, operator);
        await createTestHost('agent-7').enrol(of, token);
      },
    ],
    [
      'presented a generation that was retired',
      async (of, at) => {
        await startRotation(of, { secret: 'master', reason: 'planned', leave: [], narrowByMs: null }, operator);
        while (await stepMaster(of));
        await at.beat(of);
        await at.beat(of);
        await retireRotation(of, 'master', { now: true, leave: [] }, operator);
      },
    ],
  ])('is refused when the host meanwhile %s', async (_what, end) => {
    expect(await codeOf(beatAround(host.bearer(), () => end(hub, host)))).toBe('unauthenticated');
    expect(hub.roll.get('agent-7')?.address).not.toBe('203.0.113.9');
  });
});

describe('one token', () => {
  it('redeemed by two at once with two keys is redeemed once', async () => {
    const { token = '' } = await addHost(hub, { host: 'agent-8' }, operator);
    const both = [createTestHost('agent-8'), createTestHost('agent-8')];
    const codes = await Promise.all(both.map((one) => codeOf(one.enrol(hub, token))));
    expect([...codes].sort()).toEqual(['done', 'unauthenticated']);
    const winner = both[codes.indexOf('done')];
    expect((await findPin(hub.db, hub.vault, 'agent-8'))?.fingerprint).toBe(winner?.key.public.fingerprint);
    expect(hub.roll.get('agent-8')?.life).toBe(1);
  });

  it('redeemed many times at once with one key is one enrolment, answered each time', async () => {
    const { token = '' } = await addHost(hub, { host: 'agent-8' }, operator);
    const one = createTestHost('agent-8');
    const body = one.enrolBody(token);
    const answers = await Promise.all([1, 2, 3, 4].map(() => enrolHost(hub, body, '192.0.2.1')));
    expect(answers.map(({ deliveries }) => deliveries.length)).toEqual([1, 1, 1, 1]);
    expect(hub.roll.get('agent-8')).toMatchObject({ life: 1, wantedStep: 2 });
  });

  it('redeemed while the host is evicted leaves nobody who is let in', async () => {
    for (let lead = 0; lead < 40; lead += 4) {
      const id = `agent-8-${lead}`;
      const { token = '' } = await addHost(hub, { host: id }, operator);
      const one = createTestHost(id);
      const enrolling = codeOf(one.enrol(hub, token));
      await turns(lead);
      await Promise.all([enrolling, evictHost(hub, id, false, operator)]);
      expect(hub.roll.get(id)?.status).toBe('evicted');
      expect(await findPin(hub.db, hub.vault, id)).toBeUndefined();
      if (one.assignment !== undefined) expect(await codeOf(one.beat(hub))).toBe('unauthenticated');
      expect(await codeOf(createTestHost(id).enrol(hub, token))).toBe('unauthenticated');
    }
  });
});

describe('two keys', () => {
  it('published at once by whoever holds one bearer: both wait, and the pin stands', async () => {
    const keys = [createWrapKey(), createWrapKey()];
    await Promise.all(keys.map((key) => host.beat(hub, { key })));
    expect(await findPin(hub.db, hub.vault, 'agent-7')).toMatchObject({ fingerprint: host.key.public.fingerprint });
  });

  it('one approved while another is published: the approved one is the pin, whoever comes first', async () => {
    for (let lead = 0; lead < 40; lead += 4) {
      const id = `agent-9-${lead}`;
      const one = await enrolNew(hub, id);
      const [right, junk] = [createWrapKey(), createWrapKey()];
      const former = one.bearer();
      await one.beat(hub, { key: right });
      const approving = approvePin(hub, id, right.public.fingerprint, operator);
      await turns(lead);
      await Promise.all([approving, codeOf(one.beat(hub, { bearer: former, key: junk, lost: true }))]);
      expect((await findPin(hub.db, hub.vault, id))?.fingerprint).toBe(right.public.fingerprint);
      expect(hub.roll.get(id)).toMatchObject({ life: 2, pinFingerprint: right.public.fingerprint });
      // The keys in what is due are those of the new life: the host that opens them is let in with them.
      one.key = right;
      await one.beat(hub, { bearer: former });
      expect(one.bearer()).toBe(thiefBearer(hub, id, 2, 1));
    }
  });
});
