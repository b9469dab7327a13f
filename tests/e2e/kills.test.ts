/**
 * Hub and agents are killed (-9) at random moments of rotation after rotation. Each time everything converges by itself;
 * what was promised is kept; and no valid request is refused, not once (I1, I5, I11). The seed is printed.
 */
import type { AuditRecord, HostRow } from '@rollcall/wire';
import { describe, expect, it } from 'vitest';
import { createFleet, type Fleet, readHubRootFile, readLog, readToken } from './harness/fleet.ts';
import { createRawHost, enrolRawHost, type RawHost } from './harness/raw-host.ts';
import { sleep } from './harness/wait-until.ts';

/** `ROLLCALL_KILLS=100` is the long form. */
const ROUNDS = Number(process.env['ROLLCALL_KILLS'] ?? 20);
const agents = ['agent-1', 'agent-2'] as const;
const seed = Number(process.env['ROLLCALL_SEED'] ?? Date.now() % 1_000_000);

describe(`kill -9 at random moments of rotations (ROLLCALL_SEED=${seed})`, () => {
  it(
    `is survived ${ROUNDS} times: all converge, no promise is lost, no valid request is refused`,
    async () => {
      const fleet = await createFleet();
      const draw = createDraw(seed);
      /** How many hosts had proven the new version when the kill came. */
      const midway: number[] = [];
      const told: string[] = [`seed ${seed}`];
      const tell = (line: string) => void told.push(line);
      try {
        const children = new Map(
          await Promise.all(agents.map(async (id) => [id, await fleet.enrolAgent(id)] as const)),
        );
        const started = [...children.values()];
        const witness = startWitness(await enrolRawHost(fleet, 'witness'));
        const pins = new Map((await roll(fleet)).map(({ id, pin }) => [id, pin?.fingerprint]));
        let audit: readonly AuditRecord[] = [];

        for (let round = 1; round <= ROUNDS; round += 1) {
          const victims = draw.pick([
            ['hub'],
            ['hub'],
            ['agent-1'],
            ['agent-2'],
            ['hub', 'agent-1'],
            ['hub', 'agent-2'],
          ]);
          const newcomer = draw.below(3) === 0 ? await invite(fleet, `late-${round}`) : undefined;
          const { rotation } = await fleet.ask<{ rotation: { to: number } }>('POST', '/v1/rotations', {
            secret: 'master',
          });
          const enrolling = newcomer?.host.enrol(newcomer.token, { applies: false }).then(
            ({ status }) => status,
            () => undefined,
          );
          const waitMs = draw.below(900);
          await sleep(waitMs);
          const before = await provenOf(fleet);
          const proven = [...before.values()].filter((version) => version === rotation.to).length;
          midway.push(proven);
          tell(
            `${round}: to ${rotation.to}, after ${waitMs} ms, with ${proven} of ${before.size} proven, kill ${victims}${newcomer === undefined ? '' : ' while one enrols'}`,
          );

          if (victims.includes('hub')) {
            await fleet.hub().kill('SIGKILL');
            await sleep(draw.below(300));
            await fleet.startHub();
          }
          for (const id of agents.filter((agent) => victims.includes(agent))) {
            await children.get(id)?.kill('SIGKILL');
            const child = fleet.startAgent(id);
            children.set(id, child);
            started.push(child);
          }

          // What was counted, is; what was recorded, stands; and no number is missing.
          const after = await provenOf(fleet);
          for (const [id, version] of before) expect(after.get(id), told.join('\n')).toBeGreaterThanOrEqual(version);
          const now = await readAudit(fleet);
          expect(now.slice(0, audit.length)).toEqual(audit);
          expect(now.map(({ seq }) => seq)).toEqual(now.map((_record, index) => index + 1));
          audit = now;
          if (newcomer !== undefined) await settleNewcomer(fleet, newcomer, await enrolling);

          await fleet.waitUntil(
            `round ${round} has converged`,
            async () => [...(await provenOf(fleet)).values()].every((version) => version === rotation.to),
            { story: () => `${told.join('\n')}\n${fleet.story()}` },
          );
          // Every other time to its end; else the next start supersedes it.
          if (draw.below(2) === 0) {
            await fleet.ask('POST', '/v1/rotations/master/retire', { now: true, leave: [] });
            await fleet.waitUntil('it is done', async () => (await fleet.rotation()).rotation.phase === 'done');
          }
        }

        // Kills that come after all is done show nothing.
        expect(midway.filter((proven) => proven < agents.length + 1).length).toBeGreaterThan(ROUNDS / 4);
        const { refused, answered } = await witness.stop();
        expect(new Map((await roll(fleet)).map(({ id, pin }) => [id, pin?.fingerprint]))).toEqual(pins);
        expect(refused, told.join('\n')).toEqual([]);
        expect(answered).toBeGreaterThan(ROUNDS * 5);
        const unauthenticated = started.flatMap(readLog).filter((line) => line['code'] === 'unauthenticated');
        expect(unauthenticated, told.join('\n')).toEqual([]);
        expect(await refusedOf(fleet)).toBe(0);

        // The controls: these counts can see. A host that is cut off is refused, and all three say so.
        const cutOff = await enrolRawHost(fleet, 'cut-off');
        await fleet.ask('POST', '/v1/rotations', { secret: 'master' });
        await fleet.ask('POST', '/v1/rotations/master/retire', { now: true, leave: [...agents, 'witness', 'cut-off'] });
        expect((await cutOff.beat()).status).toBe(401);
        await fleet.waitUntil('the agents are refused', () =>
          started.flatMap(readLog).some((line) => line['code'] === 'unauthenticated'),
        );
        expect(await refusedOf(fleet)).toBeGreaterThan(0);
      } finally {
        console.info(told.join('\n'));
        await fleet.close();
      }
    },
    ROUNDS * 15_000,
  );
});

