/** The simulator, as it was built, over as many seeds as `npm test` has time for. By night: `npm run sim -- --seeds 5000`. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const SEEDS = 400;

it(`holds every invariant over ${SEEDS} seeds, replays exactly, and meets every fault`, () => {
  const main = join(import.meta.dirname, 'dist/main.js');
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, '--seeds', String(SEEDS)], {
    encoding: 'utf8',
  });
  expect(`${stdout}${stderr}`).toMatch(/ 0 failed\n$/);
  expect(status).toBe(0);
});
