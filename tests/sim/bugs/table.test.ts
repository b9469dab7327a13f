/** The deliberate bugs stay applicable, and a sample of them bites. All of them by night: `node tests/sim/dist/teeth.js`. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { bugs } from './table.ts';

const sim = join(import.meta.dirname, '..');

it('there are twenty and more, each of a place that occurs once in the built code, and each says when it acts', () => {
  expect(bugs.length).toBeGreaterThanOrEqual(20);
  expect(new Set(bugs.map(({ name }) => name)).size).toBe(bugs.length);
  for (const { name, file, from, to } of bugs) {
    const text = readFileSync(join(sim, '../../packages', file), 'utf8');
    expect([name, text.split(from).length - 1, to.includes('BUG()')]).toEqual([name, 1, true]);
  }
});

it.each(['accept-latest-key', 'life-does-not-rise', 'pinned-is-proven', 'no-sync-of-the-directory', 'lost-promise'])(
  'catches %s within ten seeds',
  (name) => {
    const args = [join(sim, 'dist/teeth.js'), '--bug', name, '--seeds', '10', '--workers', '1'];
    const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect(`${stdout}${stderr}`).toContain('1 bugs, 0 missed');
  },
);
