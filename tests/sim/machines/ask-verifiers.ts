/** How the hub asks verifiers of shared tokens, over the simulated network: the shipped questions, and who is there to answer them. */
import { isRollcallError, RollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import { type AskVerifier, createAskVerifier, type HostClient, type Hub, whoAmI } from '@rollcall/hub/parts';
import type { Scheduler } from '../engine/scheduler.ts';
import { HUB } from '../token-ledger.ts';
import type { AgentMachine } from './agent-machine.ts';
import { requestOf } from './hub-machine.ts';
import type { Network } from './network.ts';

export interface AskParts {
  readonly scheduler: Scheduler;
  readonly network: Network;
  /** Who stands at the address that the hub has of this host. */
  readonly find: (address: string) => AgentMachine | undefined;
  readonly onAsked: (member: string, token: string, isTaken: boolean) => void;
}

export function createAsk({ scheduler, network, find, onAsked }: AskParts, hub: () => Hub): AskVerifier {
  const client: HostClient = {
    async request({ host, address, path, headers }) {
      const token = headers['x-node-token'];
      const waiting = scheduler.wait('waits for a listener', limits.hostAnswerTimeoutMs);
      let status: number | 'nobody' | undefined;
      const machine = find(address);
      const reply = (known: number | undefined) => {
        status ??= known ?? 'nobody';
        waiting.wake();
      };
      const rawHeaders = Object.entries(headers).flat();
      if (machine === undefined) reply(undefined);
      else network.call(machine, (place) => place.call({ from: HUB, path, rawHeaders }), reply);
      await waiting.due;
      // Read in a place where the compiler does not know better.
      const known = status as number | 'nobody' | undefined;
      if (known === undefined) throw new RollcallError('listener_timeout');
      if (known === 'nobody') throw new RollcallError('listener_unreachable');
      if (token !== undefined) onAsked(host, token, known === 200);
      return { status: known, body: new Uint8Array() };
    },
  };
  return {
    // It is asked over its own listener, so by whatever that answers.
    replica: async (token, as = 'probe') => {
      const headers: Record<string, string> = as === 'probe' ? { 'x-rollcall-probe': hub().tokenProbes.mark } : {};
      const isTaken = await lets(whoAmI(hub(), requestOf({ headers, tokens: [token], from: HUB })));
      onAsked(HUB, token, isTaken);
      return isTaken ? 'taken' : 'refused';
    },
    host: (target, token) => createAskVerifier(hub(), client, '127.0.0.1:7443').host(target, token),
  };
}

async function lets(answer: Promise<unknown>): Promise<boolean> {
  try {
    await answer;
    return true;
  } catch (error) {
    if (isRollcallError(error, 'unauthenticated')) return false;
    throw error;
  }
}
