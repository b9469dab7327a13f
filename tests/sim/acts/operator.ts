/** Operators: they do the next plausible thing, or it twice, or two at once, or the wrong one. What the hub refuses is not done. */
import { isRollcallError } from '@rollcall/core/errors';
import { SecretBytes } from '@rollcall/core/keys';
import {
  type Actor,
  acceptFirstUse,
  acceptTime,
  addHost,
  advanceRotation,
  approvePin,
  confirmPin,
  cutRotation,
  evictHost,
  type Hub,
  leaveRotation,
  pauseRotation,
  reenrolHost,
  rejectPin,
  removeHost,
  resumeHost,
  resumeRotation,
  retireRotation,
  showExposure,
  startRotation,
  suspendHost,
  unbanHost,
} from '@rollcall/hub/parts';
import { Violation } from '../engine/scheduler.ts';
import type { AgentMachine } from '../machines/agent-machine.ts';
import type { HostRow, RotationRow } from '../machines/store-snapshot.ts';
import type { World } from '../world.ts';
import { stealToken } from './thief.ts';

export const operator: Actor = { id: 'ada', kind: 'operator', rung: 'unix-socket', verified: false };

/** The one act after which time may be earlier than before. */
export const ACCEPT_TIME = 'hub accept-time';

const MOST_HOSTS = 5;

export interface Act {
  readonly name: string;
  /** How plausible it is now; 0: it is not. */
  readonly weight: (world: World) => number;
  readonly perform: (world: World, hub: Hub) => Promise<unknown>;
}

/** One act, and sometimes the same one twice at once. */
export function actAsOperator(world: World): void {
  const act = world.dice.weigh(acts, ({ weight }) => weight(world));
  if (act === undefined) return;
  const times = world.dice.chance(0.15) ? 2 : 1;
  if (times === 2) world.sometimes.note('two operators acted at once');
  for (let time = 0; time < times; time += 1) perform(world, act);
}

export function perform(world: World, { name, perform: act }: Act): void {
  world.hub.act(`operator: ${name}`, async (hub) => {
    try {
      await act(world, hub);
      world.tell(`operator: ${name}`);
      world.sometimes.note(`operator: ${name}`);
    } catch (error) {
      if (isStoreError(error)) return;
      if (!isRollcallError(error)) throw new Violation('operator', `${name}: ${String((error as Error).stack)}`);
      // A calm operator asks again and again.
      if (!world.isCalm) world.tell(`operator: ${name}: refused, ${error.code}`);
      world.sometimes.note(`operator was refused: ${error.code}`);
    }
  });
}

export const storeErrors = ['SQLITE_IOERR', 'SQLITE_FULL', 'SQLITE_BUSY'] as const;
const STORE_ERRORS: ReadonlySet<string> = new Set(storeErrors);

/** What a broken store says comes through as it is. */
function isStoreError(error: unknown): boolean {
  return STORE_ERRORS.has(String((error as { readonly code?: unknown }).code));
}

export const hostsIn = (world: World, ...states: readonly HostRow['status'][]) =>
  [...world.snapshot.hosts.values()].filter(({ status }) => states.includes(status)).map(({ id }) => id);

const banned = ({ snapshot }: World) =>
  [...snapshot.hosts.values()].filter(({ banned: isBanned }) => isBanned === 1).map(({ id }) => id);

export const onRoll = (world: World) => hostsIn(world, 'invited', 'active', 'suspended', 'evicted');

const running = ({ snapshot }: World): RotationRow | undefined =>
  snapshot.rotations.find(({ phase }) => phase !== 'done' && phase !== 'rolled_back');

export const if_ = (condition: boolean, weight: number) => (condition ? weight : 0);

