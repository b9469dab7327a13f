/** A shared token that the fleet has always had, and a program that nobody remembers: it is named before it is cut off. */
import { encodeHex } from '@rollcall/core/bytes';
import type { RotationStatus, SecretRow } from '@rollcall/wire';
import { type PresentAs, presentToken, type Verifier } from '../caller/present-token.ts';
import { type Caller, startCaller, sumOf } from '../caller-process.ts';
import type { RobbedDemo } from '../demo.ts';
import { linesFrom } from '../operator.ts';
import { readVerifiers, type Verifiers } from '../verifiers.ts';
import { quietWindow } from './begin.ts';

export interface Callers {
  readonly deploy: Caller;
  readonly cron: Caller;
}

/** An address of this machine that nothing else in the demo uses. */
const FORGOTTEN = '127.0.0.23';
const EVERY_MS = 250;
const ROLLED_WITHIN_MS = 30_000;

export async function rotateToken(demo: RobbedDemo): Promise<Callers> {
  const { narrator, work } = demo;
  narrator.chapter('The shared token: somebody forgotten still sends it');
  const old = encodeHex(demo.world.random(24));
  work.write('fleet-token', `${old}\n`);
  const at = await readVerifiers(demo);
  const callers = await carry(demo, at);
  await roll(demo);
  await findForgotten(demo);
  await repoint(demo);
  await assertDropped(demo, at, old);
  return callers;
}

/** The token is taken over as it is, and those who hold it go on. */
async function carry(demo: RobbedDemo, { ca, verifiers }: Verifiers): Promise<Callers> {
  const { narrator, story, work, operator, cast } = demo;
  const [first, last = ''] = cast.push;
  narrator.say(
    `The fleet also carries a shared token. ${first} and ${last} let in who sends it, and so does the hub. ${cast.keeper}, on the hub's own machine, keeps it in a file for a program named deploy.`,
  );
  const holders = [...cast.push, cast.keeper, 'caller:deploy'];
  const file = `${work.path}/fleet-token`;
  await operator.type('secret', 'import', 'fleet', '--file', file, '--holders', ...holders);
  // As in the fleet that it comes from: whoever calls is let in already.
  await story.until({
    what: `${nameAll(verifiers)} let in who sends it.`,
    read: () => askEach(verifiers, { token: work.read('fleet-token').trim(), ca, userAgent: 'demo' }),
    part: (statuses) => statuses,
    expected: verifiers.map(() => 200),
  });
  const deploy = startCall(demo, { ca, verifiers, name: 'deploy', address: '127.0.0.1', file: 'deploy/token/present' });
  await story.until({
    what: `deploy is let in by hub, ${cast.push.join(' and ')}, as process ${deploy.process.pid}.`,
    read: () => Promise.resolve(deploy.calls()),
    part: (calls) => verifiers.filter(({ name }) => (calls[name]?.['taken'] ?? 0) > 0).length,
    expected: verifiers.length,
  });
  narrator.say(`Long ago somebody copied the token into a cron job. It calls ${last}, and nobody remembers it.`);
  work.make('cron');
  work.write('cron/token', work.read('fleet-token'));
  const only = verifiers.filter(({ name }) => name === last);
  const cron = startCall(demo, { ca, verifiers: only, name: 'cron-job', address: FORGOTTEN, file: 'cron/token' });
  await story.until({
    what: `The cron job is let in too, as process ${cron.process.pid}.`,
    read: () => Promise.resolve(cron.calls()),
    part: (calls) => (calls[last]?.['taken'] ?? 0) > 0,
    expected: true,
  });
  return { deploy, cron };
}

async function roll({ narrator, story, operator, cast }: RobbedDemo): Promise<void> {
  narrator.say('The operator rotates it. Both versions are taken before anybody sends the new one.');
  await operator.type('rotation', 'start', 'fleet', '--auto');
  await story.until({
    what: `${[...cast.push, cast.keeper].join(', ')}: the hub has seen each send version 2.`,
    read: () => operator.ask<RotationStatus>('rotation', 'status', 'fleet'),
    part: ({ rotation, progress }) => [rotation.phase, progress.proven],
    expected: ['proving', cast.push.length + 1],
    withinMs: ROLLED_WITHIN_MS,
  });
}

