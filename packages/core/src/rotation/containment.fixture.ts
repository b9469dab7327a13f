/**
 * A hub of two replicas, a fleet, and a network that loses answers, as a model: every act is one atomic step, so any list
 * of acts is also every way of being interrupted between two of them. The decisions are the shipped ones; `Walk` is
 * what a wrong version would do differently.
 */

import { decideAdvance } from './advance.ts';
import { type AssignmentSets, assignmentSets, commandVersions, contains } from './assignment-sets.ts';
import { evaluateGate, type Observations } from './gate.ts';
import { type Generation, isWindowOpen, liveGenerations, previousGeneration } from './generations.ts';
import { isRunning, type Phase, type Rotation, type RotationReason } from './phases.ts';
import { decideRetire } from './retire.ts';
import { rollHost } from './roll.fixture.ts';
import type { RollHost } from './roll.ts';
import { decideStart } from './start.ts';
import { retireNow, sweepRoll } from './sweep.ts';
import { planWave } from './wave.ts';

export type Act =
  | { readonly kind: 'start'; readonly reason: RotationReason }
  | { readonly kind: 'load' | 'restart'; readonly replica: number }
  | { readonly kind: 'advance' | 'wave' | 'retire' | 'add' }
  /** Many acts: a walk on which nothing goes wrong, until this phase, where that is possible. */
  | { readonly kind: 'reach'; readonly phase: Phase }
  | { readonly kind: 'deliver' | 'lose' | 'beat' | 'enrol' | 'sleep' | 'wake' | 'remove'; readonly host: number };

export interface Walk {
  readonly gateIsOpen: typeof gateIsOpen;
  readonly sets: typeof assignmentSets;
  /** What a replica keeps of the generation store when it loads it. */
  readonly load: (rows: readonly Generation[]) => readonly Generation[];
  /** The hosts that the sweep looks at. */
  readonly calls: (roll: readonly RollHost[]) => readonly RollHost[];
  /** The versions that the hub tries when it calls a host. */
  readonly tries: (host: ModelHost, live: readonly number[]) => readonly number[];
}

export const shippedWalk: Walk = {
  gateIsOpen,
  sets: assignmentSets,
  load: (rows) => rows,
  calls: (roll) => roll,
  tries: (host, live) => commandVersions(host.delivered, live),
};

export interface ModelHost {
  readonly id: string;
  status: 'invited' | 'active';
  awake: boolean;
  /** What it applied last; `null` before it enrolled. */
  held: AssignmentSets | null;
  /** The version that the newest envelope made for it presents. */
  delivered: number;
  provenVersion: number | null;
  switched: boolean;
  narrowed: boolean;
}

const window = 1_000;

const usual: readonly Act[] = [
  { kind: 'load', replica: 0 },
  { kind: 'load', replica: 1 },
  { kind: 'advance' },
  { kind: 'wave' },
  ...[0, 1, 2, 3].flatMap((host): readonly Act[] => [
    { kind: 'deliver', host },
    { kind: 'beat', host },
  ]),
];

export class Model {
  readonly #walk: Walk;
  rotation: Rotation | null = null;
  generations: readonly Generation[] = [{ version: 1, state: 'current', verifyUntilMs: null, leaked: false }];
  replicas: (readonly Generation[])[] = [this.generations, this.generations];
  hosts: ModelHost[] = [];
  nowMs = 1_000;
  /** The first violations that there were after any act. */
  found: readonly string[] = [];
  /** Phase, reason and act: what the stories did reach. */
  readonly visited = new Set<string>();
  #added = 0;

  constructor(walk: Walk, hosts: number) {
    this.#walk = walk;
    for (let n = 0; n < hosts; n += 1) {
      this.act({ kind: 'add' });
      this.act({ kind: 'enrol', host: n });
      this.act({ kind: 'beat', host: n });
    }
  }