interface Newcomer {
  readonly host: RawHost;
  readonly token: string;
}

async function invite(fleet: Fleet, id: string): Promise<Newcomer> {
  const host = createRawHost(fleet, id, readHubRootFile(fleet).root);
  const token = await fleet.addHost(id);
  expect(readToken(token).host).toBe(id);
  // A rotation starts over hosts that are pinned and proven; the enrolment that races the kill is its second.
  expect((await host.enrol(token)).status).toBe(200);
  const current = Math.max(...(await provenOf(fleet)).values());
  await fleet.waitUntil(`${id} has proven ${current}`, async () => {
    await host.settle();
    return (await fleet.host(id)).proven['master']?.version === current;
  });
  const { token: again } = await fleet.ask<{ token: string }>('POST', `/v1/hosts/${id}/reenrol`, {});
  return { host, token: again };
}

/** A pin that was answered for is there; one that was not can be had by the same request. */
async function settleNewcomer(fleet: Fleet, { host, token }: Newcomer, status: number | undefined): Promise<void> {
  const { life } = await fleet.host(host.id);
  if (status === 200) expect(life).toBe(2);
  const answer = await host.enrol(token);
  expect(answer.status).toBe(200);
  await host.settle();
  expect(await fleet.host(host.id)).toMatchObject({ life: 2, pin: { fingerprint: host.wrapKey.public.fingerprint } });
  await fleet.ask('POST', `/v1/hosts/${host.id}/remove`);
}

/** A host without an agent that beats without a pause, and applies what it gets: it sees what an agent's back-off would hide. */
function startWitness(host: RawHost): { stop: () => Promise<{ refused: unknown[]; answered: number }> } {
  const refused: unknown[] = [];
  let answered = 0;
  let isStopping = false;
  const beating = (async () => {
    while (!isStopping) {
      const answer = await host.beat().catch(() => undefined);
      if (answer?.status === 200) {
        answered += 1;
        host.take(answer);
      } else if (answer !== undefined) refused.push([answer.status, answer.body]);
      await sleep(60);
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

async function roll(fleet: Fleet): Promise<readonly HostRow[]> {
  return (await fleet.ask<{ hosts: HostRow[] }>('GET', '/v1/hosts')).hosts;
}

async function provenOf(fleet: Fleet): Promise<ReadonlyMap<string, number>> {
  const lasting = (await roll(fleet)).filter(({ id }) => !id.startsWith('late-'));
  return new Map(lasting.map(({ id, proven }) => [id, proven['master']?.version ?? 0]));
}

async function readAudit(fleet: Fleet): Promise<readonly AuditRecord[]> {
  const all: AuditRecord[] = [];
  for (;;) {
    const after = all.at(-1)?.seq ?? 0;
    const { records } = await fleet.ask<{ records: AuditRecord[] }>('GET', `/v1/audit?after=${after}&limit=500`);
    if (records.length === 0) return all;
    all.push(...records);
  }
}

/** Refused authentications since the last start of the hub. */
async function refusedOf(fleet: Fleet): Promise<number> {
  const line = /^rollcall_auth_total\{[^}]*result="refused"[^}]*\} (\d+)$/m.exec(await fleet.metrics());
  return Number(line?.[1] ?? 0);
}

interface Draw {
  below(n: number): number;
  pick<T>(items: readonly T[]): T;
}

/** mulberry32: small, and good enough to choose moments. */
function createDraw(start: number): Draw {
  let state = start >>> 0;
  const below = (n: number) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * n);
  };
  return { below, pick: <T>(items: readonly T[]) => items[below(items.length)] as T };
}
