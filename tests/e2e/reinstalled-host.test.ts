/** A host that comes back with another wrap key: refused with evidence, decided by a person who read the host itself. */
import { cpSync, rmSync } from 'node:fs';
import { generateWrapKey } from '@rollcall/core/seal';
import type { PendingPin } from '@rollcall/wire';
import { describe, expect, it } from 'vitest';
import type { Child } from './harness/child.ts';
import { type Fleet, readHubRootFile } from './harness/fleet.ts';
import { bearerOf, createRawHost, enrolRawHost, random, randomMaster } from './harness/raw-host.ts';
import { useFleet } from './harness/use-fleet.ts';

const master = randomMaster();
const fleet = useFleet({ master, hubFlags: ['--beat', '200ms', '--first-use-min-age', '1ms'] });

describe('a host of an older fleet that is installed anew', () => {
  it('is refused with evidence, keeps its old pin, and lives again after a person has approved its key in full', async () => {
    await fleet().addHost('old-1', { existing: true });
    const first = startFromMaster(fleet(), 'old-1');
    const pinned = await takeOnFirstUse(fleet(), 'old-1');
    await first.kill('SIGTERM');
    cpSync(fleet().stateOf('old-1'), `${fleet().dir}/yesterday`, { recursive: true });
    rmSync(fleet().stateOf('old-1'), { recursive: true });

    // Reinstalled: the master comes back with the image, the wrap key does not.
    const second = startFromMaster(fleet(), 'old-1');
    await fleet().waitUntil('the change is pending', async () => (await fleet().host('old-1')).pending);
    const { fingerprint } = await fleet().agentStatus('old-1');
    expect(fingerprint).not.toBe(pinned);
    expect((await fleet().host('old-1')).pin).toEqual({ fingerprint: pinned, anchor: 'first-use' });
    const { pending } = await fleet().ask<{ pending: PendingPin[] }>('GET', '/v1/pins');
    expect(pending).toMatchObject([
      {
        host: 'old-1',
        pinned,
        new: fingerprint,
        evidence: { instancesAlternate: false, addressNow: '127.0.0.1', claims: { startup: 'fresh' } },
      },
    ]);
    // The pinned key fell silent before the new one appeared.
    const { evidence, firstSeenAt } = pending[0] as PendingPin;
    expect(Date.parse(evidence.pinnedKeyLastSeenAt ?? '')).toBeLessThan(Date.parse(firstSeenAt));
    await fleet().waitUntil('the agent says so too', async () =>
      (await fleet().agentStatus('old-1')).problems.some(({ code }) => code === 'pin_contested'),
    );
    // Nothing is sealed to the new key: it holds nothing, while a step for the old one is due.
    expect((await fleet().agentStatus('old-1')).held).toEqual({});

    const wrong = `${fingerprint.slice(0, -1)}${fingerprint.endsWith('0') ? '1' : '0'}`;
    const refused = await fleet().rollcall('pin', 'approve', 'old-1', '--fingerprint', wrong, '--yes', '--json');
    expect(refused.code).toBe(3);
    expect(refused.stderr).toContain('fingerprint_mistyped');
    expect((await fleet().host('old-1')).pin?.fingerprint).toBe(pinned);
    const short = await fleet().rollcall('pin', 'approve', 'old-1', '--fingerprint', fingerprint.slice(0, 16), '--yes');
    expect(short.code).toBe(2);

    const approved = await fleet().rollcall('pin', 'approve', 'old-1', '--fingerprint', fingerprint, '--yes', '--json');
    expect(approved.code).toBe(0);
    expect(approved.json()).toMatchObject({ effect: 'taken', life: 2, pin: { fingerprint, anchor: 'operator' } });
    await fleet().waitUntil('it has proven its new life', async () => {
      const { life, proven, pending: waits } = await fleet().host('old-1');
      return life === 2 && proven['master'] !== undefined && !waits;
    });
    expect((await fleet().agentStatus('old-1')).held['master']).toBeDefined();

    // The keys of the former life are dead, those of the present one are not.
    const thief = createRawHost(fleet(), 'old-1', readHubRootFile(fleet()).root);
    expect((await thief.beat({ bearer: bearerOf(master, 'old-1', 1) })).status).toBe(401);
    expect((await thief.beat({ bearer: bearerOf(master, 'old-1', 2), wrapKey: null })).status).toBe(200);
    await second.kill('SIGTERM');

    // Yesterday's disk: an agent started on it gets nowhere, and says so.
    rmSync(fleet().stateOf('old-1'), { recursive: true });
    cpSync(`${fleet().dir}/yesterday`, fleet().stateOf('old-1'), { recursive: true });
    const stale = fleet().startAgent('old-1');
    await fleet().waitUntil('the stale disk is refused', async () => {
      const { heartbeats } = await fleet().agentStatus('old-1');
      expect(heartbeats['ok']).toBeUndefined();
      return (heartbeats['unauthenticated'] ?? 0) > 0;
    });
    expect(await fleet().host('old-1')).toMatchObject({ life: 2, pending: false, pin: { fingerprint } });
    await stale.kill('SIGTERM');
  });

  it('is shown with the last time of its pinned key, also when that was the beat which brought the pin', async () => {
    await fleet().addHost('old-2', { existing: true });
    const host = createRawHost(fleet(), 'old-2', readHubRootFile(fleet()).root, bearerOf(master, 'old-2', 1));
    await host.beat();
    await acceptFirstUse(fleet(), 'old-2');
    expect((await host.beat()).json()['pin']).toMatchObject({ state: 'pinned' });
    await host.beat({ wrapKey: generateWrapKey(random) });
    const { pending } = await fleet().ask<{ pending: PendingPin[] }>('GET', '/v1/pins');
    const { evidence, firstSeenAt } = pending.find(({ host: id }) => id === 'old-2') as PendingPin;
    // The pinned key has not come again since the new one did: two machines are not shown by that.
    expect(evidence).toMatchObject({ addressThen: '127.0.0.1', pinnedKeyStillPublishing: false });
    await host.beat();
    const again = await fleet().ask<{ pending: PendingPin[] }>('GET', '/v1/pins');
    expect(again.pending.find(({ host: id }) => id === 'old-2')?.evidence.pinnedKeyStillPublishing).toBe(true);
    expect(Date.parse(evidence.pinnedKeyLastSeenAt ?? '')).toBeLessThanOrEqual(Date.parse(firstSeenAt));
  });
});

