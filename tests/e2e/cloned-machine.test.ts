/** Two machines from one image: one state directory, one wrap key, beats in turn. Seen by their instances, and told with evidence. */
import { cpSync, renameSync } from 'node:fs';
import type { AuditRecord, HostRow } from '@rollcall/wire';
import { expect, it } from 'vitest';
import { readLog } from './harness/fleet.ts';
import { enrolRawHost } from './harness/raw-host.ts';
import { useFleet } from './harness/use-fleet.ts';
import { during } from './harness/wait-until.ts';

const fleet = useFleet();
const clones = async () =>
  (await fleet().ask<{ records: AuditRecord[] }>('GET', '/v1/audit?action=host.cloned&limit=500')).records;

it('a copied state directory is a clone: one alert, and nothing of the registry flaps', async () => {
  const alone = await fleet().enrolAgent('agent-2');
  const original = await fleet().enrolAgent('agent-1');
  await original.kill('SIGKILL');
  cpSync(fleet().stateOf('agent-1'), fleet().stateOf('copy'), {
    recursive: true,
    filter: (path) => !/sock$|lock-/.test(path),
  });
  const restarted = fleet().startAgent('agent-1');
  const copy = fleet().startAgent('copy');

  const [record] = await fleet().waitUntil('it is told', async () => {
    const found = await clones();
    return found.length > 0 && found;
  });
  expect(record).toMatchObject({ target: 'agent-1', outcome: 'refused' });
  expect(record?.details).toMatchObject({ instance: expect.any(String), addressNow: '127.0.0.1' });
  expect(await fleet().host('agent-1')).toMatchObject({ flags: ['cloned'] });

  // Both go on to be answered, for either may be the true one; what the registry says of the host stays with one of them.
  const settled = steady(await fleet().host('agent-1'));
  await during(3_000, async () => expect(steady(await fleet().host('agent-1'))).toEqual(settled), 100);
  for (const agent of [restarted, copy]) {
    expect(agent.hasEnded()).toBe(false);
    expect(readLog(agent).filter((line) => line['code'] === 'unauthenticated')).toEqual([]);
  }
  expect(await clones()).toHaveLength(1);

  // The controls: an agent alone is none, also when it is started again, and again.
  await alone.kill('SIGKILL');
  for (let start = 0; start < 3; start += 1) await fleet().startAgent('agent-2').kill('SIGTERM');
  fleet().startAgent('agent-2');
  await fleet().waitUntil('agent-2 is heard', async () => (await fleet().host('agent-2')).fresh);
  expect(await fleet().host('agent-2')).toMatchObject({ flags: [] });
  const host = await enrolRawHost(fleet(), 'web-1');
  for (let start = 0; start < 5; start += 1) {
    host.restart();
    await host.beat();
  }
  expect(await clones()).toHaveLength(1);
});

it('a state directory that was only moved is none', async () => {
  const agent = await fleet().enrolAgent('agent-3');
  await agent.kill('SIGTERM');
  renameSync(fleet().stateOf('agent-3'), fleet().stateOf('moved'));
  fleet().startAgent('moved');
  const before = await fleet().host('agent-3');
  await fleet().waitUntil('it is heard', async () => (await fleet().host('agent-3')).lastSeenAt !== before.lastSeenAt);
  expect(await fleet().host('agent-3')).toMatchObject({ flags: [], pending: false, pin: before.pin });
});

function steady({ lastSeenAt: _at, skewMs: _skew, ...row }: HostRow) {
  return row;
}
