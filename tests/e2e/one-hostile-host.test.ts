/** Whoever has the bearer of one host can harm that host's fields for a while, and nobody else's anything. */
import { statSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { encodeBase64url } from '@rollcall/core/bytes';
import { limits } from '@rollcall/core/limits';
import { generateWrapKey } from '@rollcall/core/seal';
import type { AuditRecord, PendingPin } from '@rollcall/wire';
import { describe, expect, it } from 'vitest';
import { createRawHost, enrolRawHost, type RawHost, random, recipientsIn, toPublished } from './harness/raw-host.ts';
import { useFleet } from './harness/use-fleet.ts';
import { sleep } from './harness/wait-until.ts';

const fleet = useFleet();

const OTHERS = 10;
const FLOOD = 10_000;

describe('a bearer of one host in other hands', () => {
  it('holds up no other host, no start of a rotation, and not the host itself, and leaves nothing on the disk', async () => {
    const host = await enrolRawHost(fleet(), 'web-1');
    const ids = Array.from({ length: OTHERS }, (_, index) => `other-${index}`);
    const others = await Promise.all(ids.map((id) => enrolRawHost(fleet(), id)));
    const before = { rows: await withoutTimes(ids), audit: (await auditOf('web-1')).length, bytes: bytesOnDisk() };
    const watched = [host, ...others].map(keepBeating);
    const thief = createThief(host.bearer());

    // Ten thousand wrap keys, each from another running agent every now and then, with whatever else can be claimed.
    const beats = await thief.flood(FLOOD, (turn) => ({
      path: '/v1/heartbeat',
      body: {
        instance: encodeBase64url(turn % 50 === 0 ? thief.newInstance() : thief.instance()),
        seq: turn + 1,
        wrapKey: keyOf(turn),
        held: { master: { epoch: 999, step: 999 } },
        refused: [{ secret: 'master', reason: `reason-${turn}` }],
        agent: { version: '999.0.0' },
        startup: 'fresh',
        sentAt: turn % 2 === 0 ? '2035-01-01T00:00:00.000Z' : '2026-99-99T99:99:99Z',
        capacity: { cpu: Number.MAX_SAFE_INTEGER, memory: Number.MAX_SAFE_INTEGER, slots: Number.MAX_SAFE_INTEGER },
      },
    }));
    expect([...beats.keys()].sort((a, b) => a - b)).toEqual([200, 429]);
    // How many get through is what the rate allows, not what was tried.
    expect(beats.get(200)).toBeLessThan(FLOOD / 4);
    const challenges = await thief.flood(FLOOD, () => ({
      path: '/v1/challenge',
      body: { host: 'web-1', purpose: 'certificate' },
    }));
    expect([...challenges.keys()].sort((a, b) => a - b)).toEqual([200, 429]);
    // What is answered is what the rate of an address allows.
    expect(challenges.get(200)).toBeLessThan(FLOOD / 4);

    // The rotation starts in the middle of it, everyone comes along, and so does the true host: the thief can open nothing.
    const flooding = thief.flood(FLOOD / 4, (turn) => ({
      path: '/v1/heartbeat',
      body: {
        ...plainBeat(thief.instance(), FLOOD + turn),
        refused: [{ secret: 'master', reason: 'delivery_unopenable' }],
      },
    }));
    const started = await fleet().rollcall('rotation', 'start', 'master', '--json');
    expect([started.code, started.stderr]).toEqual([0, '']);
    for (const id of ['web-1', ...ids]) {
      await fleet().waitUntil(
        `${id} has proven the new version`,
        async () => (await fleet().host(id)).proven['master']?.version === 2,
      );
    }
    await flooding;
    thief.close();

    // Nobody noticed: not one beat of the others, nor of the true machine, was anything but answered.
    for (const { refused, answered } of await Promise.all(watched.map((one) => one.stop()))) {
      expect(refused).toEqual([]);
      expect(answered).toBeGreaterThan(10);
    }
    expect(await withoutTimes(ids)).toEqual(
      before.rows.map((row) => ({ ...row, proven: { master: { epoch: 1, version: 2 } } })),
    );
    expect(await fleet().host('web-1')).toMatchObject({
      life: 1,
      pin: { fingerprint: host.wrapKey.public.fingerprint },
    });
    const { pending } = await fleet().ask<{ pending: PendingPin[] }>('GET', '/v1/pins');
    expect(pending.length).toBeLessThanOrEqual(limits.pendingPinsPerHost);
    expect(new Set(pending.map(({ host: id }) => id))).toEqual(new Set(['web-1']));
    const records = (await auditOf('web-1')).slice(before.audit).map(({ action }) => action);
    expect(records.filter((action) => action === 'pin.challenged').length).toBeLessThanOrEqual(
      limits.pendingPinsPerHost,
    );
    expect(records.length).toBeLessThanOrEqual(limits.pendingPinsPerHost + 4);
    expect(bytesOnDisk() - before.bytes).toBeLessThan(5_000_000);
  }, 180_000);

  it('is bounded for each agent that runs, and is sent nothing but what the true host could open', async () => {
    const host = await enrolRawHost(fleet(), 'web-5');
    const thief = createRawHost(fleet(), 'web-5', random(32), host.bearer());
    // Keys by the hundred, keys that are none, times, versions and instances out of the air.
    const statuses: number[] = [];
    for (let beat = 0; beat < 200; beat += 1)
      statuses.push((await thief.beat({ wrapKey: generateWrapKey(random) })).status);
    // Let in, as a bearer is, and then bounded.
    expect(statuses.slice(0, 20)).toEqual(new Array(20).fill(200));
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    for (const key of [
      '',
      'AAAA',
      encodeBase64url(new Uint8Array(32)),
      encodeBase64url(random(32)),
      'x'.repeat(4_000),
    ]) {
      thief.restart();
      const answer = await thief.beat({ wrapKey: { suite: 'x25519', public: key } });
      expect(answer.status).toBe(200);
      // It says that it holds nothing, and is sent what the true host could open, sealed to the pin.
      expect(recipientsIn(answer)).toEqual([host.wrapKey.public.fingerprint]);
      expect(() => thief.open(answer)).toThrow();
    }
    for (let start = 0; start < 50; start += 1) {
      thief.restart();
      const answer = await thief.beat({
        body: {
          sentAt: '2035-01-01T00:00:00.000Z',
          held: { master: { epoch: 999, step: 999 } },
          refused: [{ secret: 'master', reason: 'delivery_unopenable' }],
        },
      });
      expect([200, 429]).toContain(answer.status);
      // The true host is served all the while: what is bounded is bounded for each agent that runs.
      if (start % 5 === 0) expect((await host.beat()).status).toBe(200);
    }
  });

  it('names nobody else: an id elsewhere in the request is compared, and refused when it is another', async () => {
    const host = await enrolRawHost(fleet(), 'web-3');
    const refused = await host.beat({ body: { host: 'web-2' } });
    expect([refused.status, refused.json()['code']]).toEqual([403, 'host_mismatch']);
    expect((await host.beat({ body: { host: 'web-3' } })).status).toBe(200);
  });

  it('is answered as usual when it replays a beat, and changes nothing', async () => {
    const host = await enrolRawHost(fleet(), 'web-4');
    const body = { instance: encodeBase64url(random(16)), seq: 7 };
    expect((await host.beat({ body })).status).toBe(200);
    const replayed = await host.beat({ body, wrapKey: generateWrapKey(random) });
    expect([replayed.status, replayed.json()['pin']]).toMatchObject([200, { state: 'pinned' }]);
    expect((await fleet().host('web-4')).pending).toBe(false);
    // The control: the same publication in a beat that rises is seen.
    await host.beat({ body: { ...body, seq: 8 }, wrapKey: generateWrapKey(random) });
    expect((await fleet().host('web-4')).pending).toBe(true);
  });
});

/** A few thousand different ones: to make ten thousand would take longer than to send them. */
const keys = Array.from({ length: 500 }, () => toPublished(generateWrapKey(random)));

function keyOf(turn: number): { readonly suite: string; readonly public: string } {
  const malformed = ['', 'AAAA', encodeBase64url(new Uint8Array(32)), 'x'.repeat(4_000)];
  if (turn % 10 === 0) return { suite: 'x25519', public: malformed[(turn / 10) % malformed.length] ?? '' };
  const key = keys[turn % keys.length];
  // A change in the last bits is another key, and as good a one.
  return {
    suite: 'x25519',
    public: `${key?.public.slice(0, 8)}${String(turn).padStart(6, '0')}${key?.public.slice(14)}`,
  };
}

function plainBeat(instance: Uint8Array, seq: number) {
  return {
    instance: encodeBase64url(instance),
    seq,
    held: {},
    refused: [],
    agent: { version: '0.1.0' },
    startup: 'restored',
    sentAt: new Date().toISOString(),
  };
}

interface Asked {
  readonly path: string;
  readonly body: unknown;
}

/** Someone with the bearer of `web-1`, as fast as eight kept connections go. */
function createThief(bearer: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 8, rejectUnauthorized: false });
  let instance = random(16);
  const headers = { authorization: `Bearer ${bearer}`, 'x-rollcall-host': 'web-1', 'content-type': 'application/json' };
  const ask = ({ path, body }: Asked) =>
    new Promise<number>((resolve, reject) => {
      const sent = request(
        { host: '127.0.0.1', port: fleet().port, method: 'POST', path, headers, agent },
        (answer) => {
          answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
        },
      );
      sent.on('error', reject);
      sent.end(JSON.stringify(body));
    });
  return {
    instance: () => instance,
    newInstance: () => {
      instance = random(16);
      return instance;
    },
    /** How many answers there were of each status. */
    flood: async (count: number, make: (turn: number) => Asked) => {
      const statuses = new Map<number, number>();
      let turn = 0;
      const lane = async () => {
        while (turn < count) {
          const status = await ask(make(turn++));
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
        }
      };
      await Promise.all(Array.from({ length: 8 }, lane));
      return statuses;
    },
    close: () => agent.destroy(),
  };
}

/** As its agent does, only more often. */
function keepBeating(host: RawHost) {
  const refused: string[] = [];
  let answered = 0;
  let isStopping = false;
  const beating = (async () => {
    while (!isStopping) {
      const answer = await host.beat();
      if (answer.status === 200) {
        answered += 1;
        host.take(answer);
      } else refused.push(`${host.id}: ${answer.status} ${answer.body}`);
      await sleep(250);
    }
  })();
  return {
    stop: async () => {
      isStopping = true;
      await beating;
      return { refused, answered };
    },
  };
}

async function withoutTimes(ids: readonly string[]) {
  const rows = await Promise.all(ids.map((id) => fleet().host(id)));
  return rows.map(({ lastSeenAt: _at, skewMs: _skew, ...row }) => row);
}

async function auditOf(target: string): Promise<readonly AuditRecord[]> {
  return (await fleet().ask<{ records: AuditRecord[] }>('GET', `/v1/audit?target=${target}&limit=500`)).records;
}

/** The database, its journal, and the log. */
function bytesOnDisk(): number {
  const files = ['', '-wal'].map((suffix) => statSync(`${fleet().files.database}${suffix}`).size);
  return files.reduce((sum, size) => sum + size, fleet().hub().stderr().length);
}