const acts: readonly Act[] = [
  // Hosts
  {
    name: 'host add',
    weight: (world) => if_(onRoll(world).length < MOST_HOSTS, 1),
    perform: (world, hub) => addNew(world, hub, newName(world)),
  },
  {
    name: 'host reenrol',
    weight: (world) => 0.5 + hostsIn(world, 'evicted').length + 2 * hostsIn(world, 'invited').length,
    perform: async (world, hub) => {
      const host = world.dice.pick([...onRoll(world), 'agent-404']);
      giveToken(world, host, (await reenrolHost(hub, host, undefined, operator)).token);
    },
  },
  {
    name: 'host suspend',
    weight: (world) => if_(hostsIn(world, 'active').length > 1, 0.4),
    perform: (world, hub) => suspendHost(hub, world.dice.pick(onRoll(world)), operator),
  },
  {
    name: 'host resume',
    weight: (world) => 3 * hostsIn(world, 'suspended').length,
    perform: (world, hub) => resumeHost(hub, world.dice.pick(onRoll(world)), operator),
  },
  {
    name: 'host evict',
    weight: (world) => if_(hostsIn(world, 'active').length > 1, 0.25),
    perform: (world, hub) => evictHost(hub, world.dice.pick(onRoll(world)), world.dice.chance(0.6), operator),
  },
  {
    name: 'host unban',
    weight: (world) => 0.2 * hostsIn(world, 'evicted').length + 10 * banned(world).length,
    perform: (world, hub) => {
      const some = banned(world);
      return unbanHost(hub, world.dice.pick(some.length > 0 ? some : hostsIn(world, 'evicted')), operator);
    },
  },
  {
    name: 'host remove',
    weight: (world) => if_(onRoll(world).length > 2, 0.2),
    perform: (world, hub) => removeHost(hub, world.dice.pick(onRoll(world)), operator),
  },
  // The hub
  {
    name: ACCEPT_TIME,
    // Not the first thing that anybody thinks of.
    weight: ({ hub: { hub } }) => (hub?.clock.read().jumped === true ? 1 : 0.1),
    perform: (_world, hub) => acceptTime(hub, operator),
  },
  // Pins
  {
    name: 'pin approve',
    weight: (world) => 0.4 + if_(unpinned(world).length > 0, 2),
    perform: async (world, hub) => {
      const host = world.dice.pick([...onRoll(world), ...unpinned(world), ...unpinned(world)]);
      const fingerprint = fingerprintToSay(world, host);
      world.ledger.approvals.add(`${host} ${fingerprint}`);
      return approvePin(hub, host, fingerprint, operator);
    },
  },
  {
    name: 'pin confirm',
    weight: () => 0.2,
    perform: (world, hub) => {
      const host = world.dice.pick(onRoll(world));
      return confirmPin(hub, host, fingerprintToSay(world, host), operator);
    },
  },
  {
    name: 'pin reject',
    weight: () => 0.2,
    perform: (world, hub) => {
      const host = world.dice.pick(onRoll(world));
      return rejectPin(hub, host, fingerprintToSay(world, host), operator);
    },
  },
  {
    name: 'pin accept-first-use',
    weight: (world) => if_(world.knobs.olderFleet, 2),
    perform: async (world, hub) => {
      if (world.dice.chance(0.2)) return acceptFirstUse(hub, { on: false }, operator);
      const { exposed } = await showExposure(hub);
      const until = new Date(hub.clock.now() + world.dice.between(30_000, 600_000)).toISOString();
      const counted = world.dice.chance(0.9) ? exposed : exposed + 1;
      return acceptFirstUse(hub, { on: true, exposed: counted, until }, operator);
    },
  },
  // Rotations
  {
    name: 'rotation start',
    weight: (world) => if_(running(world) === undefined, 4) + 0.3,
    perform: async (world, hub) => {
      const reason = world.dice.chance(0.3) ? 'leak' : 'planned';
      const leave = world.dice.chance(0.5) ? unpinned(world) : [];
      const narrowByMs = reason === 'leak' && world.dice.chance(0.5) ? hub.clock.now() + world.knobs.beatMs * 4 : null;
      return startRotation(hub, { secret: 'master', reason, leave, narrowByMs }, operator);
    },
  },
  {
    name: 'rotation advance',
    weight: (world) => if_(running(world) !== undefined, 0.5),
    perform: (world, hub) =>
      advanceRotation(hub, 'master', world.dice.pick([undefined, 'rolling', 'proving']), operator),
  },
  {
    name: 'rotation pause',
    weight: (world) => if_(running(world) !== undefined, 0.2),
    perform: (_world, hub) => pauseRotation(hub, 'master', 'to look at it', operator),
  },
  {
    name: 'rotation resume',
    weight: (world) => if_(typeof running(world)?.paused_because === 'string', 5),
    perform: (_world, hub) => resumeRotation(hub, 'master', operator),
  },
  {
    name: 'rotation leave',
    weight: (world) => if_(running(world) !== undefined, 0.3),
    perform: (world, hub) =>
      leaveRotation(hub, 'master', { leave: [world.dice.pick(onRoll(world))], reason: 'it is in repair' }, operator),
  },
  {
    name: 'rotation cut',
    weight: (world) => if_(running(world) !== undefined, 0.6),
    perform: (world, hub) => {
      const untilMs = hub.clock.now() + world.dice.between(-1_000, 1.5 * world.knobs.verifyWindowMs);
      return cutRotation(hub, 'master', { untilMs, leave: world.dice.chance(0.3) ? onRoll(world) : [] }, operator);
    },
  },
  {
    name: 'rotation retire',
    weight: (world) => if_(world.snapshot.rotations.length > 0, 1),
    perform: (world, hub) => {
      const leave = world.dice.chance(0.2) ? unproven(world) : [];
      return retireRotation(hub, 'master', { now: world.dice.chance(0.7), leave }, operator);
    },
  },
];

