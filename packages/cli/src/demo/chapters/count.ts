/** The last word: every beat of every agent, and what the hub says of it. */
import { agentsOf, awakeOf } from '../cast.ts';
import { addUp, type Count, disagreements, neverArrived, refusedOf, scrapeHeartbeats } from '../counting.ts';
import type { RobbedDemo } from '../demo.ts';
import { type Pace, readPace, slowest } from '../pace.ts';

/** A machine with better things to do beats later than it was asked to; one that does not beat is another matter. */
const LEAST_BEATS_A_SECOND = 2;

/** `from`: the pace of the hosts that stayed awake, read before the rotation. */
export async function count(demo: RobbedDemo, from: Pace): Promise<Count> {
  const { narrator, story, cast, fleet, world } = demo;
  narrator.chapter('The count');
  narrator.say('Each agent counted every beat, before any retry. So did the thief. The hub counted what arrived.');
  const to = await readPace({ fleet, clock: world.io.clock, hosts: awakeOf(cast) });
  const counted = await story.until({
    what: 'Hub, agents and thief agree on every result.',
    read: () => readBetweenBeats(demo),
    part: disagreements,
    expected: [],
  });
  showTable(demo, counted);

  const pace = slowest(from, to);
  const seconds = Math.round((to.atMs - from.atMs) / 1_000);
  story.claim(
    `The beat went on through all of it: ${pace.toFixed(1)} a second, for ${seconds} s, by the slowest agent that was awake.`,
    true,
    pace >= LEAST_BEATS_A_SECOND,
  );
  const { agents } = counted;
  const refused = refusedOf(agents);
  story.claim(
    `No valid request was refused: ${agents['ok'] ?? 0} of ${(agents['ok'] ?? 0) + refused} were taken.`,
    0,
    refused,
  );
  return counted;
}

function showTable({ narrator }: RobbedDemo, { hub, agents, thief }: Count): void {
  const found = new Set([...Object.keys(hub), ...Object.keys(agents), ...Object.keys(thief)]);
  const results = ['ok', 'refused', ...[...found].filter((result) => result !== 'ok' && result !== 'refused').sort()];
  const number = (beats: Readonly<Record<string, number>>, result: string) => String(beats[result] ?? 0);
  narrator.table(
    [
      { title: 'RESULT', elastic: 12 },
      { title: 'HUB SAW', align: 'right' },
      { title: 'AGENTS SENT', align: 'right' },
      { title: 'THIEF SENT', align: 'right' },
      { title: '', elastic: 20 },
    ],
    results.map((result) => {
      const saw = neverArrived.includes(result) ? '-' : number(hub, result);
      return { cells: [result, saw, number(agents, result), number(thief, result), notes[result] ?? ''] };
    }),
  );
}

const notes: Readonly<Record<string, string>> = {
  hub_untrusted: 'not sent: that was no hub',
  unreachable: 'cut off by that network',
};

/**
 * The agents go on beating, so what they counted is read between two equal readings of the hub: if it counted nothing in
 * between, and the sums agree, then they are of one moment.
 */
async function readBetweenBeats({ fleet, cast, thief, metricsAddress }: RobbedDemo): Promise<Count> {
  const before = await scrapeHeartbeats(metricsAddress);
  const statuses = await Promise.all(agentsOf(cast).map((host) => fleet.status(host)));
  const { beats } = await thief.act('report', {});
  const hub = await scrapeHeartbeats(metricsAddress);
  if (JSON.stringify(hub) !== JSON.stringify(before)) throw new Error('beats came while they were counted');
  return { hub, agents: addUp(statuses.map(({ heartbeats }) => heartbeats)), thief: beats };
}
