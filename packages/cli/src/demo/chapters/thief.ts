/** What a thief of the old master tries while its window is open, and what comes of it. */
import type { Envelope } from '@rollcall/core/seal';
import type { PendingPin, ShowPinAnswer } from '@rollcall/wire';
import { unauthenticatedBody } from '@rollcall/wire';
import type { RobbedDemo } from '../demo.ts';
import { rowsOf } from '../fleet.ts';
import { flipped, handOver } from '../inbox.ts';
import { sleepingState } from './rotate.ts';

/** Returns the fingerprint of the key that the thief published. */
export async function rob(demo: RobbedDemo, recorded: Envelope): Promise<string> {
  const { narrator, cast } = demo;
  narrator.chapter('The thief: a process of its own, with the old master');
  narrator.say('Until its window closes, what the old master derives still verifies. What is that good for?');
  const published = await replacePin(demo);
  await pinSilent(demo);
  await beInvited(demo);
  const fresh = await readSealed(demo);
  await poseAsHub(demo, recorded);
  narrator.say(`The same through the inbox that ships, over a copy of what ${cast.sleeper} had on its disk:`);
  await useInbox(demo, recorded, fresh);
  return published;
}

async function replacePin({ narrator, story, operator, cast, thief, fleet }: RobbedDemo): Promise<string> {
  const [host = ''] = cast.enrolled;
  narrator.thief(`beats as ${host}, and publishes a key of its own.`);
  const beat = await thief.act('beat', { host, publish: true });
  const own = (await fleet.status(host)).fingerprint;
  story.claim(
    'The bearer is good, the pin stays: the key is pending.',
    ['pending', own],
    [beat.pin?.state, beat.pin?.fingerprint],
  );
  const seen = await story.until({
    what: `The hub saw two keys for ${host}, and two instances.`,
    read: () => operator.ask<{ pending: readonly PendingPin[] }>('pin', 'list'),
    part: ({ pending }) => pending.map((each) => [each.host, each.pinned, each.new, each.evidence.instancesAlternate]),
    expected: [[host, own, beat.published, true]],
  });
  const [pending] = seen.pending;
  narrator.output([`       pinned  ${pending?.pinned}`, `       new     ${pending?.new}`]);
  return beat.published ?? '';
}

async function pinSilent({ narrator, story, operator, cast, thief }: RobbedDemo): Promise<void> {
  const host = cast.silent;
  narrator.thief(`beats as ${host}, which never published, with the same key.`);
  const beat = await thief.act('beat', { host, publish: true });
  const { pin } = await operator.ask<ShowPinAnswer>('pin', 'show', host);
  story.claim(
    `No pin is taken: ${host} was exposed when first use was on.`,
    ['not_accepted', null],
    [beat.pin?.state, pin],
  );
}

async function beInvited({ narrator, story, operator, cast, thief }: RobbedDemo): Promise<void> {
  const host = cast.invited;
  narrator.thief(`beats as ${host}, which is invited; then as a host that is not on the roll.`);
  const [invited, unknown] = [
    await thief.act('beat', { host, publish: true }),
    await thief.act('beat', { host: 'no-such-host', publish: true }),
  ];
  const constant = [401, unauthenticatedBody];
  story.claim(
    'Both get the same 401, to the byte.',
    [constant, constant],
    [invited, unknown].map(({ status, refusal }) => [status, refusal]),
  );
  const [row] = await rowsOf(operator, [host]);
  story.claim(`${host} is invited still, and has no pin.`, ['invited', null], [row?.status, row?.pin]);
}

/** Returns the delivery of generation 2 that waits for the sleeper. */
async function readSealed({ narrator, story, operator, cast, thief }: RobbedDemo): Promise<Envelope> {
  const host = cast.sleeper;
  narrator.thief(`beats as ${host}, which sleeps, and gets what is sealed for it.`);
  const beat = await thief.act('beat', { host, publish: false });
  const [envelope] = beat.deliveries;
  const [asleep] = await rowsOf(operator, [host]);
  story.claim(
    'The hub answers with generation 2, sealed to the pin of that host.',
    [2, asleep?.pin?.fingerprint],
    [envelope?.present, envelope?.recipient],
  );
  if (envelope === undefined) throw new TypeError('demo: no envelope');
  const opened = await thief.act('open', { envelope });
  story.claim(
    'It does not open with the thief’s key. What is sealed to that key does.',
    { stolen: 'open_failed', own: 'opened' },
    opened,
  );
  narrator.thief(`beats as ${host} again, and says that it holds generation 2.`);
  await thief.act('beat', { host, publish: false });
  const [row] = await rowsOf(operator, [host]);
  story.claim('A claim is no proof: the hub has not seen it used.', 1, row?.proven['master']?.version);
  return envelope;
}

async function poseAsHub(demo: RobbedDemo, recorded: Envelope): Promise<void> {
  const { narrator, story, fleet, cast, thief, trustDomain } = demo;
  const host = cast.sleeper;
  narrator.thief(`owns the network of ${host}. It recorded a delivery there, and poses as the hub with it.`);
  await thief.act('impersonate', { envelope: recorded, trustDomain });
  const naive = await thief.act('callImpostor', {});
  story.claim('A client that trusts anyone is served that delivery.', { status: 200, deliveries: 1 }, naive);
  await thief.act('network', { mode: 'divert' });
  narrator.say(`${host} wakes up on that network:`);
  narrator.command(['kill', '-CONT', String(fleet.process(host).pid)]);
  fleet.process(host).signal('SIGCONT');
  await story.until({
    what: `${host} refuses that peer at TLS: hub_untrusted.`,
    read: () => fleet.status(host),
    part: ({ problems }) => problems.some(({ code }) => code === 'hub_untrusted'),
    expected: true,
  });
  const { impostor } = await thief.act('report', {});
  story.claim('Not one request of it reached the thief.', [true, 1], [impostor.connections > 1, impostor.requests]);
  await thief.act('network', { mode: 'carry' });
}

async function useInbox(demo: RobbedDemo, recorded: Envelope, fresh: Envelope): Promise<void> {
  const { story, work, world } = demo;
  const outcomes = await handOver({
    io: world.io,
    random: world.random,
    uid: world.uid,
    stateDirectory: `${work.path}/${sleepingState}`,
    envelopes: [flipped(fresh), fresh, recorded],
  });
  const [forged, good, replayed] = outcomes;
  story.claim(
    'Generation 2 with one bit changed is refused, and nothing is written.',
    { outcome: 'delivery_bad_signature', step: recorded.step },
    forged,
  );
  story.claim('Generation 2 as the hub sealed it is taken.', { outcome: 'taken', step: fresh.step }, good);
  story.claim(
    'The recorded delivery of generation 1 is refused as a replay.',
    { outcome: 'delivery_replayed', step: fresh.step },
    replayed,
  );
}
