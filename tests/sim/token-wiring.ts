/** How a world's hub and hosts meet where shared tokens are concerned: who asks whom, and what is noted of it. */
import type { AskVerifier, Hub } from '@rollcall/hub/parts';
import type { AgentMachineParts } from './machines/agent-machine.ts';
import { createAsk } from './machines/ask-verifiers.ts';
import { findByAddress } from './token-world.ts';
import type { World } from './world.ts';

/** As late as the timers of a listener are, at most. */
const LATE_MS = 20_000;
const CALM_LATE_MS = 2_000;

/** What a host's machine needs beside its agent; nothing in a run without tokens. */
export function tokensOfAgent(world: World, host: string): Pick<AgentMachineParts, 'tokens'> {
  const { tokens } = world;
  if (tokens === undefined) return {};
  return {
    tokens: {
      listen: tokens.listenOf(host),
      timerLateMs: () => tokens.dice.below(world.isCalm ? CALM_LATE_MS : LATE_MS),
      onAsked: ({ name }, token, isTaken) => noteAsked(world, name, token, isTaken),
    },
  };
}

/** What the hub has of the network to ask verifiers. */
export function askOf(world: World): (hub: () => Hub) => AskVerifier {
  const parts = {
    scheduler: world.scheduler,
    network: world.network,
    find: (address: string) => findByAddress(world.agents, address),
    onAsked: (member: string, token: string, isTaken: boolean) => noteAsked(world, member, token, isTaken),
  };
  return (hub) => createAsk(parts, hub);
}

/** A value that nobody ever had is a control, of whichever secret. */
function noteAsked(world: World, member: string, token: string, isTaken: boolean): void {
  const { ledger } = world.tokens ?? {};
  const known = ledger?.values.get(token);
  if (known !== undefined) ledger?.noteAsked(known.secret, member, known.version, isTaken, world.scheduler.nowMs);
  else
    for (const secret of world.snapshot.currentTokens.keys())
      ledger?.noteAsked(secret, member, 'random', isTaken, world.scheduler.nowMs);
}
