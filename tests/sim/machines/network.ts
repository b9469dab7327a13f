/** What lies between hosts and hub: messages are lost, late, doubled and reordered, and links are cut one way or both. */

import { equalBytes } from '@rollcall/core/bytes';
import type { PeerTrust } from '@rollcall/core/ports';
import type { Dice } from '../engine/dice.ts';
import type { Scheduler } from '../engine/scheduler.ts';
import type { Sometimes } from '../engine/sometimes.ts';
import type { Knobs } from '../knobs.ts';
import type { AgentMachine } from './agent-machine.ts';
import type { Outcome, Request } from './exchange.ts';
import type { CallOutcome, HostPlace } from './host-sockets.ts';

export type Way = 'out' | 'in';

export interface NetworkParts {
  readonly scheduler: Scheduler;
  readonly dice: Dice;
  readonly knobs: Knobs;
  readonly sometimes: Sometimes;
  /** Faults have stopped. */
  readonly isCalm: () => boolean;
  readonly receive: (request: Request, reply: (outcome: Outcome) => void) => void;
}

/** What the hub's TLS shows of it. */
export interface HubFace {
  readonly trustDomain: string;
  readonly root: Uint8Array;
  readonly spki: Uint8Array;
}

const RECORDED = 64;
const KEPT_ANSWERS = 24;
const LATE_MS = 30_000;

export class Network {
  /** Everything that crossed, for whoever listens. */
  readonly recordedRequests: Request[] = [];
  /** An impostor stands in front of these machines. */
  readonly impostors = new Set<string>();
  /** The last answers to each machine, by path. */
  readonly #answers = new Map<string, readonly Outcome[]>();
  readonly #cut = new Set<string>();
  readonly #parts: NetworkParts;

  constructor(parts: NetworkParts) {
    this.#parts = parts;
  }

  cut(machine: string, way: Way): void {
    this.#cut.add(`${machine} ${way}`);
  }

  mend(machine?: string): void {
    for (const key of [...this.#cut]) if (machine === undefined || key.startsWith(`${machine} `)) this.#cut.delete(key);
  }

  /** The peer is judged before a byte leaves, as the shipped transport does. */
  send(request: Request, judge: PeerTrust, face: HubFace, done: (outcome: Outcome) => void): void {
    const { dice, knobs, sometimes } = this.#parts;
    const isTrue = !this.impostors.has(request.from) && believes(judge, face);
    if (!isTrue) {
      sometimes.note('an impostor was not believed');
      this.#arrive('refusal of the peer', request.from, 'in', () => done({ kind: 'failed', code: 'hub_untrusted' }));
      return;
    }
    this.#record(this.recordedRequests, request);
    const copies = !this.#parts.isCalm() && dice.chance(knobs.doubled) ? 2 : 1;
    if (copies === 2) sometimes.note('a request was doubled');
    for (let copy = 0; copy < copies; copy += 1) {
      this.#arrive('request', request.from, 'out', () => {
        this.#parts.receive(request, (outcome) => {
          const arriving = this.#answerBefore(request, outcome);
          this.#arrive('answer', request.from, 'in', () => done(arriving));
        });
      });
    }
  }

  /** Somebody calls the listener of a host. Nothing of it is doubled or comes again: it is one connection. */
  call(machine: AgentMachine, ask: (place: HostPlace) => CallOutcome, done: (outcome: CallOutcome) => void): void {
    const answer = (outcome: CallOutcome) => this.#arrive('answer', machine.name, 'out', () => done(outcome));
    this.#arrive('request', machine.name, 'in', () => {
      if (!machine.receive((place) => answer(ask(place)))) answer(undefined);
    });
  }

  /** Now and then an answer that was given before comes in the place of this one. */
  #answerBefore(request: Request, outcome: Outcome): Outcome {
    const key = `${request.from} ${request.path}`;
    const earlier = this.#answers.get(key) ?? [];
    this.#answers.set(key, [...earlier.slice(1 - KEPT_ANSWERS), outcome]);
    const { dice, knobs, sometimes, isCalm } = this.#parts;
    if (isCalm() || earlier.length === 0 || !dice.chance(knobs.doubled)) return outcome;
    sometimes.note('an answer of before came again');
    return dice.pick(earlier);
  }

  #arrive(what: 'request' | 'answer' | 'refusal of the peer', machine: string, way: Way, act: () => void): void {
    const { scheduler, dice, knobs, sometimes, isCalm } = this.#parts;
    if (this.#cut.has(`${machine} ${way}`)) {
      sometimes.note(`a cut link took ${articled(what)}`);
      return;
    }
    if (!isCalm() && dice.chance(knobs.lost)) {
      sometimes.note(`${articled(what)} was lost`);
      return;
    }
    const isLate = !isCalm() && dice.chance(knobs.late);
    if (isLate) sometimes.note(`${articled(what)} was late`);
    const delayMs = isLate ? dice.below(LATE_MS) : dice.below(knobs.latencyMs + 1);
    scheduler.after(delayMs, `${what} ${machine}`, act);
  }

  #record<T>(list: T[], item: T): void {
    list.push(item);
    if (list.length > RECORDED) list.shift();
  }
}

function believes(judge: PeerTrust, face: HubFace): boolean {
  if (judge.kind === 'spki') return judge.spki.some((known) => equalBytes(known, face.spki));
  return judge.trustDomain === face.trustDomain && judge.roots.some((root) => equalBytes(root, face.root));
}

function articled(what: string): string {
  return `${what.startsWith('a') ? 'an' : 'a'} ${what}`;
}