describe('yesterday’s disk', () => {
  it('of a host that was evicted and enrolled again is dead, and today’s is not', async () => {
    const agent = await fleet().enrolAgent('web-1');
    await agent.kill('SIGTERM');
    cpSync(fleet().stateOf('web-1'), `${fleet().dir}/web-1-yesterday`, { recursive: true });

    const evicted = await fleet().rollcall('host', 'evict', 'web-1', '--yes', '--json');
    expect(evicted.json()).toMatchObject({ host: 'web-1', status: 'evicted' });
    const again = await fleet().rollcall('host', 'reenrol', 'web-1', '--json');
    const token = fleet().write('web-1.again', again.json<{ token: string }>().token);
    const today = fleet().startAgent('web-1', '--enrol', token);
    await fleet().waitUntil('it has proven its new life', async () => {
      const { status, proven } = await fleet().host('web-1');
      return status === 'active' && proven['master'] !== undefined;
    });
    const { life, pin } = await fleet().host('web-1');
    expect(life).toBeGreaterThan(1);
    const counted = await fleet().agentStatus('web-1');
    expect(counted.heartbeats['ok']).toBeGreaterThan(0);
    await today.kill('SIGTERM');

    cpSync(fleet().stateOf('web-1'), `${fleet().dir}/web-1-today`, { recursive: true });
    await startOn(fleet(), 'web-1', 'web-1-yesterday', 'unauthenticated', 'ok');
    expect(await fleet().host('web-1')).toMatchObject({ life, pin: { fingerprint: pin?.fingerprint }, pending: false });
    await startOn(fleet(), 'web-1', 'web-1-today', 'ok', 'unauthenticated');
  });

  it('of a host that was re-pinned is dead from the first proof of the new life', async () => {
    const host = await enrolRawHost(fleet(), 'cache-1');
    const yesterday = host.bearer();
    const former = host.wrapKey;
    const next = generateWrapKey(random);
    await host.beat({ wrapKey: next });
    const approved = await fleet().rollcall(
      ...['pin', 'approve', 'cache-1', '--fingerprint', next.public.fingerprint, '--yes', '--json'],
    );
    expect(approved.code).toBe(0);

    // Until then it fetches envelopes, and they are sealed to the new pin alone.
    const fetched = await host.beat({ bearer: yesterday, wrapKey: former });
    expect(fetched.status).toBe(200);
    expect(() => host.open(fetched, { wrapKey: former, afresh: true })).toThrow(
      expect.objectContaining({ code: 'delivery_unknown_recipient' }),
    );
    host.wrapKey = next;
    expect(host.take(fetched)).toBe(true);
    await host.settle();
    expect((await host.beat({ bearer: yesterday, wrapKey: former })).status).toBe(401);
    expect((await host.beat()).status).toBe(200);
    expect((await fleet().host('cache-1')).pin?.fingerprint).toBe(next.public.fingerprint);
  });
});

