/** `npm start`: a hub, a fleet and a thief, all of them real processes; and every word of it checked. */
import { createWorld, type World } from '../adapters/demo-world.ts';
import type { WorkDirectory } from '../adapters/work-directory.ts';
import { createStyle } from '../output/style.ts';
import { awakeOf, castOf, leastHosts } from './cast.ts';
import { begin } from './chapters/begin.ts';
import { count } from './chapters/count.ts';
import { converge, decide, retire } from './chapters/end.ts';
import { enrol } from './chapters/enrol.ts';
import { measureExposure, pin } from './chapters/first-use.ts';
import { rotate } from './chapters/rotate.ts';
import { countCalls, rotateToken } from './chapters/shared-token.ts';
import { rob } from './chapters/thief.ts';
import type { Count } from './counting.ts';
import type { Demo } from './demo.ts';
import { createFleet, lostProcess, stopAll } from './fleet.ts';
import { createNarrator } from './narration.ts';
import { createOperator } from './operator.ts';
import { readPace } from './pace.ts';
import { createStory, StoryEnded } from './story.ts';
import type { Thief } from './thief-process.ts';
import { tryNext } from './try-next.ts';

export interface DemoOptions {
  readonly once: boolean;
  /** One JSON document on standard output; the story goes to standard error. */
  readonly json: boolean;
  /** `false`: nobody wants it. */
  readonly color?: boolean;
  /** How many hosts run an agent. */
  readonly hosts?: number;
  /** Where everything is kept; a temporary directory that is removed when all is well, otherwise. */
  readonly dir?: string;
  readonly port?: number;
}

/** 0 when everything that was shown came true, 1 otherwise. */
export async function runDemo(options: DemoOptions): Promise<number> {
  const world = createWorld();
  const work = world.makeWorkDirectory(options.dir);
  let isTrue = false;
  // What went wrong is kept, to be looked at; a story that a person ended is not wrong.
  world.atExit(() => {
    if (work.isTemporary && (isTrue || world.interrupted.aborted)) work.remove();
  });
  for (const name of ['logs', 'hosts', 'tokens']) work.make(name);
  const stage = await setUp(options, world, work);
  const { demo } = stage;
  let counted: Count | undefined;
  try {
    counted = await tell(stage);
    if (!options.once) await stayUp(demo);
    isTrue = true;
  } catch (error) {
    explain(demo, error);
  } finally {
    if (options.json) writeReport(stage, isTrue, counted);
    await stopAll(demo.fleet);
    await stage.thief()?.process.stop();
  }
  return isTrue ? 0 : 1;
}

interface Stage {
  readonly demo: Demo;
  readonly startedMs: number;
  thief(): Thief | undefined;
  hire(thief: Thief): void;
}

async function setUp(options: DemoOptions, world: World, work: WorkDirectory): Promise<Stage> {
  const { io, processes } = world;
  const out = options.json ? io.stderr : io.stdout;
  const narrator = createNarrator((text) => out.write(text), createStyle(out, io.env, options));
  const fleet = createFleet({ processes, io, narrator, dir: work.path });
  let thief: Thief | undefined;
  const lost = () => lostProcess([...fleet.all.values(), ...(thief === undefined ? [] : [thief.process])]);
  const cast = castOf(options.hosts ?? leastHosts);
  const listen = new Map<string, string>();
  for (const host of cast.push) listen.set(host, `127.0.0.1:${await world.freePort()}`);
  const port = options.port === undefined || options.port === 0 ? await world.freePort() : options.port;
  const demo = {
    world,
    work,
    cast,
    listen,
    narrator,
    story: createStory({ narrator, clock: io.clock, interrupted: world.interrupted, lost }),
    operator: createOperator({ io, narrator, dir: work.path, operatorSocket: `${work.path}/hub/operator.sock` }),
    fleet,
    hub: `https://127.0.0.1:${port}`,
  };
  return {
    demo,
    startedMs: io.clock.monotonic(),
    thief: () => thief,
    hire: (hired) => {
      thief = hired;
    },
  };
}

async function tell({ demo, hire }: Stage): Promise<Count> {
  const { narrator, work, world } = demo;
  narrator.say('Rollcall: a fleet, a stolen master, and a rotation that nobody notices.');
  narrator.say(
    'Hub, agents and thief are real processes, and what is typed here is really run. Each "ok" was checked, and decides the exit code.',
  );
  narrator.command(['cd', work.path]);
  narrator.command(['export', 'ROLLCALL_HUB=unix:hub/operator.sock']);
  const robbed = await begin(demo);
  hire(robbed.thief);
  const recorded = await enrol(robbed);
  await measureExposure(robbed);
  await pin(robbed);
  const pace = await readPace({ fleet: demo.fleet, clock: world.io.clock, hosts: awakeOf(demo.cast) });
  await rotate(robbed);
  const stolenKey = await rob(robbed, recorded);
  await decide(robbed, stolenKey);
  await converge(robbed);
  await retire(robbed);
  const callers = await rotateToken(robbed);
  const counted = await count(robbed, pace);
  countCalls(robbed, callers);
  narrator.say(`All ${demo.story.claims.length} claims came true.`);
  return counted;
}

/** Until a person ends it. Throws when the hub, an agent or the thief ended before. */
async function stayUp(demo: Demo): Promise<void> {
  const { narrator, story, world } = demo;
  narrator.say('The fleet stays up until Ctrl-C. In another terminal, from this directory:');
  narrator.output(tryNext(demo));
  try {
    for (;;) await story.pause(WATCH_MS);
  } catch (error) {
    if (!world.interrupted.aborted) throw error;
  }
  narrator.say('Stopping the fleet.');
}

const WATCH_MS = 200;

function explain({ narrator, world, work }: Demo, error: unknown): void {
  if (world.interrupted.aborted) {
    narrator.say('Interrupted: the story was not told to its end.');
    return;
  }
  if (!(error instanceof StoryEnded)) narrator.say(`The demo could not go on: ${reasonOf(error)}`);
  narrator.output([`The logs are in ${work.path}/logs, beside all state.`]);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : 'no reason given';
}

function writeReport({ demo, startedMs }: Stage, isTrue: boolean, counted: Count | undefined): void {
  const { io } = demo.world;
  const report = {
    ok: isTrue,
    claims: demo.story.claims,
    beats: counted ?? null,
    seconds: Math.round((io.clock.monotonic() - startedMs) / 100) / 10,
    dir: demo.work.path,
  };
  io.stdout.write(`${JSON.stringify(report)}\n`);
}
