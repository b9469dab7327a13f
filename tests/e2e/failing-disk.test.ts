/** The disk of an agent is full, or read-only, when a new generation comes: it stays on the old one and says so, and converges by itself. */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { HostRow, ShowHostAnswer } from '@rollcall/wire';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readLog } from './harness/fleet.ts';
import { useFleet } from './harness/use-fleet.ts';

const fleet = useFleet();
const mount = (...args: readonly string[]) => spawnSync('mount', args).status === 0;
const unmount = (path: string) => spawnSync('umount', ['-l', path]);

/** A file system of its own, so small that it can be filled. */
const canMount = (() => {
  const probe = `/tmp/rc-mount-${process.pid}`;
  mkdirSync(probe);
  const mounted = mount('-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', probe);
  if (mounted) unmount(probe);
  rmSync(probe, { recursive: true });
  return mounted;
})();

// Skipped where this user may not mount a file system: there is no other way to a disk that is really full.
describe.skipIf(!canMount)('the state directory of an agent', () => {
  const id = 'agent-1';
  const state = () => fleet().stateOf(id);
  const filler = () => join(state(), 'filler');

  beforeAll(async () => {
    mkdirSync(state(), { mode: 0o700 });
    expect(mount('-t', 'tmpfs', '-o', 'size=256k,mode=700', 'tmpfs', state())).toBe(true);
    await fleet().enrolAgent(id);
    await fleet().enrolAgent('agent-2');
  });
  afterAll(() => unmount(state()));

  const provenOf = async (host: string) => (await fleet().host(host)).proven['master']?.version;
  const refusedBy = async (host: string) => (await fleet().ask<ShowHostAnswer>('GET', `/v1/hosts/${host}`)).refused;
  const problemsOf = async () => (await fleet().agentStatus(id)).problems.map((problem) => problem.code);
  const failures = () => readLog(fleet().hub()).filter(({ level }) => Number(level) >= 50);

  const faults: readonly [string, string, () => void, () => void][] = [
    ['full', 'disk_full', fill, () => rmSync(filler())],
    [
      'read-only',
      'state_unwritable',
      () => expect(mount('-o', 'remount,ro', state())).toBe(true),
      () => expect(mount('-o', 'remount,rw', state())).toBe(true),
    ],
  ];

  it.each(faults)('that is %s keeps the agent on what it holds, and it says %s', async (_what, code, fail, mend) => {
    const { to } = (await fleet().ask<{ rotation: { to: number } }>('POST', '/v1/rotations', { secret: 'master' }))
      .rotation;
    fail();
    // Before it is told, or while: the canary may be the other one.
    await fleet().waitUntil('the other one has come along', async () => (await provenOf('agent-2')) === to);
    await fleet().waitUntil('the hub is told why not', async () =>
      (await refusedBy(id)).some(({ reason }) => reason === code),
    );
    const row: HostRow = await fleet().host(id);
    expect(row).toMatchObject({ fresh: true, flags: ['refuses_delivery'] });
    expect(row.proven['master']?.version).toBe(to - 1);
    const seenAt = row.lastSeenAt;
    expect(await problemsOf()).toContain(code);
    await fleet().waitUntil('it goes on beating', async () => (await fleet().host(id)).lastSeenAt !== seenAt);

    mend();
    await fleet().waitUntil('it has come along by itself', async () => (await provenOf(id)) === to, {
      withinMs: 90_000,
    });
    await fleet().waitUntil('it says that all is well', async () => !(await problemsOf()).includes(code));
    expect(await refusedBy(id)).toEqual([]);
    expect(failures()).toEqual([]);
    await fleet().ask('POST', '/v1/rotations/master/retire', { now: true, leave: [] });
    await fleet().waitUntil('it is done', async () => (await fleet().rotation()).rotation.phase === 'done');
  });

  function fill(): void {
    const file = openSync(filler(), 'w', 0o600);
    try {
      for (;;) writeSync(file, Buffer.alloc(1_024, 1));
    } catch (error) {
      expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
    } finally {
      closeSync(file);
    }
    expect(statSync(filler()).size).toBeGreaterThan(10_000);
  }
});