describe('a key that is published beside the pin', () => {
  it('gets nothing: rotations go on to the pin, until a person approves, and then to the approved key alone', async () => {
    const host = await enrolRawHost(fleet(), 'pinned-1');
    await keepOthersOut(fleet(), 'pinned-1');
    const [a, b] = [host.wrapKey, generateWrapKey(random)];
    const rotate = async () => {
      const started = await fleet().rollcall('rotation', 'start', 'master', '--json');
      expect(started.stderr).toBe('');
      // The rotation job widens and rolls by itself; then the step is due.
      return fleet().waitUntil('a delivery is due', async () => {
        const answer = await host.beat();
        return answer.json<{ deliveries: unknown[] }>().deliveries.length > 0 && answer;
      });
    };

    const first = await rotate();
    expect(host.open(first, { wrapKey: a })).toMatchObject([{ kind: 'new', assignment: { present: 2 } }]);
    expect(() => host.open(first, { wrapKey: b })).toThrow();
    host.take(first);
    await host.settle();

    // B on a valid bearer.
    const published = await host.beat({ wrapKey: b });
    expect(published.json()['pin']).toMatchObject({ state: 'pending' });
    const second = await rotate();
    expect(host.open(second, { wrapKey: a })).toMatchObject([{ kind: 'new', assignment: { present: 3 } }]);
    expect(() => host.open(second, { wrapKey: b })).toThrow(
      expect.objectContaining({ code: 'delivery_unknown_recipient' }),
    );
    host.take(second);
    await host.settle();

    const approved = await fleet().rollcall(
      ...['pin', 'approve', 'pinned-1', '--fingerprint', b.public.fingerprint, '--yes', '--json'],
    );
    expect(approved.json()).toMatchObject({ effect: 'taken', life: 2 });
    host.wrapKey = b;
    host.take(await host.beat());
    await host.settle();
    const third = await rotate();
    expect(host.open(third, { wrapKey: b })).toMatchObject([{ kind: 'new', assignment: { present: 4 } }]);
    expect(() => host.open(third, { wrapKey: a })).toThrow(
      expect.objectContaining({ code: 'delivery_unknown_recipient' }),
    );
  });
});

function startFromMaster(at: Fleet, id: string): Child {
  const file = at.write('fleet-master', master);
  return at.startAgent(
    id,
    ...[
      '--hub',
      `https://127.0.0.1:${at.port}`,
      '--host',
      id,
      '--hub-root-file',
      at.files.hubRoot,
      '--master-file',
      file,
    ],
  );
}

/** The fingerprint that was pinned. */
async function takeOnFirstUse(at: Fleet, id: string): Promise<string> {
  await acceptFirstUse(at, id);
  const pin = await at.waitUntil('it is pinned', async () => (await at.host(id)).pin ?? undefined);
  expect(pin.anchor).toBe('first-use');
  return pin.fingerprint;
}

async function acceptFirstUse(at: Fleet, id: string): Promise<void> {
  interface Exposure {
    readonly exposed: number;
    readonly eligible: readonly { readonly id: string }[];
  }
  const { exposed } = await at.waitUntil('it is eligible', async () => {
    const seen = await at.ask<Exposure>('GET', '/v1/first-use');
    return seen.eligible.some((host) => host.id === id) && seen;
  });
  const on = await at.rollcall('pin', 'accept-first-use', 'on', '--until', '1h', '--exposed', String(exposed));
  expect(on.code).toBe(0);
}

/** Starts an agent on a copy of a disk, and waits for a beat with this result; there must be none with the other. */
async function startOn(at: Fleet, id: string, disk: string, result: string, never: string): Promise<void> {
  rmSync(at.stateOf(id), { recursive: true });
  cpSync(`${at.dir}/${disk}`, at.stateOf(id), { recursive: true });
  const agent = at.startAgent(id);
  await at.waitUntil(`a beat of ${disk} ends in ${result}`, async () => {
    const { heartbeats } = await at.agentStatus(id);
    expect(heartbeats[never]).toBeUndefined();
    return (heartbeats[result] ?? 0) > 0;
  });
  await agent.kill('SIGTERM');
}

/** So that the rotation waits for the host in question alone. */
async function keepOthersOut(at: Fleet, id: string): Promise<void> {
  for (const { id: other } of (await at.ask<{ hosts: { id: string }[] }>('GET', '/v1/hosts')).hosts) {
    if (other !== id) await at.ask('POST', `/v1/hosts/${other}/remove`);
  }
}
