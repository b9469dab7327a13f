/** What a run has of shared tokens beside the hub and its hosts: which host is a verifier, and the callers that nobody manages. */
import type { Dice } from './engine/dice.ts';
import type { AgentMachine } from './machines/agent-machine.ts';
import type { TokenKnobs } from './token-knobs.ts';
import { TokenLedger } from './token-ledger.ts';

/** A program beside the hub that holds a shared token. */
export interface Caller {
  readonly name: string;
  readonly secret: string;
  /** The host on which it reads what to present; `undefined`: it was given a text once, and keeps it. */
  readonly keeper: string | undefined;
  text: string | undefined;
}

/** `push`: the hub calls its listener. `listens`: it has one that the hub cannot reach. */
type Kind = 'push' | 'listens' | 'neither';

export class TokenWorld {
  readonly dice: Dice;
  readonly knobs: TokenKnobs;
  readonly ledger = new TokenLedger();
  readonly callers: Caller[] = [];
  readonly #kinds = new Map<string, Kind>();

  constructor(dice: Dice, knobs: TokenKnobs) {
    this.dice = dice;
    this.knobs = knobs;
  }

  kindOf(host: string): Kind {
    const known = this.#kinds.get(host);
    if (known !== undefined) return known;
    const kind = this.dice.pick(['push', 'listens', 'listens', 'neither'] as const);
    this.#kinds.set(host, kind);
    return kind;
  }

  /** As `host add` is told. */
  reachOf(host: string): { readonly reach?: 'push'; readonly address?: string } {
    return this.kindOf(host) === 'push' ? { reach: 'push', address: addressOf(host) } : {};
  }

  /** Where its agent is to listen. */
  listenOf(host: string): string | undefined {
    return this.kindOf(host) === 'neither' ? undefined : '0.0.0.0:8443';
  }
}

export function findByAddress(agents: ReadonlyMap<string, AgentMachine>, address: string): AgentMachine | undefined {
  return [...agents.values()].find(({ name, host }) => name === host && addressOf(host) === address);
}

function addressOf(host: string): string {
  return `${host}.example:8443`;
}
