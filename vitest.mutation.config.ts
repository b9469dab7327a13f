import { defineConfig } from 'vitest/config';

/** The unit tests of one folder of core, for Stryker. */
export default defineConfig({
  test: { include: [`packages/core/src/${process.env['ROLLCALL_MUTATE'] ?? '*'}/**/*.test.ts`], testTimeout: 60_000 },
});
