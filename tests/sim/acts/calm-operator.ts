/** After faults have stopped a person looks after what is left. A store may be slow: the next thing is asked once the last was answered. */
import { acceptTime, type Hub } from '@rollcall/hub/parts';
import type { TokenWorld } from '../token-world.ts';
import type { World } from '../world.ts';
import { ACCEPT_TIME, operator, perform } from './operator.ts';
import { moveCallers, repoint, standing } from './token-operator.ts';
import * as walk from './walks.ts';

/** Nothing wrong any more, and nothing new: one look at everything for each call. */
export function createCalmOperator(world: World, tokens: TokenWorld): () => void {
  let asked: { readonly hub: Hub | undefined; unanswered: number } = { hub: undefined, unanswered: 0 };
  const ask = (name: string, act: (hub: Hub) => Promise<unknown>) => {
    const of = asked;
    of.unanswered += 1;
    const answered = () => {
      of.unanswered -= 1;
    };
    perform(world, { name, weight: () => 1, perform: (_world, hub) => act(hub).finally(answered) });
  };
  return () => {
    moveCallers(world, tokens);
    repoint(world, tokens);
    const { hub } = world.hub;
    // One that was stopped answers nobody any more.
    if (hub === undefined || (hub === asked.hub && asked.unanswered > 0)) return;
    asked = { hub, unanswered: 0 };
    if (hub.clock.read().jumped) {
      ask(ACCEPT_TIME, (asking) => acceptTime(asking, operator));
      return;
    }
    for (const secret of world.snapshot.currentTokens.keys()) {
      const { running } = standing(world, tokens, secret);
      if (running === undefined) continue;
      if (running.paused_because === null)
        ask('token rotation advance', (asking) => walk.advance(asking, secret, undefined, operator));
      else ask('token rotation resume', (asking) => walk.resume(asking, secret, operator));
    }
  };
}
