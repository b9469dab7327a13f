import { limits } from '@rollcall/core/limits';
import { expect, it } from 'vitest';
import { createTestHub } from './hub.fixture.ts';

it('the one cron job stays among the sources, however many names somebody else takes from one network', async () => {
  const { tokenHits } = await createTestHub();
  const note = (address: string, userAgent: string, atMs: number) =>
    tokenHits.note('fleet', 1, 'retiring', { address, userAgent, route: '/v1/whoami', host: null, atMs });
  note('192.0.2.7', 'cron', 1);
  for (let at = 1; at <= limits.oldHitSources + 20; at += 1) note(`2001:db8::${at}`, `curl/${at}`, 1 + at);
  const sources = tokenHits.sources('fleet', 1);
  expect(sources).toContainEqual(expect.objectContaining({ address: '192.0.2.7', userAgent: 'cron' }));
  // The control: there is no more room than before, and the newest stands first.
  expect(sources).toHaveLength(limits.oldHitSources);
  expect(sources[0]?.userAgent).toBe(`curl/${limits.oldHitSources + 20}`);
  // Many networks with one name each: the one that was silent for longest goes, as ever.
  for (let at = 0; at < limits.oldHitSources; at += 1) note(`10.0.0.${at}`, 'many', 1_000 + at);
  expect(tokenHits.sources('fleet', 1)).not.toContainEqual(expect.objectContaining({ userAgent: 'cron' }));
});
