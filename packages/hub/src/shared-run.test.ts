import { expect, it } from 'vitest';
import { createSharedRun } from './shared-run.ts';

/** A task whose runs end when the test says so. */
function createTask() {
  const ends: ((error?: Error) => void)[] = [];
  const shared = createSharedRun(
    () =>
      new Promise<number>((resolve, reject) => {
        const run = ends.length + 1;
        ends.push((error) => (error === undefined ? resolve(run) : reject(error)));
      }),
  );
  return { ends, shared };
}

it('begins at once for who comes first; all who come meanwhile share the next one, which begins after they came', async () => {
  const { ends, shared } = createTask();
  const first = shared();
  expect(ends).toHaveLength(1);
  const later = Array.from({ length: 1_000 }, () => shared());
  expect(ends).toHaveLength(1);
  ends[0]?.();
  expect(await first).toBe(1);
  await new Promise(setImmediate);
  expect(ends).toHaveLength(2);
  ends[1]?.();
  expect(new Set(await Promise.all(later))).toEqual(new Set([2]));
});

it('begins anew for who comes after it has ended', async () => {
  const { ends, shared } = createTask();
  for (const run of [1, 2, 3]) {
    const asked = shared();
    ends.at(-1)?.();
    expect(await asked).toBe(run);
  }
});

it('fails for those who shared it, and for nobody else', async () => {
  const { ends, shared } = createTask();
  const first = shared();
  const second = shared();
  ends[0]?.(new Error('away'));
  await expect(first).rejects.toThrow('away');
  await new Promise(setImmediate);
  ends[1]?.();
  expect(await second).toBe(2);
});
