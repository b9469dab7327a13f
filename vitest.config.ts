import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Tests read the packages' sources, so that a stale build can never pass (end-to-end tests run what was built). */
const resolve = { conditions: ['rollcall-source'] };

/** These measure time or rates, so none of ours runs beside them. The other end-to-end tests mostly wait, and do so two at a time. */
const alone = [
  'tests/e2e/agent-against-bad-hubs.test.ts',
  'tests/e2e/flood-of-bad-bearers.test.ts',
  'tests/e2e/one-hostile-host.test.ts',
  'tests/e2e/quiet-disk.test.ts',
  'tests/e2e/rotation-windows.test.ts',
  'tests/e2e/slow-senders.test.ts',
];

const e2e = { testTimeout: 120_000, hookTimeout: 60_000 } as const;
/** Vitest leaves one core to itself while it watches files; here it has nothing to do meanwhile. */
const everyCore = { maxWorkers: availableParallelism(), sequence: { groupOrder: 0 } } as const;
const twoAtATime = { maxWorkers: 2, sequence: { groupOrder: 1 } } as const;
const oneAtATime = { maxWorkers: 1, sequence: { groupOrder: 2 } } as const;

export default defineConfig({
  resolve,
  ssr: { resolve },
  test: {
    projects: [
      {
        extends: true,
        test: { name: 'unit', include: ['packages/*/src/**/*.test.ts'], testTimeout: 20_000, ...everyCore },
      },
      {
        extends: true,
        test: {
          name: 'repo',
          include: ['tests/repo/**/*.test.ts', 'tests/vectors/**/*.test.ts'],
          testTimeout: 60_000,
          ...everyCore,
        },
      },
      { extends: true, test: { name: 'sim', include: ['tests/sim/**/*.test.ts'], testTimeout: 900_000, ...everyCore } },
      {
        extends: true,
        test: { name: 'e2e', include: ['tests/e2e/**/*.test.ts'], exclude: alone, ...e2e, ...twoAtATime },
      },
      { extends: true, test: { name: 'e2e-alone', include: alone, ...e2e, ...oneAtATime } },
    ],
  },
});
