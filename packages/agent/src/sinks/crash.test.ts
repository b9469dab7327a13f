/** A crash, a power cut or an error before any of the operations of a write: at the path is the old content or the new one. */
import { decodeUtf8 } from '@rollcall/core/bytes';
import type { Assignment } from '@rollcall/core/seal';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../fleet.fixture.ts';
import { type Attempt, attemptSink } from './attempt-sink.ts';
import type { SinkRecord } from './plan-sink.ts';
import { projectAssignment } from './project-assignment.ts';
import { sinkConfig, tokenAssignment } from './sink.fixture.ts';
import { SinkDisk } from './sink-disk.fixture.ts';
import { loadRecords, saveRecords } from './sink-record.ts';

const STATE = '/state';
const sink = sinkConfig('/etc/web', { reload: { by: 'unit', unit: 'web', timeoutMs: 1_000 } });
const one = tokenAssignment({ versions: [1] });
const two = tokenAssignment({ versions: [1, 2], present: 2, step: 2 });
const three = tokenAssignment({ versions: [2, 3], present: 3, step: 3 });
const starts = { count: 0 };

/** What an agent does that starts on this disk. */
async function start(disk: SinkDisk, held: Assignment): Promise<Attempt> {
  starts.count += 1;
  const records = new Map(await loadRecords(disk, STATE));
  const remember = async (record: SinkRecord) => {
    await saveRecords(disk, STATE, new Map(records).set(record.name, record));
    records.set(record.name, record);
  };
  const accounts = { userId: async () => undefined, groupId: async () => undefined };
  const ports = { files: disk, accounts, random: seededRandom(`crash ${starts.count}`), uid: 0, remember };
  const attempt = await attemptSink(ports, sink, { held, record: records.get(sink.name), mayWrite: true });
  if (attempt === 'later') throw new Error('it may write');
  return attempt;
}

const contentOf = (held: Assignment) =>
  Object.fromEntries([...projectAssignment(held).content].map(([name, bytes]) => [name, decodeUtf8(bytes)]));
const isReloadDue = async (disk: SinkDisk) => (await loadRecords(disk, STATE)).get(sink.name)?.isReloadDue;

/** A disk on which a sink lies, and its program was told. */
async function diskWith(...written: readonly Assignment[]): Promise<SinkDisk> {
  const disk = new SinkDisk(['etc', 'state']);
  for (const held of written) {
    expect((await start(disk, held)).fact).not.toHaveProperty('problem');
    const record = (await loadRecords(disk, STATE)).get(sink.name) as SinkRecord;
    await saveRecords(disk, STATE, new Map([[sink.name, { ...record, isReloadDue: false }]]));
  }
  // A copy with nothing buffered.
  const [settled] = disk.afterPowerCut();
  return settled as SinkDisk;
}

async function eachFault(
  before: readonly Assignment[],
  next: Assignment,
  fault: string,
  check: (disk: SinkDisk, isDone: boolean, attempt: Attempt | undefined) => Promise<void>,
): Promise<ReadonlySet<string>> {
  const met = new Set<string>();
  for (let index = 0; index < 200; index += 1) {
    const disk = await diskWith(...before);
    const first = disk.operations.length;
    disk.fault = (at) => ((fault === 'cut' ? at >= first + index : at === first + index) ? fault : undefined);
    const attempt = await start(disk, next).catch(() => undefined);
    const isDone = disk.operations.length <= first + index;
    disk.fault = () => undefined;
    await check(disk, isDone, attempt);
    if (isDone) return met;
    met.add(disk.operations[first + index] as string);
  }
  throw new Error('it never came to an end');
}

describe('a power cut before any operation', () => {
  it.each([
    ['of the first write', [], one],
    ['of a later write', [one], two],
    ['of one after that', [one, two], three],
  ] as const)(
    '%s leaves the old content or the new one at the path, and the next start the new one',
    async (_what, before, next) => {
      const allowed = [before.at(-1), next].map((held) => (held === undefined ? undefined : contentOf(held)));
      const seen = new Set<string>();
      const met = await eachFault(before, next, 'cut', async (disk, isDone) => {
        for (const left of disk.afterPowerCut()) {
          const content = left.contentAt(sink.path);
          if (isDone) expect(content).toEqual(contentOf(next));
          else expect(allowed).toContainEqual(content);
          seen.add(JSON.stringify(content));
          const { fact } = await start(left, next);
          expect(fact).toMatchObject({ state: 'unreloaded', version: next.present });
          expect(left.contentAt(sink.path)).toEqual(contentOf(next));
          // Whatever happened, the program is told of the new content.
          expect(await isReloadDue(left)).toBe(true);
        }
      });
      expect(seen.size).toBe(2);
      for (const operation of ['make directory', 'create', 'write', 'sync', 'give', 'sync directory', 'rename']) {
        expect(met).toContain(operation);
      }
    },
    60_000,
  );

  it('is told apart from a writer that does not make its directory durable before it turns the link', async () => {
    const disk = await diskWith(one);
    const { syncDirectory } = disk;
    disk.syncDirectory = (path) => (path.startsWith('/etc') ? Promise.resolve() : syncDirectory(path));
    await start(disk, two);
    const left = disk.afterPowerCut().map((one) => one.contentAt(sink.path));
    expect(left).toContainEqual(contentOf(two));
    expect(left).toContainEqual(undefined);
  });
});

describe('an error at any operation', () => {
  it.each(['EIO', 'ENOSPC'])(
    '%s leaves the old content or the new one, says so, and the next try goes on',
    async (code) => {
      const allowed = [contentOf(one), contentOf(two)];
      await eachFault([one], two, code, async (disk, isDone, attempt) => {
        expect(allowed).toContainEqual(disk.contentAt(sink.path));
        for (const left of disk.afterPowerCut()) expect(allowed).toContainEqual(left.contentAt(sink.path));
        // Without its record it does not begin at all.
        if (attempt?.fact.state === 'unwritten') expect(attempt.fact.problem).toBeDefined();
        else if (attempt !== undefined) expect(disk.contentAt(sink.path)).toEqual(contentOf(two));
        if (isDone) return;
        const { fact } = await start(disk, two);
        expect(fact).toMatchObject({ state: 'unreloaded', version: 2 });
        expect(disk.contentAt(sink.path)).toEqual(contentOf(two));
        // Nothing is left over but what a reader may still be in.
        expect(
          (await disk.list('/etc')).filter((name) => name.startsWith('.web.rollcall-')).length,
        ).toBeLessThanOrEqual(3);
      });
    },
    60_000,
  );
});
