/** A hub on SQLite, with the master of a fleet that is older than it. */
import { encodeHex } from '@rollcall/core/bytes';
import type { HubStatusAnswer } from '@rollcall/wire';
import type { Demo, RobbedDemo } from '../demo.ts';
import { startThief } from '../thief-process.ts';

const beat = '200ms';
/** A key must have been seen for so long before first use may take it: a day, where it is no demo. */
const firstUseMinAge = '500ms';
/** Nobody sent the old token for so long: then it may be dropped. A day, where it is no demo. */
export const quietWindow = '2s';

export async function begin(demo: Demo): Promise<RobbedDemo> {
  const { narrator, story, fleet, work, operator, hub } = demo;
  const { path: dir } = work;
  narrator.chapter('A hub, and the master that its fleet has always had');
  narrator.say('One command makes the hub: database, hub key, certificate authority.');
  const listen = hub.replace('https://', '');
  const made = await fleet.run(
    'hub-init',
    'hub',
    'init',
    '--dir',
    `${dir}/hub`,
    '--listen',
    listen,
    '--kek-file',
    `${dir}/kek`,
  );
  story.claim('The hub is made.', 'exit 0', made);

  fleet.start(
    'hub',
    ...['hub', 'start', '--dir', `${dir}/hub`, '--kek-file', `${dir}/kek`, '--beat', beat],
    ...['--first-use-min-age', firstUseMinAge, '--quiet-window', quietWindow, '--metrics', '127.0.0.1:0'],
  );
  const status = await story.until({
    what: `The hub listens on ${listen}, as process ${fleet.process('hub').pid}.`,
    read: () => operator.ask<HubStatusAnswer>('hub', 'status'),
    part: ({ fleetAddress }) => fleetAddress,
    expected: listen,
  });

  narrator.say('The older hosts share a master, made long ago by `openssl rand -hex 32`. It becomes generation 1.');
  work.write('master', `${encodeHex(demo.world.random(32))}\n`);
  await operator.type('secret', 'import', 'master', '--file', `${dir}/master`);
  // A copy left the house before anyone looked after it. Whoever has it is in this story from the start.
  work.write('copied-master', work.read('master'));
  const thief = await startThief({
    processes: demo.world.processes,
    clock: demo.world.io.clock,
    hub,
    masterFile: `${dir}/copied-master`,
    logFile: `${dir}/logs/thief.log`,
  });
  const { trustDomain, spki } = status.hubRoot;
  return { ...demo, thief, metricsAddress: status.metricsAddress, trustDomain, spki };
}
