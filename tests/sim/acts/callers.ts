/** Programs beside the hub that present a shared token: to the hub, and to any listener of a host that holds it. */

import type { AgentMachine } from '../machines/agent-machine.ts';
import type { CallOutcome } from '../machines/host-sockets.ts';
import { runningOf, sidesOf } from '../own-phases.ts';
import { HUB, holds, toldAt } from '../token-ledger.ts';
import type { Caller, TokenWorld } from '../token-world.ts';
import type { World } from '../world.ts';

/** One call, from what its caller was told when it went off to what it was answered. */
export interface Call {
  readonly caller: Caller;
  readonly text: string;
  /** The hub, or the host whose listener it is. */
  readonly verifier: string;
}

/** Now and then each of them calls somebody, as long as the run goes on: also after faults have stopped. */
export function beginCalls(world: World, tokens: TokenWorld): void {
  const next = () => {
    const { callEveryMs, forgottenEveryMs } = tokens.knobs;
    const keepers = -Math.log(1 - tokens.dice.next()) * callEveryMs;
    world.scheduler.after(keepers, 'a caller', () => {
      const caller = tokens.dice.weigh(tokens.callers, ({ keeper }) =>
        keeper === undefined ? callEveryMs / forgottenEveryMs : 1,
      );
      if (caller !== undefined) call(world, tokens, caller);
      next();
    });
  };
  next();
}

function call(world: World, tokens: TokenWorld, caller: Caller): void {
  const text = caller.keeper === undefined ? caller.text : toldAt(world.agents.get(caller.keeper), caller.secret);
  if (text === undefined) return;
  const hosts = [...world.agents.values()].filter(
    ({ name, host, listens }) => name === host && listens && holds(world.snapshot, caller.secret, host),
  );
  const machine = tokens.dice.chance(0.5) || hosts.length === 0 ? undefined : tokens.dice.pick(hosts);
  const made: Call = { caller, text, verifier: machine?.name ?? HUB };
  if (machine === undefined) {
    const headers = { 'user-agent': caller.name };
    world.scheduler.after(tokens.dice.below(world.knobs.latencyMs + 1), `call of ${caller.name}`, () =>
      world.receive(
        { from: caller.name, path: '/v1/whoami', headers, tokens: [text], body: new Uint8Array() },
        (outcome) => {
          if (outcome.kind === 'answered') world.onCalled(made, outcome.answer.status);
        },
      ),
    );
    return;
  }
  const rawHeaders = ['x-node-token', text];
  world.network.call(
    machine,
    (place) => {
      const status: CallOutcome = place.call({ from: caller.name, path: '/v1/echo', rawHeaders });
      if (place.answered !== undefined) world.onCalled(made, place.answered);
      if (place.answered === 200 && isGoing(world, text)) killSoon(world, tokens, machine);
      return status;
    },
    () => undefined,
  );
}

/** Before its next beat has said what it was sent: that is what a counter must not lose without a word. */
function killSoon(world: World, tokens: TokenWorld, machine: AgentMachine): void {
  if (world.isCalm || !tokens.dice.chance(0.15)) return;
  world.scheduler.after(tokens.dice.below(world.knobs.beatMs), 'a verifier is killed', () => {
    if (world.isCalm) return;
    machine.crash();
    world.sometimes.note('a verifier was killed after it was sent what goes');
  });
}

function isGoing({ snapshot, tokens }: World, text: string): boolean {
  const known = tokens?.ledger.values.get(text);
  const running = known === undefined ? undefined : runningOf(snapshot, known.secret);
  return running !== undefined && running.phase !== 'widening' && sidesOf(running).goes === known?.version;
}
