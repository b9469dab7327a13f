/** A heartbeat that changes nothing touches no disk; one that does is durable before its answer leaves (design 2). */
import { generateWrapKey } from '@rollcall/core/seal';
import { describe, expect, it } from 'vitest';
import { enrolRawHost, type RawHost, random } from './harness/raw-host.ts';
import { useFleet } from './harness/use-fleet.ts';
import { sleep } from './harness/wait-until.ts';
import { readWriteAheadLog } from './harness/write-ahead-log.ts';

describe('the database', () => {
  const fleet = useFleet();
  const log = () => readWriteAheadLog(fleet().files.database);

  it('sees one flush a second, however many beats there are, and each promise at once', async () => {
    // Several hosts, since the beats of one are bounded.
    const hosts = await Promise.all(Array.from({ length: 8 }, (_, at) => enrolRawHost(fleet(), `web-${at}`)));
    const host = hosts[0] as RawHost;
    await sleep(1_500);

    const before = log();
    const startedAt = performance.now();
    const beats = 320;
    for (let beat = 0; beat < beats; beat += 1) {
      expect((await hosts[beat % hosts.length]?.beat())?.status).toBe(200);
    }
    const seconds = (performance.now() - startedAt) / 1_000;
    const after = log();
    expect(after.salt).toBe(before.salt);
    // A flush is a batch of liveness and the floor of the clock: two commits about once a second.
    const commits = after.commits - before.commits;
    expect(commits).toBeLessThanOrEqual(2 * Math.ceil(seconds + 1));
    expect(commits).toBeLessThan(beats / 10);

    // The control: what an answer promises is in the log when the answer is here, every single time.
    for (let turn = 1; turn <= 3; turn += 1) {
      const known = log();
      const answer = await host.beat({ wrapKey: generateWrapKey(random) });
      expect(answer.json()['pin']).toMatchObject({ state: 'pending' });
      expect(log().commits).toBeGreaterThan(known.commits);
      expect(fleet().store().rows("select * from pending_pins where host = 'web-0'")).toHaveLength(turn);
    }
  });

  it('is not written at all for beats that fail authentication', async () => {
    const host = await enrolRawHost(fleet(), 'other-1');
    await sleep(1_500);
    const before = log();
    for (let beat = 0; beat < 50; beat += 1) expect((await host.beat({ bearer: 'rcb_wrong' })).status).toBe(401);
    await sleep(1_200);
    expect(log()).toEqual(before);
    // The control: one that passes is flushed.
    await host.beat();
    await sleep(1_500);
    expect(log().commits).toBeGreaterThan(before.commits);
  });
});
