/**
 * The agent is killed before, and refused, each call that it makes on its state directory (design 9): first boot with
 * enrolment, taking over a new generation, another wrap key. Each time it starts again as itself, with the old state or the
 * new one, and never behind what the hub has seen of it. `ROLLCALL_FILE_CALLS=all` takes every call, else a sample of them.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  type DurableState,
  encodeDurableState,
  loadState,
  readAgentStatus,
  runAgent,
  systemFiles,
} from '@rollcall/agent';
import { canonicalJson } from '@rollcall/core/json';
import type { AgentStatusAnswer, ShowHostAnswer } from '@rollcall/wire';
import { afterAll, describe, expect, it } from 'vitest';
import { type Child, startChild } from './harness/child.ts';
import {
  type Call,
  type CallFault,
  hasStrace,
  ONE_THREAD,
  readCalls,
  underStrace,
  wasInjected,
} from './harness/strace.ts';
import { useFleet } from './harness/use-fleet.ts';
import { waitUntil } from './harness/wait-until.ts';

const takesAll = process.env['ROLLCALL_FILE_CALLS'] === 'all';
/** Kills for each of the three, where not all are taken. */
const FEW = 8;
const AT_ONCE = 4;
const PATIENCE_MS = 60_000;
const LONG = { timeout: takesAll ? 1_800_000 : 300_000 } as const;

