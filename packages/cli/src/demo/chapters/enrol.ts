/** New hosts come with a token each; one that was invited does not come. */
import type { Envelope } from '@rollcall/core/seal';
import type { AddHostAnswer } from '@rollcall/wire';
import type { RobbedDemo } from '../demo.ts';
import { rowsOf } from '../fleet.ts';

/** Returns a delivery for the sleeper that the thief could record on its way. */
export async function enrol(demo: RobbedDemo): Promise<Envelope> {
  const { narrator, story, fleet, work, operator, cast, thief } = demo;
  const { path: dir } = work;
  narrator.chapter('Enrol: a token for each new host');
  narrator.say('A token says who the hub is, and lets one host in, once. Redeeming it pins the wrap key of the host.');
  for (const host of cast.enrolled) {
    const address = demo.listen.get(host);
    await issueToken(demo, host, ...(address === undefined ? [] : ['--reach', 'push', '--address', address]));
    fleet.start(
      host,
      ...['agent', 'start', '--state', `${dir}/hosts/${host}`, '--enrol', `${dir}/tokens/${host}`],
      ...(address === undefined ? [] : ['--listen', address]),
    );
  }
  narrator.say(`${cast.sleeper} is on a hotel network, and reaches the hub through it.`);
  await issueToken(demo, cast.sleeper);
  // It lets the enrolment pass, and delays what follows until the thief has asked for the same delivery.
  await thief.act('network', { mode: 'hold', letPass: 1 });
  fleet.start(
    cast.sleeper,
    ...['agent', 'start', '--state', `${dir}/hosts/${cast.sleeper}`, '--enrol', `${dir}/tokens/${cast.sleeper}`],
    ...['--hub', `https://127.0.0.1:${thief.networkPort}`],
  );
  const recorded = await record(demo);
  const hosts = [...cast.enrolled, cast.sleeper];
  await story.until({
    what: `${hosts.join(', ')}: pinned by enrolment, seen with generation 1.`,
    read: () => rowsOf(operator, hosts),
    part: (rows) => rows.map((row) => [row?.pin?.anchor, row?.proven['master']?.version]),
    expected: hosts.map(() => ['enrolment', 1]),
  });
  narrator.say(`${cast.invited} is invited too. Its token lies unused until the end.`);
  await issueToken(demo, cast.invited);
  return recorded;
}

async function issueToken({ operator, work }: RobbedDemo, host: string, ...reach: readonly string[]): Promise<void> {
  const words = ['host', 'add', host, ...reach];
  const shown = ['rollcall', ...words, '--json', '|', 'jq', '-r', '.token', '>', `tokens/${host}`];
  const { token } = await operator.typeForJson<AddHostAnswer>(shown, ...words);
  work.write(`tokens/${host}`, `${token}\n`);
}

async function record({ story, operator, cast, thief }: RobbedDemo): Promise<Envelope> {
  const host = cast.sleeper;
  await story.until({
    what: `${host} is enrolled`,
    read: () => rowsOf(operator, [host]),
    part: ([row]) => row?.status,
    expected: 'active',
    quiet: true,
  });
  const { status, deliveries } = await thief.act('beat', { host, publish: false });
  await thief.act('network', { mode: 'carry' });
  const [envelope] = deliveries;
  if (envelope === undefined) throw new Error(`there was nothing to record for ${host} (status ${status})`);
  return envelope;
}
