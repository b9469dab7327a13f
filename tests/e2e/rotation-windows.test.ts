/** Windows close on the hub's clock: whoever sleeps, whatever stops, however the clock is set (I7). */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFleet, type Fleet, readHubRootFile } from './harness/fleet.ts';
import { bearerOf, createRawHost, enrolRawHost, type RawHost, randomMaster, recipientsIn } from './harness/raw-host.ts';
import { useFleet } from './harness/use-fleet.ts';
import { during, sleep } from './harness/wait-until.ts';

const windowMs = 4_000;
const hubFlags = ['--beat', '200ms', '--verify-window', `${windowMs}ms`];

describe('the window of the old generation', () => {
  const fleet = useFleet({ hubFlags });

  it('that ends while the hub is down has ended at its first answer: not accepted once', async () => {
    const host = await enrolRawHost(fleet(), 'web-1');
    const old = host.bearer();
    const until = await startRotation(fleet());
    expect((await host.beat({ bearer: old })).status).toBe(200);
    await host.settle();
    const current = host.bearer();
    expect(current).not.toBe(old);

    await fleet().hub().kill('SIGKILL');
    await sleep(until - Date.now() + 200);
    const answers: number[] = [];
    let isWatching = true;
    // From before it listens: what it answers first counts.
    const watch = (async () => {
      while (isWatching) {
        await host.beat({ bearer: old, wrapKey: null }).then(
          ({ status }) => answers.push(status),
          () => undefined,
        );
      }
    })();
    await fleet().startHub();
    await fleet().waitUntil('the hub has answered', () => answers.length >= 20);
    isWatching = false;
    await watch;
    expect(new Set(answers)).toEqual(new Set([401]));
    expect((await host.beat({ bearer: current })).status).toBe(200);
  });

  it('is open to a host that goes on with the old version, since the answer with the new one was lost', async () => {
    await fleet().ask('POST', '/v1/hosts/web-1/remove');
    const host = await enrolRawHost(fleet(), 'web-2');
    const old = host.bearer();
    const until = await startRotation(fleet());
    let lost = 0;
    while (Date.now() < until - 1_500) {
      const answer = await host.beat({ bearer: old });
      expect(answer.status).toBe(200);
      lost += answer.json<{ deliveries: unknown[] }>().deliveries.length;
      // The beats of one agent are bounded.
      await sleep(70);
    }
    // It was due in every answer, and the hub never took it for applied.
    expect(lost).toBeGreaterThan(2);
    expect((await fleet().host('web-2')).proven).toMatchObject({ master: { version: 2 } });
    await host.settle();
    expect((await fleet().host('web-2')).proven).toMatchObject({ master: { version: 3 } });
    expect((await host.beat()).status).toBe(200);
  });
});

describe('a wall clock that is set back by two hours', () => {
  it('after retirement opens nothing again, in the running hub and in the restarted one', async () => {
    await withShiftedClock(async (fleet, shift) => {
      const host = await enrolRawHost(fleet, 'web-1');
      const old = host.bearer();
      const until = await startRotation(fleet);
      await host.settle();
      // The control: it is open until it closes.
      expect((await host.beat({ bearer: old, wrapKey: null })).status).toBe(200);
      await sleep(until - Date.now() + 100);
      expect((await host.beat({ bearer: old, wrapKey: null })).status).toBe(401);

      shift(-2 * 3_600_000);
      expect((await host.beat({ bearer: old, wrapKey: null })).status).toBe(401);
      expect((await host.beat()).status).toBe(200);
      // Retired is what is on record as that; the floor of the clock is stored with it.
      await fleet.waitUntil('the end of the window is recorded', async () => {
        const { phase } = (await fleet.rotation()).rotation;
        return phase === 'narrowing' || phase === 'done';
      });
      await fleet.hub().kill('SIGKILL');
      await fleet.startHub();
      expect((await host.beat({ bearer: old, wrapKey: null })).status).toBe(401);
      await host.settle();
    });
  });

  it('inside a window does not make it longer by as much', async () => {
    await withShiftedClock(async (fleet, shift) => {
      const host = await enrolRawHost(fleet, 'web-1');
      const old = host.bearer();
      const startedAt = performance.now();
      await startRotation(fleet);
      await host.settle();
      shift(-2 * 3_600_000);
      await fleet.waitUntil(
        'the old version is refused',
        async () => (await host.beat({ bearer: old })).status === 401,
        {
          withinMs: 2 * windowMs,
        },
      );
      expect(performance.now() - startedAt).toBeGreaterThan(windowMs / 2);
    });
  });
});

