/** Hosts of the older fleet: how exposed they are, a pin for those that are not, and a person's word for each pin. */
import type { AgentStatusAnswer, ExposureAnswer, PinChangeAnswer } from '@rollcall/wire';
import type { RobbedDemo } from '../demo.ts';
import { rowsOf } from '../fleet.ts';
import { linesOf } from '../operator.ts';

export async function measureExposure(demo: RobbedDemo): Promise<void> {
  const { narrator, story, fleet, work, operator, cast, hub } = demo;
  const { path: dir } = work;
  narrator.chapter('Exposure: who could be pinned by a thief?');
  narrator.say('Older hosts derive their keys from the master already. They are active at once, and have no pin.');
  for (const host of [...cast.older, cast.silent]) await operator.type('host', 'add', host, '--existing');
  work.make('deploy');
  work.write(`${cast.keeper}.yaml`, sinksOf(dir));
  for (const host of cast.older) {
    fleet.start(
      host,
      ...['agent', 'start', '--state', `${dir}/hosts/${host}`, '--hub', hub, '--host', host],
      ...['--hub-root-file', `${dir}/hub/hub-root.json`, '--master-file', `${dir}/master`],
      ...(host === cast.keeper ? ['--config', `${dir}/${host}.yaml`] : []),
    );
  }
  narrator.say(`${cast.silent} runs no agent: nobody ever saw its key.`);
  await story.until({
    what: `${cast.older.join(' and ')} publish one key each, and are eligible.`,
    read: () => operator.ask<ExposureAnswer>('pin', 'exposure'),
    part: ({ eligible }) => eligible.map(({ id }) => id).sort(),
    expected: [...cast.older],
  });
  const shown = await operator.type('pin', 'exposure');
  narrator.output(linesOf(shown.stdout));
  const { hosts } = await operator.ask<ExposureAnswer>('pin', 'exposure');
  story.claim(
    `${cast.silent} and ${cast.invited} are exposed, and named.`,
    [`${cast.silent} never_seen`, `${cast.invited} invited`].sort(),
    hosts.map(({ id, why }) => `${id} ${why}`).sort(),
  );
  const refused = await operator.type('pin', 'accept-first-use', 'on', '--until', '10m', '--exposed', '0');
  const { firstUse } = await operator.ask<ExposureAnswer>('pin', 'exposure');
  story.claim(
    'First use stays off for an operator who has not read that number.',
    [3, null],
    [refused.exit, firstUse.until],
  );
}

export async function pin(demo: RobbedDemo): Promise<void> {
  const { narrator, story, fleet, operator, cast } = demo;
  narrator.chapter('Pin: first use, then a person confirms');
  await operator.type('pin', 'accept-first-use', 'on', '--until', '10m', '--exposed', '2');
  await story.until({
    what: `${cast.older.join(' and ')} are pinned, anchor first-use. Nobody else.`,
    read: () => rowsOf(operator, [...cast.older, cast.silent, cast.invited]),
    part: (rows) => rows.map((row) => row?.pin?.anchor ?? 'no pin'),
    expected: [...cast.older.map(() => 'first-use'), 'no pin', 'no pin'],
  });
  await operator.type('pin', 'accept-first-use', 'off');
  narrator.say('The fingerprint comes from the host itself, not from the hub:');
  for (const host of cast.older) {
    const { fingerprint } = await fleet.status(host);
    narrator.command(['rollcall', 'agent', 'status', '--state', `hosts/${host}`]);
    narrator.output([`fingerprint  ${fingerprint}`]);
    const confirmed = await operator.typeForJson<PinChangeAnswer>(
      ['rollcall', 'pin', 'confirm', host, '--fingerprint', fingerprint],
      ...['pin', 'confirm', host, '--fingerprint', fingerprint],
    );
    story.claim(`${host} is confirmed: its anchor is operator.`, 'operator', confirmed.pin?.anchor);
  }
  await story.until({
    what: `${cast.older.join(' and ')} hold their own keys now, sealed to their pins.`,
    read: () => Promise.all(cast.older.map((host) => fleet.status(host))),
    part: (statuses) => statuses.map(presents),
    expected: cast.older.map(() => 1),
  });
}

/** The version that an agent was told to present; an agent with a master file alone knows none. */
function presents({ presents: presented }: AgentStatusAnswer): number | null {
  return presented?.version ?? null;
}

/** What the shared token is kept in, once there is one. */
function sinksOf(dir: string): string {
  return `sinks:\n  - name: deploy\n    path: ${JSON.stringify(`${dir}/deploy/token`)}\n    secret: fleet\n`;
}
