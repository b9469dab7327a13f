/** A thief, of one kind for each run: what he holds, he uses; what he should not get, the invariants watch. */
import { encodeBase64url } from '@rollcall/core/bytes';
import { generateWrapKey } from '@rollcall/core/seal';
import type { HeartbeatBody } from '@rollcall/wire';
import { Disk } from '../machines/disk.ts';
import type { Request } from '../machines/exchange.ts';
import type { World } from '../world.ts';
import { tamper } from './tamper.ts';

export function actAsThief(world: World): void {
  world.sometimes.note(`thief with ${world.knobs.thief}`);
  thieves[world.knobs.thief](world);
}

const thieves: Readonly<Record<World['knobs']['thief'], (world: World) => void>> = {
  master: beatWithMaster,
  bearer: beatWithBearer,
  recording: replay,
  network: standInTheWay,
  disk: runYesterdaysDisk,
  token: goOnWithToken,
  database: tamper,
};

/** Any host's bearer of any generation that was, of this life or the one before. */
function beatWithMaster(world: World): void {
  const { dice, ledger, snapshot } = world;
  const hosts = [...snapshot.hosts.values()];
  if (hosts.length === 0 || ledger.masters.size === 0) return;
  // Whom he saw being moved, and has not heard since: there a claim would count.
  const moving = hosts.filter(({ id }) => {
    const wanted = snapshot.assignments.get(id);
    return wanted !== undefined && wanted.acked_step < wanted.step;
  });
  const host = dice.pick(moving.length > 0 && dice.chance(0.7) ? moving : hosts);
  const life = Math.max(1, host.life - (dice.chance(0.2) ? 1 : 0));
  ledger.tainted.add(host.id);
  beat(world, host.id, ledger.bearerOf(dice.pick([...ledger.masters.values()]), host.id, life));
}

/** What one host presented some time ago. */
function beatWithBearer(world: World): void {
  const beats = world.network.recordedRequests.filter(({ path }) => path === '/v1/heartbeat');
  if (beats.length === 0) return;
  const { headers } = world.dice.pick(beats);
  const host = headers['x-rollcall-host'] ?? '';
  world.ledger.tainted.add(host);
  beat(world, host, (headers['authorization'] ?? '').slice('Bearer '.length));
}

/** A request of somebody else, once more; and to hosts, answers that were given before. */
function replay(world: World): void {
  const { recordedRequests } = world.network;
  if (recordedRequests.length === 0) return;
  const request = world.dice.pick(recordedRequests);
  send(world, { ...request, from: 'thief' });
}

/** He answers in the hub's place for a while. */
function standInTheWay(world: World): void {
  const machine = world.dice.pick([...world.agents.keys()]);
  world.network.impostors.add(machine);
  world.scheduler.after(world.dice.below(60_000), 'the thief goes away', () => world.network.impostors.delete(machine));
}

/** A copy of a disk, run beside the host or after it. */
function runYesterdaysDisk(world: World): void {
  const { dice } = world;
  const original = dice.pick([...world.agents.values()]);
  const name = `${original.host}~thief`;
  const kept = world.keptDisks.get(name);
  if (kept === undefined) {
    if (!original.disk.isEmpty) world.keptDisks.set(name, original.disk.contents());
    return;
  }
  if (world.agents.has(name)) return;
  world.ledger.tainted.add(original.host);
  world.addMachine(name, original.host, new Disk(kept)).start();
}

/** Read on its way to the host: he redeems it with a machine of his own, before the host or after it. */
export function stealToken(world: World, host: string, text: string): void {
  const { dice, knobs, ledger, scheduler, sometimes } = world;
  if (knobs.thief !== 'token' || knobs.thiefEveryMs === 0 || !dice.chance(0.5)) return;
  sometimes.note('a token was stolen');
  ledger.tainted.add(host);
  const name = `${host}~thief`;
  const machine = world.agents.get(name) ?? world.addMachine(name, host);
  machine.replaceDisk(new Disk());
  machine.tokenText = text;
  if (dice.chance(0.7)) machine.start();
  else scheduler.after(dice.below(30_000), 'a stolen token is used', () => machine.start());
}

/** What he got by it he goes on using. */
function goOnWithToken({ agents, isCalm }: World): void {
  for (const machine of agents.values()) if (machine.name.endsWith('~thief') && !isCalm) machine.start();
}

/** With a key of his own, and claims that nobody can check. */
function beat(world: World, host: string, bearer: string): void {
  const { dice, snapshot } = world;
  const wanted = snapshot.assignments.get(host);
  const key = dice.chance(0.5) ? generateWrapKey(dice.bytes).public.bytes : dice.bytes(dice.pick([31, 32]));
  const others = [...snapshot.hosts.keys()].filter((id) => id !== host);
  const body: HeartbeatBody = {
    ...(others.length > 0 && dice.chance(0.2) ? { host: dice.pick(others) } : {}),
    instance: encodeBase64url(dice.bytes(16)),
    seq: dice.below(1_000_000),
    wrapKey: { suite: 'x25519', public: encodeBase64url(key) },
    held: { master: { epoch: wanted?.epoch ?? 1, step: (wanted?.step ?? 0) + dice.below(2) } },
    refused: dice.chance(0.3) ? [{ secret: 'master', reason: 'delivery_unopenable' }] : [],
    agent: { version: '9.9.9' },
    startup: 'restored',
    sentAt: '2026-03-01T12:00:00Z',
  };
  send(world, {
    from: 'thief',
    path: '/v1/heartbeat',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${bearer}`, 'x-rollcall-host': host },
    tokens: [],
    body: new TextEncoder().encode(JSON.stringify(body)),
  });
}

function send(world: World, request: Request): void {
  world.scheduler.after(world.dice.below(50), 'request thief', () => world.receive(request, () => undefined));
}
