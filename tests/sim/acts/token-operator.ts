/** Operators of shared tokens: the next plausible act, or it twice at once, or the wrong one. What the hub refuses is not done. */
import { encodeBase64url, utf8 } from '@rollcall/core/bytes';
import { changeHolders, createSecret, type Hub } from '@rollcall/hub/parts';
import { isOver, type TokenRotationRow } from '../machines/store-snapshot.ts';
import { toldAt } from '../token-ledger.ts';
import type { TokenWorld } from '../token-world.ts';
import type { World } from '../world.ts';
import { if_, onRoll, operator, perform, unpinned } from './operator.ts';
import * as walk from './walks.ts';

interface TokenAct {
  readonly name: string;
  readonly weight: (at: At) => number;
  readonly perform: (at: At, hub: Hub) => Promise<unknown>;
}

interface At {
  readonly world: World;
  readonly tokens: TokenWorld;
  readonly secret: string;
  readonly running: TokenRotationRow | undefined;
}

/** One act, and sometimes the same one twice at once, or another one beside it. */
export function actAsTokenOperator(world: World, tokens: TokenWorld): void {
  const times = tokens.dice.chance(0.2) ? 2 : 1;
  let act: TokenAct | undefined;
  for (let time = 0; time < times; time += 1) {
    const at = standing(world, tokens);
    if (time === 0 || tokens.dice.chance(0.5)) act = tokens.dice.weigh(acts, ({ weight }) => weight(at));
    const chosen = act;
    if (chosen === undefined) continue;
    if (time > 0) world.sometimes.note('two operators of a token acted at once');
    perform(world, { name: chosen.name, weight: () => 1, perform: (_world, hub) => chosen.perform(at, hub) });
  }
}

/** A fleet has its tokens, and they are known to programs that nobody will think of. */
export async function beginTokens(world: World, tokens: TokenWorld, hub: Hub): Promise<void> {
  const [secret = 'api'] = tokens.knobs.secrets;
  const value = tokens.knobs.imports
    ? { value: encodeBase64url(utf8(`the-token-of-years-${tokens.dice.below(1e9)}`)) }
    : {};
  const holders = tokens.dice.chance(0.7) ? ['all'] : onRoll(world);
  await createSecret(hub, { name: secret, ...value, holders: [...holders, ...declared(tokens)] }, operator);
  tokens.callers.push(
    { name: 'cron', secret, keeper: 'agent-1', text: undefined },
    { name: 'deploy', secret, keeper: 'agent-2', text: undefined },
  );
  const text = world.snapshot.tokenVersions.get(`${secret} 1`)?.text;
  if (tokens.dice.chance(0.6)) tokens.callers.push({ name: 'forgotten', secret, keeper: undefined, text });
}

function declared({ dice }: TokenWorld): readonly string[] {
  return dice.chance(0.5) ? ['caller:cron'] : [];
}

export function standing(
  world: World,
  tokens: TokenWorld,
  secret: string = tokens.dice.pick(tokens.knobs.secrets),
): At {
  const newest = world.snapshot.tokenRotations.get(secret);
  return { world, tokens, secret, running: newest === undefined || isOver(newest) ? undefined : newest };
}

const walks = ({ running }: At, weight: number) => if_(running !== undefined, weight);

