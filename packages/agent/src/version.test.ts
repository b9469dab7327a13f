import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { AGENT_VERSION } from './version.ts';

it('the version that an agent reports is that of its package', async () => {
  const manifest = await readFile(new URL('../package.json', import.meta.url), 'utf8');
  expect((JSON.parse(manifest) as { version: string }).version).toBe(AGENT_VERSION);
});