async function findForgotten({ narrator, story, operator, cast }: RobbedDemo): Promise<void> {
  const [, host = ''] = cast.push;
  narrator.say(`It goes no further by itself while anybody sent the old one within ${quietWindow}:`);
  const { gate } = await story.until({
    what: `One name is left: ${host}.`,
    read: () => operator.ask<RotationStatus>('rotation', 'status', 'fleet'),
    part: ({ gate: { blockers } }) => blockers.map(({ member, missing }) => [member, missing]),
    expected: [[host, 'quiet_window']],
    withinMs: ROLLED_WITHIN_MS,
  });
  story.claim(
    `And who sends it there: ${FORGOTTEN}, which calls itself cron-job.`,
    [[FORGOTTEN, 'cron-job']],
    gate.blockers.map(({ hint }) => /was sent last from (\S+) \((\S+)\)/.exec(hint)?.slice(1)),
  );
  const refused = await operator.type('rotation', 'advance', 'fleet');
  narrator.output(linesFrom(refused.stdout, 'The gate'));
  const { rotation } = await operator.ask<RotationStatus>('rotation', 'status', 'fleet');
  story.claim('Refused with exit 3, and the old one is taken still.', [3, 'proving'], [refused.exit, rotation.phase]);
}

async function repoint({ narrator, story, work, operator }: RobbedDemo): Promise<void> {
  narrator.say('The cron job gets the file that is kept current, in place of its copy:');
  narrator.command(['ln', '-sf', '../deploy/token/present', 'cron/token']);
  work.link('../deploy/token/present', 'cron/token');
  await story.until({
    what: `Nobody sent the old one for ${quietWindow}: nothing is missing any more.`,
    read: () => operator.ask<RotationStatus>('rotation', 'status', 'fleet'),
    part: ({ gate }) => gate.open,
    expected: true,
    withinMs: ROLLED_WITHIN_MS,
  });
  const advanced = await operator.type('rotation', 'advance', 'fleet');
  story.claim('From here on there is no way back, so a person said it.', 0, advanced.exit);
  await story.until({
    what: 'Hub and hosts were asked: they refuse the old one. The rotation is done.',
    read: () => operator.ask<RotationStatus>('rotation', 'status', 'fleet'),
    part: ({ rotation }) => rotation.phase,
    expected: 'done',
    withinMs: ROLLED_WITHIN_MS,
  });
}

async function assertDropped(demo: RobbedDemo, { ca, verifiers }: Verifiers, old: string): Promise<void> {
  const { story, work, operator, narrator } = demo;
  narrator.say('The old value once more, from the address of the cron job; and the new one, as a control:');
  const ask = (token: string) => askEach(verifiers, { token, ca, localAddress: FORGOTTEN, userAgent: 'demo' });
  const names = nameAll(verifiers);
  story.claim(
    `${names}: ${verifiers.map(() => 401).join(', ')} for the old value.`,
    verifiers.map(() => 401),
    await ask(old),
  );
  story.claim(
    `${names}: ${verifiers.map(() => 200).join(', ')} for the new one.`,
    verifiers.map(() => 200),
    await ask(work.read('deploy/token/present')),
  );
  const { secrets } = await operator.ask<{ secrets: readonly SecretRow[] }>('secret', 'list');
  const states = secrets.find(({ name }) => name === 'fleet')?.versions.map(({ state }) => state);
  story.claim('The hub has destroyed version 1.', ['destroyed', 'current'], states);
}

function nameAll(verifiers: readonly Verifier[]): string {
  return verifiers.map(({ name }) => name).join(', ');
}

/** The status of each; 0 where nobody answered. */
async function askEach(verifiers: readonly Verifier[], as: PresentAs): Promise<readonly number[]> {
  const statuses: number[] = [];
  for (const verifier of verifiers) statuses.push(await presentToken(verifier, as).catch(() => 0));
  return statuses;
}

/** Every answer to deploy and to the cron job, counted where the question was asked. */
export function countCalls({ story }: RobbedDemo, { deploy, cron }: Callers): void {
  const [sent, forgotten] = [sumOf(deploy.calls()), sumOf(cron.calls())];
  story.claim(
    `Nor with the shared token: deploy ${sent.taken} of ${sent.answered}, the cron job ${forgotten.taken} of ${forgotten.answered}.`,
    [[], [], true],
    [sent.refused, forgotten.refused, sent.answered > 0 && forgotten.answered > 0],
  );
}

function startCall(
  { world, work, fleet }: RobbedDemo,
  caller: Verifiers & { readonly name: string; readonly address: string; readonly file: string },
): Caller {
  const { name, address, file, ...at } = caller;
  const task = { ...at, name, localAddress: address, everyMs: EVERY_MS, tokenFile: `${work.path}/${file}` };
  const started = startCaller(world.processes, task, `${work.path}/logs/${name}.log`);
  fleet.adopt(started.process);
  return started;
}