const acts: readonly TokenAct[] = [
  {
    name: 'token create',
    weight: ({ world, secret }) => if_(!world.snapshot.currentTokens.has(secret), 3) + 0.1,
    perform: ({ world, tokens, secret }, hub) => {
      const some = onRoll(world).filter(() => tokens.dice.chance(0.7));
      return createSecret(hub, { name: secret, holders: tokens.dice.chance(0.5) ? ['all'] : some }, operator);
    },
  },
  {
    name: 'token holders',
    weight: () => 0.5,
    perform: ({ world, tokens, secret }, hub) => {
      const member = tokens.dice.pick([...onRoll(world), 'all', 'caller:deploy', 'agent-404']);
      const change = tokens.dice.chance(0.6) ? { add: [member] } : { remove: [member] };
      return changeHolders(hub, secret, change, operator);
    },
  },
  {
    name: 'token rotation start',
    weight: (at) => if_(at.running === undefined, 6) + 0.2,
    perform: ({ world, tokens, secret }, hub) => {
      const { dice } = tokens;
      const isLeak = dice.chance(0.25);
      const ends = hub.clock.now() + world.knobs.beatMs * dice.between(1, 8);
      const leave = dice.chance(0.5) ? unpinned(world) : [];
      const auto = dice.pick(['off', 'to_narrowing', 'to_narrowing', 'all'] as const);
      const narrowByMs = isLeak ? ends : null;
      const reason = isLeak ? 'leak' : 'planned';
      return walk.start(hub, { secret, reason, leave, narrowByMs, auto, batch: dice.between(1, 3) }, operator);
    },
  },
  {
    name: 'token rotation advance',
    weight: (at) => walks(at, 6),
    perform: ({ tokens, secret, running }, hub) => {
      const wrong = tokens.dice.pick(['widening', 'rolling', 'proving', 'narrowing'] as const);
      const seen = tokens.dice.chance(0.8) ? (running?.phase as typeof wrong | undefined) : wrong;
      return walk.advance(hub, secret, seen, operator);
    },
  },
  {
    name: 'token rotation rollback',
    weight: ({ running }) => if_(running !== undefined, running?.phase === 'widening' ? 0.4 : 1.5),
    perform: ({ secret }, hub) => walk.rollBack(hub, secret, 'it was too early', operator),
  },
  {
    name: 'token rotation pause',
    weight: (at) => walks(at, 0.3),
    perform: ({ secret }, hub) => walk.pause(hub, secret, 'to look at it', operator),
  },
  {
    name: 'token rotation resume',
    weight: ({ running }) => if_(typeof running?.paused_because === 'string', 6),
    perform: ({ secret }, hub) => walk.resume(hub, secret, operator),
  },
  {
    name: 'token rotation leave',
    weight: (at) => walks(at, 0.3),
    perform: ({ world, tokens, secret }, hub) =>
      walk.leave(hub, secret, { leave: [tokens.dice.pick(onRoll(world))], reason: 'it is in repair' }, operator),
  },
  {
    name: 'token rotation cut',
    weight: (at) => walks(at, 0.3),
    perform: ({ world, tokens, secret }, hub) => {
      const untilMs = hub.clock.now() + tokens.dice.between(-1_000, 4 * world.knobs.beatMs);
      const leave = tokens.dice.chance(0.5) ? [...onRoll(world), 'caller:cron'] : [];
      return walk.cut(hub, secret, { untilMs, leave }, operator);
    },
  },
  {
    // He was told by the gate who still sends the old one.
    name: 'repoint the forgotten caller',
    weight: () => 1,
    perform: async ({ world, tokens }) => repoint(world, tokens),
  },
  {
    name: 'restart a host',
    weight: () => 1.5,
    perform: async ({ world, tokens }) => {
      const machine = tokens.dice.pick([...world.agents.values()]);
      if (tokens.dice.chance(0.5)) machine.crash();
      else if (machine.stop()) world.sometimes.note('a host was stopped cleanly');
    },
  },
  {
    name: 'restart the hub',
    weight: () => 0.7,
    perform: async ({ world }) => {
      // Not within a task of its own, which ends with it.
      world.scheduler.after(0, 'the hub is stopped', () => {
        if (world.hub.stop()) world.sometimes.note('the hub was stopped cleanly');
      });
    },
  },
  {
    name: 'a listener lets everybody in',
    weight: () => 0.8,
    perform: async ({ world, tokens }) => {
      const machine = tokens.dice.pick(
        [...world.agents.values()].filter(({ listens }) => listens).concat([...world.agents.values()].slice(0, 1)),
      );
      machine.place.takesAnything = true;
      world.scheduler.after(tokens.dice.between(5_000, 60_000), 'a listener is repaired', () =>
        repairListener(machine),
      );
    },
  },
];

/** Whoever keeps a text of its own gets the one that its fleet presents now. */
export function repoint(world: World, tokens: TokenWorld): void {
  for (const caller of tokens.callers) {
    if (caller.keeper !== undefined) continue;
    const keeper = keepersOf(world, tokens, caller.secret)[0] ?? '';
    caller.text = toldAt(world.agents.get(keeper), caller.secret) ?? caller.text;
  }
}

/** A program whose host was evicted or lost reads what it is to present on another one; where there is none, it keeps its own text. */
export function moveCallers(world: World, tokens: TokenWorld): void {
  for (const [index, caller] of tokens.callers.entries()) {
    const keepers = keepersOf(world, tokens, caller.secret);
    if (caller.keeper !== undefined && !keepers.includes(caller.keeper))
      tokens.callers[index] = { ...caller, keeper: keepers[0], text: undefined };
  }
}

function keepersOf({ snapshot }: World, { ledger }: TokenWorld, secret: string): readonly string[] {
  return [...snapshot.hosts.values()].flatMap(({ id, status }) =>
    status === 'active' && ledger.isBound(secret, id) ? [id] : [],
  );
}

/** By another version of its agent, so by a restart. */
export function repairListener(machine: World['agents'] extends ReadonlyMap<string, infer M> ? M : never): void {
  if (!machine.place.takesAnything) return;
  machine.place.takesAnything = false;
  if (machine.isUp) {
    machine.crash();
    machine.start();
  }
}