/** Puts a host on the roll and, unless it is of an older fleet, brings its token to a new machine. */
export async function addNew(world: World, hub: Hub, host: string, existing = false): Promise<void> {
  const reach = world.tokens?.reachOf(host);
  const { token } = await addHost(hub, { host, ...(existing ? { existing } : {}), ...reach }, operator);
  const machine = world.agents.get(host) ?? world.addMachine(host, host);
  if (existing) {
    const master = [...world.ledger.masters.values()].at(-1)?.bytes as Uint8Array;
    machine.fleet = { host, hubRoot: world.founded.hubTrust, master: new SecretBytes('master', master), life: 1 };
    machine.start();
  }
  giveToken(world, host, token);
}

/** The operator puts the token on the host, and restarts its agent. Now and then somebody reads it on the way. */
function giveToken(world: World, host: string, text: string | undefined): void {
  if (text === undefined) return;
  world.ledger.tokens.push({ text, host });
  stealToken(world, host, text);
  const machine = world.agents.get(host);
  if (machine === undefined) return;
  machine.tokenText = text;
  machine.crash();
  if (!machine.isGone) machine.start();
}

/** A name that is new, or one that left the roll, or one that differs in case only. */
function newName(world: World): string {
  const removed = hostsIn(world, 'removed');
  if (removed.length > 0 && world.dice.chance(0.5)) return world.dice.pick(removed);
  if (world.dice.chance(0.1)) return 'AGENT-1';
  return `agent-${world.snapshot.hosts.size + 1}`;
}

export function unpinned(world: World): readonly string[] {
  return onRoll(world).filter((host) => !world.snapshot.pins.has(host));
}

function unproven(world: World): readonly string[] {
  const current = Math.max(...world.snapshot.generations.keys());
  return onRoll(world).filter((host) => (world.snapshot.hosts.get(host)?.proven_version ?? 0) < current);
}

/** What was read on the host itself; or, wrongly, something else. */
function fingerprintToSay(world: World, host: string): string {
  const machine: AgentMachine | undefined = world.agents.get(host);
  const read = machine?.state?.durable.wrapKeys[0]?.public.fingerprint;
  if (read !== undefined && world.dice.chance(0.9)) return read;
  world.sometimes.note('an operator said a wrong fingerprint');
  return Buffer.from(world.dice.bytes(32)).toString('hex');
}
