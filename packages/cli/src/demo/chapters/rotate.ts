/** The master is known to be stolen: a new generation, while one host sleeps. */
import type { RotationStatus } from '@rollcall/wire';
import { awakeOf } from '../cast.ts';
import type { RobbedDemo } from '../demo.ts';
import { rowsOf } from '../fleet.ts';
import { linesFrom, states } from '../operator.ts';

/** Directory of the copy of the sleeper's state, from before it woke. */
export const sleepingState = 'sleeping-state';

export async function rotate(demo: RobbedDemo): Promise<void> {
  const { narrator, story, fleet, work, operator, cast } = demo;
  narrator.chapter('Rotate: the master is stolen');
  narrator.say(`${cast.sleeper} falls asleep: its process is stopped.`);
  narrator.command(['kill', '-STOP', String(fleet.process(cast.sleeper).pid)]);
  fleet.process(cast.sleeper).signal('SIGSTOP');
  // Whatever was on its way when it stopped has arrived, or waits in its socket.
  await story.pause(300);
  work.copyFiles(`hosts/${cast.sleeper}`, sleepingState);

  narrator.say('Someone finds a copy of the master where none should be. The operator starts the clock:');
  const started = await operator.type('rotation', 'start', 'master', '--reason', 'leak', '--narrow-by', '10m');
  narrator.output(linesFrom(started.stdout, 'What a thief'));
  story.claim(
    'Generation 2 is current; generation 1 verifies for ten minutes more, at most.',
    ['previous', 'current'],
    await states(operator),
  );
  const awake = awakeOf(cast);
  await story.until({
    what: `${awake.join(', ')}: the hub has seen each use generation 2.`,
    read: () => rowsOf(operator, awake),
    part: (rows) => rows.map((row) => row?.proven['master']?.version),
    expected: awake.map(() => 2),
  });
  await story.until({
    what: `Missing, by name: ${missing(demo).join(', ')}.`,
    read: () => operator.ask<RotationStatus>('rotation', 'status', 'master'),
    part: ({ gate }) => [...new Set(gate.blockers.map(({ member }) => member))].sort(),
    expected: missing(demo),
  });
}

function missing({ cast }: RobbedDemo): readonly string[] {
  return [cast.sleeper, cast.silent, cast.invited].sort();
}