// Skipped where there is no strace, or tracing is forbidden; `packages/agent/src/failing-disk.test.ts` fails the same operations there too.
describe.skipIf(!hasStrace)('a fault at a file call of an agent', () => {
  const fleet = useFleet();
  /** Of this test process, to be stopped. */
  const running = new Set<() => Promise<void>>();
  const enrolled: string[] = [];
  afterAll(async () => {
    for (const stop of running) await stop();
  });

  it(
    'during first boot and enrolment leaves nothing or a whole state, and the host that the hub took',
    LONG,
    async () => {
      await enrol('plain');
      const made = readCalls(traceOf('plain'));
      expect(new Set(made.map(({ name }) => name))).toEqual(
        new Set(
          [
            'readlink',
            'statx',
            'mkdir',
            'openat',
            'fchmod',
            'newfstatat',
            'getdents64',
            'close',
            'unlink',
            'chmod',
          ].concat(['rename', 'write', 'fsync', 'read']),
        ),
      );
      await survive('boot', made, FEW, (fault, id) => enrol(id, fault));
    },
  );

  it(
    'while a generation is taken over leaves the old assignment or the new one, and the host comes along',
    LONG,
    async () => {
      const canary = await fleet().enrolAgent('canary');
      // The canary is one that beats: the others are away when the generation begins.
      const hosts = [...enrolled];
      for (const id of hosts) await fleet().waitUntil(`${id} is silent`, async () => !(await show(id)).host.fresh);
      const { to } = (await fleet().ask<{ rotation: { to: number } }>('POST', '/v1/rotations', { secret: 'master' }))
        .rotation;
      for (const id of hosts)
        await fleet().waitUntil(`${id} is switched`, async () => (await show(id)).assignments[0]?.present === to);
      const next = () => hosts.shift() ?? 'no host is left';
      const made = readCalls(await takeOver(next(), to));
      expect(made.filter(({ name }) => name === 'rename').length).toBeGreaterThan(1);
      await survive('apply', made, Math.min(FEW, hosts.length), (fault) => takeOver(next(), to, fault));
      await canary.kill();
    },
  );

  it('while the wrap key is replaced leaves the former key or the new one, and the rest as it was', LONG, async () => {
    const hosts = [...enrolled];
    const next = () => hosts.shift() ?? 'no host is left';
    const made = readCalls(await replaceKey(next()));
    await survive('key', made, Math.min(FEW, hosts.length), (fault) => replaceKey(next(), fault));
  });

  /** The first boot of a host that was just added, until the hub has seen it prove; then it is stopped. */
  async function enrol(id: string, fault?: CallFault): Promise<string> {
    const token = fleet().write(`${id}.token`, await fleet().addHost(id));
    const flags = ['--enrol', token];
    await runUntilProven(id, 1, flags, fault);
    const { host } = await show(id);
    const state = await load(id);
    // A key that the hub has seen is the host's for good, and a version that it proved is in force.
    if (host.pin !== null) expect(fingerprintOf(state)).toBe(host.pin.fingerprint);
    if (host.proven['master'] !== undefined) expect(state?.assignments.get('master')?.present).toBe(1);
    const status = await startAgain(id, flags, ({ held }) => held['master'] !== undefined);
    const after = await show(id);
    expect(after.host.pin?.fingerprint).toBe(status.fingerprint);
    if (state !== undefined) expect(status.fingerprint).toBe(fingerprintOf(state));
    expect(status.pin).toBe('pinned');
    enrolled.push(id);
    return traceOf(id);
  }

  /** A host that was away when the generation began. */
  async function takeOver(id: string, to: number, fault?: CallFault): Promise<string> {
    const before = await load(id);
    await runUntilProven(id, to, [], fault);
    const state = await load(id);
    const { assignments, host } = await show(id);
    const [seen] = assignments;
    const held = state?.assignments.get('master');
    expect(fingerprintOf(state)).toBe(fingerprintOf(before));
    expect([before?.assignments.get('master')?.step, seen?.wanted.step]).toContain(held?.step);
    expect(held?.accept.map(({ version }) => version)).toContain(held?.present);
    expect(held?.step).toBeGreaterThanOrEqual(seen?.acked?.step ?? 0);
    if (host.proven['master']?.version === to) expect(held?.present).toBe(to);
    await startAgain(id, [], (status) => status.presents?.version === to);
    await fleet().waitUntil(
      `${id} has proven ${to}`,
      async () => (await show(id)).host.proven['master']?.version === to,
    );
    return traceOf(id);
  }

  async function replaceKey(id: string, fault?: CallFault): Promise<string> {
    const before = await load(id);
    const child = startTraced(id, ['reset-wrap-key', '--yes', '--json'], fault);
    const { code } = await child.ended;
    const state = await load(id);
    expect(restOf(state)).toBe(restOf(before));
    const isNew = fingerprintOf(state) !== fingerprintOf(before);
    if (code === 0) expect(JSON.parse(child.stdout())).toMatchObject({ fingerprint: fingerprintOf(state) });
    if (code === 0) expect(isNew).toBe(true);
    expectForeseen(child);
    if (fault === undefined) expect(code).toBe(0);
    const status = await startAgain(id, [], () => true);
    expect(status.fingerprint).toBe(fingerprintOf(state));
    expect(status.pin).toBe(isNew ? 'pending' : 'pinned');
    return traceOf(id);
  }

  async function runUntilProven(
    id: string,
    version: number,
    flags: readonly string[],
    fault?: CallFault,
  ): Promise<void> {
    const child = startTraced(id, ['start', '--log-level', 'debug', ...flags], fault);
    const isOver = async () => child.hasEnded() || (await show(id)).host.proven['master']?.version === version;
    await waitUntil(`${id} has ended, or proven`, isOver, { withinMs: PATIENCE_MS, story: child.stderr });
    await child.kill('SIGTERM');
    expectForeseen(child);
  }

  /** Without a fault, in this process, until the hub has answered it and it `isSo`. */
  async function startAgain(
    id: string,
    flags: readonly string[],
    isSo: (status: AgentStatusAnswer) => boolean,
  ): Promise<AgentStatusAnswer> {
    const stopping = new AbortController();
    const [, enrol] = flags;
    const options = {
      stateDir: fleet().stateOf(id),
      logLevel: 'silent',
      ...(enrol === undefined ? {} : { enrol }),
    } as const;
    const agent = runAgent(options, { signal: stopping.signal });
    const stop = async () => {
      stopping.abort();
      await agent.catch(() => undefined);
    };
    running.add(stop);
    const isBack = fleet().waitUntil(
      `${id} is back`,
      async () => {
        const current = await readAgentStatus(fleet().stateOf(id));
        return current.lastAnswerAt !== null && isSo(current) ? current : undefined;
      },
      { withinMs: PATIENCE_MS },
    );
    isBack.catch(() => undefined);
    // An agent that ends by itself could not start.
    const status = await Promise.race([isBack, agent.then(() => isBack)]);
    running.delete(stop);
    await stop();
    return status;
  }

  function startTraced(id: string, args: readonly string[], fault?: CallFault): Child {
    const directory = fleet().stateOf(id);
    const [verb = '', ...flags] = args;
    return startChild({
      name: id,
      args: ['agent', verb, '--state', directory, ...flags],
      recorder: fleet().recorder,
      env: { HOME: fleet().dir, ...ONE_THREAD },
      under: underStrace(pathsIn(directory), traceOf(id), fault),
    });
  }

  async function load(id: string): Promise<DurableState | undefined> {
    const directory = fleet().stateOf(id);
    if (!existsSync(directory)) return undefined;
    return (await loadState({ files: systemFiles, directory, uid: process.getuid?.() ?? 0 }))?.state;
  }

  const show = (id: string) => fleet().ask<ShowHostAnswer>('GET', `/v1/hosts/${id}`);
  const traceOf = (id: string) => join(fleet().dir, `${id}.trace`);

  /** One host for each fault; nearly every fault that is planned is met. */
  async function survive(
    what: string,
    made: readonly Call[],
    few: number,
    suffer: (fault: CallFault, id: string) => Promise<string>,
  ): Promise<void> {
    const faults = planFaults(made, few);
    const failed: string[] = [];
    let met = 0;
    const waiting = [...faults.entries()];
    const work = async () => {
      for (let [next] = waiting.splice(0, 1); next !== undefined; [next] = waiting.splice(0, 1)) {
        const [index, fault] = next;
        const id = `${what}-${index}`;
        try {
          if (wasInjected(await suffer(fault, id))) met += 1;
        } catch (error) {
          failed.push(
            `${id}, ${fault.what} at ${fault.call.name} ${fault.call.nth}: ${String((error as Error).stack)}`,
          );
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    expect(failed).toEqual([]);
    // A beat more or less is another count of calls.
    expect(met, `of ${faults.length} faults at ${made.length} calls`).toBeGreaterThan(faults.length * 0.8);
  }
});

/** A kill before each call, an error of the disk at each, and a full disk at each that changes something. */
function planFaults(made: readonly Call[], few: number): readonly CallFault[] {
  const changes = made.filter((call) => call.changes);
  const kills = made.map((call) => ({ call, what: 'KILL' }) as const);
  const errors = made.map((call) => ({ call, what: 'EIO' }) as const);
  const full = changes.map((call) => ({ call, what: 'ENOSPC' }) as const);
  if (takesAll) return [...kills, ...errors, ...full];
  // Each kind of call meets an error once: whatever the system says, the agent must have a word for it.
  const first = errors.filter(({ call }) => call.nth === 1);
  return [...first, ...spread(kills, few), ...spread(full, Math.ceil(few / 4))];
}

function spread<T>(list: readonly T[], few: number): readonly T[] {
  return Array.from({ length: few }, (_, n) => list[Math.floor(((n + 0.5) * list.length) / few)] as T);
}

/** All that an agent has there but its lock, whose names are drawn: `directory-lock.test.ts` is about that. */
function pathsIn(directory: string): readonly string[] {
  const names = ['state-a', 'state-b', 'state.tmp', 'agent.sock', '.status', ...keptNames()];
  return [directory, ...names.map((name) => `${directory}/${name}`)];
}

/** What `reset-wrap-key` calls the copy that it keeps, within the next seconds. */
function keptNames(): readonly string[] {
  return Array.from({ length: 20 }, (_, second) => {
    const digits = new Date(Date.now() + second * 1_000).toISOString().replaceAll(/[^0-9]/g, '');
    return `state-before-${digits.slice(0, 14)}`;
  });
}

function fingerprintOf(state: DurableState | undefined): string | undefined {
  return state?.wrapKeys[0]?.public.fingerprint;
}

function restOf(state: DurableState | undefined): string {
  return canonicalJson({ ...(state && encodeDurableState(state)), wrapKeys: [] });
}

/** Whatever the system says, the agent has a word for it. */
function expectForeseen(child: Child): void {
  expect(child.stderr()).not.toMatch(/internal|unforeseen|\bat .*\.js:/);
}