  act(act: Act): void {
    switch (act.kind) {
      case 'start':
        this.#start(act.reason);
        break;
      case 'load':
      case 'restart':
        this.replicas[act.replica] = this.#walk.load(this.generations);
        break;
      case 'advance':
        this.#advance();
        break;
      case 'wave':
        this.#wave();
        break;
      case 'retire':
        this.#retire();
        break;
      case 'add':
        this.#add();
        break;
      case 'reach':
        this.#reach(act.phase);
        return;
      default: {
        const host = this.hosts[act.host % Math.max(1, this.hosts.length)];
        if (host !== undefined) this.#hostAct(act.kind, host);
      }
    }
    this.visited.add(`${this.rotation?.phase ?? 'none'} ${this.rotation?.reason ?? ''} ${act.kind}`);
    if (this.found.length === 0) this.found = this.violations();
  }

  /** Who breaks I1, and how; empty while all is well. */
  violations(): readonly string[] {
    const found: string[] = [];
    for (const host of this.hosts) {
      if (host.held === null) continue;
      const { accept, present } = host.held;
      for (const [n, loaded] of this.replicas.entries()) {
        const accepts = liveGenerations(loaded, this.nowMs).map((generation) => generation.version);
        if (!contains(accepts, [present])) found.push(`replica ${n} [${accepts}] refuses ${host.id} with ${present}`);
        if (accepts.length > 2) found.push(`replica ${n} accepts [${accepts}]`);
      }
      // After a 401 the hub tries the next one: one of them must be taken.
      const live = liveGenerations(this.generations, this.nowMs).map((generation) => generation.version);
      const tries = this.#walk.tries(host, live);
      if (!tries.some((version) => contains(accept, [version]))) {
        found.push(`${host.id} [${accept}] refuses commands with ${tries}`);
      }
      if (accept.length > 2 || !contains(accept, [present])) found.push(`${host.id} accepts [${accept}]`);
    }
    return found;
  }

  /** Everyone awake, everything repeated until nothing changes: does the rotation end? */
  settle(): void {
    for (let round = 0; round < 40; round += 1) {
      this.act({ kind: 'load', replica: 0 });
      this.act({ kind: 'load', replica: 1 });
      for (let host = 0; host < this.hosts.length; host += 1) {
        this.act({ kind: 'wake', host });
        if (this.hosts[host]?.status === 'invited') this.act({ kind: 'enrol', host });
        this.act({ kind: 'deliver', host });
        this.act({ kind: 'beat', host });
      }
      for (const kind of ['wave', 'advance', 'retire'] as const) this.act({ kind });
    }
  }

