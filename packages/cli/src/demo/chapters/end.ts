/** The operator's decision, the sleeper's return, and the end of the old master. */
import type { PendingPin, RotationStatus, ShowPinAnswer } from '@rollcall/wire';
import { agentsOf } from '../cast.ts';
import type { RobbedDemo } from '../demo.ts';
import { rowsOf } from '../fleet.ts';
import { linesFrom, linesOf, states } from '../operator.ts';

export async function decide(demo: RobbedDemo, stolenKey: string): Promise<void> {
  const { narrator, story, operator, cast, fleet } = demo;
  const [host = ''] = cast.enrolled;
  narrator.chapter('The operator decides');
  const shown = await operator.type('pin', 'list');
  narrator.output(linesOf(shown.stdout));
  const { fingerprint } = await fleet.status(host);
  narrator.command(['rollcall', 'agent', 'status', '--state', `hosts/${host}`]);
  narrator.output([`fingerprint  ${fingerprint}`]);
  narrator.say('The host shows the pinned key. The new one is not its own.');
  await operator.type('pin', 'reject', host, '--fingerprint', stolenKey);
  const { pending } = await operator.ask<{ pending: readonly PendingPin[] }>('pin', 'list');
  const { pin } = await operator.ask<ShowPinAnswer>('pin', 'show', host);
  story.claim(
    `The change is dropped. ${host} has the pin that it enrolled with.`,
    [[], fingerprint, 'enrolment'],
    [pending, pin?.fingerprint, pin?.anchor],
  );
}

export async function converge(demo: RobbedDemo): Promise<void> {
  const { narrator, story, operator, fleet, cast } = demo;
  narrator.chapter('Converge: the sleeper is back inside the window');
  narrator.say(`The hotel network carries ${cast.sleeper} to the true hub again. Its old bearer still verifies.`);
  const hosts = agentsOf(cast);
  await story.until({
    what: `${hosts.join(', ')}: all seen with generation 2.`,
    read: () => rowsOf(operator, hosts),
    part: (rows) => rows.map((row) => row?.proven['master']?.version),
    expected: hosts.map(() => 2),
    withinMs: 20_000,
  });
  const { problems, presents } = await fleet.status(cast.sleeper);
  story.claim(
    `${cast.sleeper} opened by itself what the thief could not, and has no complaint.`,
    [2, []],
    [presents?.version, problems],
  );
}

export async function retire(demo: RobbedDemo): Promise<void> {
  const { narrator, story, operator, cast, thief } = demo;
  narrator.chapter('Retire: the old master ends');
  const behind = [cast.silent, cast.invited].sort();
  const refused = await operator.type('rotation', 'retire', 'master', '--now', '--yes');
  narrator.output([...linesFrom(refused.stdout, 'The gate'), ...linesOf(refused.stderr)]);
  story.claim(
    'Refused with exit 3, and nothing is destroyed.',
    [3, 'previous'],
    [refused.exit, (await states(operator))[0]],
  );
  narrator.say(`${behind.join(' and ')} hold nothing of generation 2. The operator leaves them behind, by name:`);
  const retired = await operator.type('rotation', 'retire', 'master', '--now', '--leave', ...behind, '--yes');
  story.claim('Generation 1 is destroyed.', [0, 'destroyed'], [retired.exit, (await states(operator))[0]]);
  const status = await story.until({
    what: 'The rotation is done.',
    read: () => operator.ask<RotationStatus>('rotation', 'status', 'master'),
    part: ({ rotation }) => rotation.phase,
    expected: 'done',
  });
  story.claim('Who was left behind stays written there.', behind, [...status.rotation.left].sort());
  narrator.thief('tries the old master once more, as every host.');
  const hosts = [...agentsOf(cast), cast.silent, cast.invited];
  const answers = [];
  for (const host of hosts) answers.push((await thief.act('beat', { host, publish: true })).status);
  story.claim(
    `${hosts.length} times 401: it derives nothing any more.`,
    hosts.map(() => 401),
    answers,
  );
}
