/** What breaks: processes, power, links, disks, clocks, the store. One fault at a time, at any await of anybody. */
import type { AgentMachine } from '../machines/agent-machine.ts';
import { Disk, type DiskOperation } from '../machines/disk.ts';
import type { World } from '../world.ts';
import { storeErrors } from './operator.ts';
import { repair } from './tamper.ts';

interface Fault {
  readonly name: string;
  readonly weight: number;
  readonly strike: (world: World) => void;
}

const LONGEST_ABSENCE_MS = 240_000;

export function strike(world: World): void {
  const fault = world.dice.weigh(faults, ({ weight }) => weight);
  if (fault === undefined) return;
  world.tell(`fault: ${fault.name}`);
  world.sometimes.note(`fault: ${fault.name}`);
  fault.strike(world);
}

/** Faults stop: everything works again, and everyone who is at home comes up. */
export function heal(world: World): void {
  world.isCalm = true;
  world.broken.store = undefined;
  world.storeDownSinceMs = undefined;
  world.broken.fullDisks.clear();
  world.broken.badDisks.clear();
  world.network.mend();
  world.network.impostors.clear();
  repair(world);
  world.hub.start();
  for (const machine of world.agents.values()) {
    if (machine.name !== machine.host) machine.crash();
    else machine.start();
  }
}

/** As systemd does with a service that ended. */
export function supervise(world: World): void {
  for (const machine of world.agents.values()) {
    if (!machine.isUp && !machine.isGone && machine.name === machine.host) machine.start();
  }
  if (!world.isHubHeldDown || world.isCalm) world.hub.start();
}

const troubles: readonly { readonly chance: number; readonly only?: DiskOperation }[] = [
  { chance: 0.1 },
  { chance: 0.5 },
  { chance: 0.7, only: 'sync' },
  { chance: 0.7, only: 'rename' },
  { chance: 0.7, only: 'syncDirectory' },
];

const anyMachine = (world: World): AgentMachine => world.dice.pick([...world.agents.values()]);

/** Does `begin`, and some time later `end`, unless all faults have been mended before. */
function forAWhile(world: World, longestMs: number, begin: () => void, end: () => void): void {
  begin();
  world.scheduler.after(world.dice.between(1_000, longestMs), 'a fault ends', () => {
    if (!world.isCalm) end();
  });
}

const faults: readonly Fault[] = [
  {
    name: 'the hub is killed',
    weight: 3,
    strike: (world) => {
      world.hub.crash();
      forAWhile(
        world,
        20_000,
        () => {
          world.isHubHeldDown = true;
        },
        () => {
          world.isHubHeldDown = false;
          world.hub.start();
        },
      );
    },
  },
  { name: 'an agent is killed', weight: 3, strike: (world) => anyMachine(world).crash() },
  { name: 'the power of a host is cut', weight: 3, strike: (world) => anyMachine(world).cutPower() },
  {
    name: 'a host vanishes',
    weight: 1,
    strike: (world) => {
      const machine = anyMachine(world);
      forAWhile(
        world,
        LONGEST_ABSENCE_MS,
        () => {
          machine.isGone = true;
          machine.crash();
        },
        () => {
          machine.isGone = false;
        },
      );
    },
  },
  {
    name: 'a link is cut',
    weight: 3,
    strike: (world) => {
      const { name } = anyMachine(world);
      const ways = world.dice.pick([['out'], ['in'], ['out', 'in']] as const);
      forAWhile(
        world,
        90_000,
        () => {
          for (const way of ways) world.network.cut(name, way);
        },
        () => world.network.mend(name),
      );
    },
  },
  {
    name: 'a disk is full',
    weight: 2,
    strike: (world) => {
      const { name } = anyMachine(world);
      const { fullDisks } = world.broken;
      forAWhile(
        world,
        90_000,
        () => fullDisks.add(name),
        () => fullDisks.delete(name),
      );
    },
  },
  {
    name: 'a disk fails now and then',
    weight: 3,
    strike: (world) => {
      const machine = anyMachine(world);
      const { badDisks } = world.broken;
      // A disk that goes bad is seen at a start as often as at a write.
      if (world.dice.chance(0.5)) machine.crash();
      forAWhile(
        world,
        60_000,
        () => badDisks.set(machine.name, world.dice.pick(troubles)),
        () => badDisks.delete(machine.name),
      );
    },
  },
  {
    name: 'a slot is damaged',
    weight: 0.5,
    strike: (world) => {
      const machine = anyMachine(world);
      const names = [...machine.disk.contents().keys()];
      machine.crash();
      if (names.length > 0) machine.disk.damage(world.dice.pick(names), world.dice);
      machine.lineage = {};
      world.ledger.tainted.add(machine.host);
    },
  },
  {
    name: 'the wall clock of a host is set',
    weight: 1,
    strike: (world) => anyMachine(world).clock.step(world.dice.between(-7_200_000, 7_200_000)),
  },
  {
    name: 'the wall clock of the hub is set back',
    weight: 1,
    strike: (world) => world.hub.clock.step(-world.dice.below(7_200_000)),
  },
  {
    name: 'the wall clock of the hub is set forward',
    weight: 0.5,
    strike: (world) => {
      const byMs = world.dice.chance(0.3) ? world.dice.below(3_600_000) : world.dice.below(60_000);
      world.tokens?.ledger.hubJumps.push({ atMs: world.scheduler.nowMs, byMs });
      world.hub.clock.step(byMs);
    },
  },
  {
    name: 'a clock drifts',
    weight: 1,
    strike: (world) => anyMachine(world).clock.drift(1 + (world.dice.next() - 0.5) / 50),
  },
  {
    name: 'the store answers nothing',
    weight: 1,
    strike: (world) => {
      if (world.storeDownSinceMs !== undefined) return;
      forAWhile(
        world,
        60_000,
        () => {
          world.broken.store = world.dice.pick(storeErrors);
          world.storeDownSinceMs = world.scheduler.nowMs;
        },
        () => {
          world.broken.store = undefined;
          world.storeDownSinceMs = undefined;
        },
      );
    },
  },
  {
    name: 'a backup of the hub is taken',
    weight: 0.5,
    strike: (world) => {
      if (!world.hub.sqlite.inTransaction) world.backup = Uint8Array.from(world.hub.sqlite.serialize());
    },
  },
  {
    name: 'the hub is restored from a backup',
    weight: 0.3,
    strike: (world) => {
      if (world.backup === undefined) return;
      // What `hub restore` does beside this is not built: who stands where this hub never was is bound to nothing.
      for (const { host } of world.agents.values()) world.ledger.tainted.add(host);
      world.restore(world.backup);
      world.hub.start();
    },
  },
  {
    name: 'a host is cloned',
    weight: 0.5,
    strike: (world) => {
      const original = anyMachine(world);
      const name = `${original.host}~clone`;
      if (original.name !== original.host || world.agents.has(name) || original.disk.isEmpty) return;
      world.ledger.tainted.add(original.host);
      world.addMachine(name, original.host, new Disk(original.disk.contents())).start();
    },
  },
  {
    name: 'a host goes back to an earlier disk',
    weight: 0.5,
    strike: (world) => {
      const machine = anyMachine(world);
      const earlier = world.keptDisks.get(machine.name);
      world.keptDisks.set(machine.name, machine.disk.contents());
      if (earlier === undefined || earlier.size === 0) return;
      world.ledger.tainted.add(machine.host);
      machine.replaceDisk(new Disk(earlier));
    },
  },
];