  #reach(phase: Phase): void {
    for (let step = 0; step < 5 * usual.length && this.rotation?.phase !== phase; step += 1) {
      this.act(usual[step % usual.length] as Act);
      if (step % usual.length === 0 && this.rotation?.phase === 'proving') this.act({ kind: 'retire' });
    }
  }

  #add(): void {
    const fresh = { delivered: 0, provenVersion: null, switched: false, narrowed: false };
    this.hosts.push({ id: `h${this.#added}`, status: 'invited', awake: true, held: null, ...fresh });
    this.#added += 1;
  }

  #start(reason: RotationReason): void {
    const sweep = sweepRoll(this.#roll(), this.generations, this.nowMs);
    const running = this.rotation !== null && isRunning(this.rotation);
    if (sweep.currentVersion === null || running) return;
    const leave = sweep.withoutUsablePin;
    const options = { narrowByMs: null, verifyWindowMs: window, beatMs: 1 };
    const time = { nowMs: this.nowMs, floorMs: this.nowMs, jumped: false, monotonicMs: 0 };
    const started = decideStart(null, { id: 'r', secret: 'master', reason, leave, ...options }, sweep, time);
    const { from, to } = started.rotation;
    const leaked = reason === 'leak';
    this.rotation = started.rotation;
    this.generations = [
      { version: from, state: 'previous', verifyUntilMs: started.verifyUntilMs, leaked },
      { version: to, state: 'current', verifyUntilMs: null, leaked: false },
    ];
    for (const host of this.hosts) Object.assign(host, { switched: false, narrowed: false });
  }

  #advance(): void {
    if (this.rotation === null) return;
    if (!this.#walk.gateIsOpen(this.rotation, this.#observations(), this.nowMs)) return;
    const open = { open: true, blockers: [], cutOff: [] };
    const next = decideAdvance(this.rotation, open, this.rotation.phase, this.nowMs);
    this.rotation = isRunning(next) ? next : null;
    if (this.rotation !== null) return;
    this.generations = this.generations.filter((generation) => generation.state === 'current');
  }

  #wave(): void {
    if (this.rotation === null) return;
    const wave = planWave(this.rotation, this.#roll(), { batch: 'everyone' });
    if (wave.kind !== 'switch') return;
    this.rotation = { ...this.rotation, canary: wave.canary };
    for (const host of this.hosts) host.switched ||= wave.members.includes(host.id);
  }

  /** `retire --now`, which must strand nobody. A window that closes by itself may: I1 names it as an exception. */
  #retire(): void {
    const sweep = sweepRoll(this.#walk.calls(this.#roll()), this.generations, this.nowMs);
    if (!retireNow(sweep)) return;
    const { destroys } = decideRetire({ now: true, leave: [], left: [] }, sweep);
    this.generations = this.generations.filter((generation) => generation.version !== destroys);
  }

  #hostAct(kind: 'deliver' | 'lose' | 'beat' | 'enrol' | 'sleep' | 'wake' | 'remove', host: ModelHost): void {
    switch (kind) {
      case 'sleep':
        host.awake = false;
        return;
      case 'wake':
        host.awake = true;
        return;
      case 'remove':
        this.hosts = this.hosts.filter((other) => other !== host);
        return;
      case 'enrol':
        if (!host.awake) return;
        Object.assign(host, { status: 'active', provenVersion: null, narrowed: false, held: this.#assign(host) });
        return;
      case 'lose':
        if (host.awake && host.held !== null) this.#assign(host);
        return;
      case 'deliver':
        if (host.awake && host.held !== null) host.held = this.#assign(host);
        return;
      case 'beat':
        if (!host.awake || host.held === null) return;
        host.provenVersion = Math.max(host.provenVersion ?? 0, host.held.present);
        host.narrowed = host.held.accept.length === 1 && host.held.present === this.#currentVersion();
    }
  }

  #assign(host: ModelHost): AssignmentSets {
    const oldVerifies = isWindowOpen(previousGeneration(this.generations)?.verifyUntilMs ?? null, this.nowMs);
    const sets = this.#walk.sets(this.rotation, this.#currentVersion(), host, oldVerifies);
    host.delivered = sets.present;
    return sets;
  }

  #currentVersion(): number {
    return this.generations.find((generation) => generation.state === 'current')?.version ?? 0;
  }

  #roll(): readonly RollHost[] {
    return this.hosts.map(({ id, status, awake, provenVersion, switched, narrowed }) =>
      rollHost(id, {
        status,
        fresh: awake,
        pin: status === 'active' ? 'usable' : 'none',
        provenVersion,
        switched,
        narrowed,
      }),
    );
  }

  #observations(): Observations {
    const replicas = this.replicas.map((rows, n) => ({
      id: `hub-${n}`,
      holds: liveGenerations(rows, this.nowMs).map((generation) => generation.version),
      sinceMs: 0,
    }));
    return {
      hosts: this.#roll(),
      holders: [],
      replicas,
      references: null,
      verifyUntilMs: previousGeneration(this.generations)?.verifyUntilMs ?? null,
    };
  }
}

function gateIsOpen(rotation: Rotation, observations: Observations, nowMs: number): boolean {
  return evaluateGate(rotation, observations, { quietWindowMs: 0, reportedWithinMs: 0 }, nowMs).open;
}