describe('a canary that beats and never proves', () => {
  it('holds the others up for a minute, and not until the window strands them', async () => {
    await withShiftedClock(
      async (fleet, shift) => {
        const thief = await enrolRawHost(fleet, 'a-thief');
        const host = await enrolRawHost(fleet, 'web-1');
        await fleet.ask('POST', '/v1/rotations', { secret: 'master' });
        // It takes its turn, says nothing of a refusal, and goes on with the old version.
        await nextDelivery(fleet, thief);
        await during(1_500, async () => {
          expect((await thief.beat()).status).toBe(200);
          expect((await host.beat()).json()['deliveries']).toEqual([]);
        });
        shift(61_000);
        await nextDelivery(fleet, host);
        await host.settle();
        expect((await fleet.host('web-1')).proven).toMatchObject({ master: { version: 2 } });
        expect((await fleet.host('a-thief')).proven).toMatchObject({ master: { version: 1 } });
      },
      ['--beat', '200ms'],
    );
  });
});

describe('whoever holds the old master', () => {
  const master = randomMaster();
  const fleet = useFleet({ master, hubFlags });

  it('before retirement gets no pin of an invited host and replaces none; a host that is not pinned gets nothing sealed', async () => {
    const host = await enrolRawHost(fleet(), 'web-1');
    await fleet().addHost('web-2');
    await fleet().addHost('old-1', { existing: true });
    const thief = (id: string) => createRawHost(fleet(), id, readHubRootFile(fleet()).root, bearerOf(master, id, 1));

    // Whoever holds the master cannot be an invited host.
    expect((await thief('web-2').beat()).status).toBe(401);
    expect(await fleet().host('web-2')).toMatchObject({
      status: 'invited',
      pin: null,
      pending: false,
      lastSeenAt: null,
    });

    const asWeb = thief('web-1');
    const beaten = await asWeb.beat();
    expect([beaten.status, beaten.json()['pin']]).toMatchObject([200, { state: 'pending' }]);
    // It says that it holds nothing, and is sent what the true host alone can open.
    expect(recipientsIn(beaten)).toEqual([host.wrapKey.public.fingerprint]);
    expect(() => asWeb.open(beaten)).toThrow();
    expect((await fleet().host('web-1')).pin?.fingerprint).toBe(host.wrapKey.public.fingerprint);

    const asOld = thief('old-1');
    expect((await asOld.beat()).json()).toMatchObject({ pin: { state: 'not_accepted' }, deliveries: [] });
    expect((await fleet().host('old-1')).pin).toBeNull();

    // The control: the true host is served, and its own key opens what is sealed.
    const started = await fleet().rollcall(...['rotation', 'start', 'master', '--reason', 'leak', '--json']);
    expect(started.code).toBe(0);
    expect(started.json()['rotation']).toMatchObject({ reason: 'leak' });
    const due = await nextDelivery(fleet(), host);
    expect(host.open(due)).toMatchObject([{ kind: 'new', assignment: { present: 2 } }]);
    for (const { wrapKey } of [asWeb, asOld]) expect(() => host.open(due, { wrapKey })).toThrow();
    await host.settle();
  });

  it('after retirement is nobody: no beat of any host, no pin, no enrolment, while the hosts that came along live', async () => {
    const host = await enrolRawHost(fleet(), 'web-3');
    await fleet().waitUntil('it has come along', async () => {
      await host.settle();
      return host.held?.present === 2;
    });
    const { verifyUntil } = await fleet().rotation();
    await sleep(Date.parse(verifyUntil ?? '') - Date.now() + 100);
    for (const id of ['web-1', 'web-2', 'web-3', 'old-1', 'nobody']) {
      for (const life of [1, 2]) {
        const thief = createRawHost(fleet(), id, readHubRootFile(fleet()).root, bearerOf(master, id, life));
        expect((await thief.beat()).status).toBe(401);
      }
    }
    expect((await host.beat()).status).toBe(200);
    expect((await fleet().ask<{ pending: unknown[] }>('GET', '/v1/pins')).pending).toHaveLength(1);
  });
});

/** Returns when the old generation ends, by the wall clock of this machine. */
async function startRotation(fleet: Fleet): Promise<number> {
  const startedAt = Date.now();
  const { rotation } = await fleet.ask<{ rotation: { id: string } }>('POST', '/v1/rotations', { secret: 'master' });
  expect(rotation.id).not.toBe('');
  await fleet.waitUntil('it rolls', async () => (await fleet.rotation()).rotation.phase !== 'widening');
  return startedAt + windowMs + 300;
}

async function nextDelivery(fleet: Fleet, host: RawHost) {
  return fleet.waitUntil('a delivery is due', async () => {
    const answer = await host.beat();
    return answer.json<{ deliveries: unknown[] }>().deliveries.length > 0 && answer;
  });
}

async function withShiftedClock(
  test: (fleet: Fleet, shift: (ms: number) => void) => Promise<void>,
  flags: readonly string[] = hubFlags,
): Promise<void> {
  const preload = join(import.meta.dirname, 'harness', 'shifted-clock.mjs');
  const dir = mkdtempSync(join(tmpdir(), 'rc-clock-'));
  const file = join(dir, 'shift');
  const fleet = await createFleet({
    hubFlags: flags,
    hubNodeArgs: ['--import', preload],
    hubEnv: { CLOCK_SHIFT: file },
  });
  try {
    await test(fleet, (ms) => writeFileSync(file, String(ms)));
  } finally {
    await fleet.close();
    rmSync(dir, { recursive: true });
  }
}
