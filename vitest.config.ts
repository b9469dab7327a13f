import { defineConfig } from 'vitest/config';

/** Tests read the packages' sources, so that a stale build can never pass (end-to-end tests run what was built). */
const resolve = { conditions: ['rollcall-source'] };

export default defineConfig({
  resolve,
  ssr: { resolve },
  test: {
    projects: [
      { extends: true, test: { name: 'unit', include: ['packages/*/src/**/*.test.ts'], testTimeout: 20_000 } },
      {
        extends: true,
        test: { name: 'repo', include: ['tests/repo/**/*.test.ts', 'tests/vectors/**/*.test.ts'], testTimeout: 60_000 },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['tests/e2e/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 60_000,
          fileParallelism: false,
        },
      },
      {
        extends: true,
        test: { name: 'sim', include: ['tests/sim/**/*.test.ts'], testTimeout: 900_000, fileParallelism: false },
      },
    ],
  },
});
