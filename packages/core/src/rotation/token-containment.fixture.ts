/**
 * A hub, hosts with listeners and callers beside them that share one token, as a model: every act is one atomic step, so any
 * list of acts is also every way of being interrupted between two of them. The decisions are the shipped ones; `TokenWalk`
 * is what a wrong version would do differently.
 */
import { decideAdvance, decideRollback } from './advance.ts';
import { type AssignmentSets, assignmentSets, contains } from './assignment-sets.ts';
import { evaluateGate } from './gate.ts';
import { caller, holder, observedHolders, replica } from './holder.fixture.ts';
import { type Holder, type Probe, replicaAccepts, retiringVersion } from './holder.ts';
import { isRunning, type Phase, phases, type Rotation } from './phases.ts';
import { noteCount } from './quiet.ts';
import { decideTokenStart, goesOnByItself } from './token-start.ts';
import { planWave } from './wave.ts';

export type TokenAct =
  | {
      readonly kind:
        | 'start'
        | 'load'
        | 'advance'
        | 'wave'
        | 'rollback'
        | 'probe hub'
        | 'call'
        | 'repoint'
        | 'wait'
        | 'add';
    }
  | { readonly kind: 'reach'; readonly phase: Phase }
  | {
      readonly kind: 'deliver' | 'beat' | 'probe' | 'crash' | 'sleep' | 'wake' | 'remove' | 'enrol';
      readonly host: number;
    };

export interface TokenWalk {
  readonly gateIsOpen: (rotation: Rotation, holders: readonly Holder[], nowMs: number) => boolean;
  readonly sets: typeof assignmentSets;
  readonly replicaTakes: typeof replicaAccepts;
}

export const shippedTokenWalk: TokenWalk = {
  gateIsOpen: (rotation, holders, nowMs) => evaluateGate(rotation, observedHolders(holders), policy, nowMs).open,
  sets: assignmentSets,
  replicaTakes: replicaAccepts,
};

const policy = { quietWindowMs: 10, reportedWithinMs: 9 };

interface ModelHost {
  readonly id: string;
  awake: boolean;
  enrolled: boolean;
  wanted: AssignmentSets & { readonly step: number };
  held: (AssignmentSets & { readonly step: number }) | null;
  switched: boolean;
  seen: number | null;
  presentingOld: boolean;
  probe: (Probe & { readonly step: number }) | null;
  counter: string;
  counts: Map<number, number>;
  record: ReturnType<typeof noteCount> | null;
  reportedAtMs: number;
}

export class TokenModel {
  readonly #walk: TokenWalk;
  rotation: Rotation | null = null;
  current = 1;
  highest = 1;
  loaded: readonly number[] = [1];
  hosts: ModelHost[] = [];
  /** What the program beside the hub sends, to the hub and to every listener. */
  calls = 1;
  nowMs = 1_000;
  found: readonly string[] = [];
  readonly visited = new Set<string>();
  #added = 0;
  #hubProbe: Probe | null = null;
  #hubCounts = new Map<number, number>();
  #hubRecord: ReturnType<typeof noteCount> | null = null;

  constructor(walk: TokenWalk, hosts: number) {
    this.#walk = walk;
    for (let n = 0; n < hosts; n += 1) {
      this.act({ kind: 'add' });
      for (const kind of ['enrol', 'deliver', 'beat'] as const) this.act({ kind, host: n });
    }
  }

  act(act: TokenAct): void {
    this.#do(act);
    if (act.kind === 'reach') return;
    this.visited.add(`${this.rotation?.phase ?? 'none'} ${act.kind}`);
    if (this.found.length === 0) this.found = this.violations();
  }

  /** Every verifier takes what every caller sends (I1), and never more than two (I14). */
  violations(): readonly string[] {
    const verifiers: [string, readonly number[]][] = [['hub', this.loaded]];
    const callers: [string, number][] = [['cron', this.calls]];
    for (const { id, held } of this.hosts) {
      if (held === null) continue;
      verifiers.push([id, held.accept]);
      callers.push([id, held.present]);
    }
    const refused = verifiers.flatMap(([verifier, accepts]) =>
      callers.flatMap(([name, sends]) =>
        contains(accepts, [sends]) ? [] : [`${verifier} [${accepts}] refuses ${name} with ${sends}`],
      ),
    );
    const tooMany = verifiers.filter(([, accepts]) => accepts.length > 2).map(([id]) => `${id} accepts more than two`);
    return [...refused, ...tooMany];
  }

  /** Everyone awake and told, the program beside the hub repointed to what stays: does the rotation end? */
  settle(): void {
    for (let round = 0; round < 80 && this.rotation !== null; round += 1) {
      for (const kind of ['load', 'probe hub', 'repoint', 'call', 'wait', 'wave'] as const) this.act({ kind });
      for (let host = 0; host < this.hosts.length; host += 1) {
        for (const kind of ['wake', 'enrol', 'deliver', 'probe', 'beat'] as const) this.act({ kind, host });
      }
      this.act({ kind: 'advance' });
    }
  }

  #do(act: TokenAct): void {
    switch (act.kind) {
      case 'start':
        this.#start();
        return;
      case 'load':
        this.loaded = this.#replicaTakes();
        return;
      case 'advance':
        this.#advance();
        return;
      case 'wave':
        this.#wave();
        return;
      case 'rollback':
        this.#rollback();
        return;
      case 'probe hub':
        this.#hubProbe = { ...probeOf(this.loaded, this.highest) };
        return;
      case 'call':
        this.#call();
        return;
      case 'repoint':
        this.#repoint();
        return;
      case 'wait':
        // The quiet window is longer than the slowest caller sleeps: that is what it is chosen by. Agents beat far more often.
        this.nowMs += policy.quietWindowMs / 2;
        this.#call();
        for (const host of this.hosts) this.#beat(host);
        this.nowMs += policy.quietWindowMs / 2;
        return;
      case 'add':
        this.#add();
        return;
      case 'reach':
        this.#reach(act.phase);
        return;
      default: {
        const host = this.hosts[act.host % Math.max(1, this.hosts.length)];
        if (host !== undefined) this.#hostAct(act.kind, host);
      }
    }
  }

  #reach(phase: Phase): void {
    for (let round = 0; round < 12 && this.rotation !== null && this.rotation.phase !== phase; round += 1) {
      for (const kind of ['load', 'probe hub', 'wave', 'call', 'wait'] as const) this.act({ kind });
      if (this.rotation?.phase === 'proving' || this.rotation?.phase === 'reverting') this.act({ kind: 'repoint' });
      for (let host = 0; host < this.hosts.length; host += 1) {
        for (const kind of ['deliver', 'probe', 'beat'] as const) this.act({ kind, host });
      }
      this.act({ kind: 'advance' });
    }
  }

  #start(): void {
    if (this.rotation !== null) return;
    const request = { id: 'r', secret: 'api', reason: 'planned', narrowByMs: null, auto: 'all', batch: 1 } as const;
    const limits = { leave: this.hosts.map(({ id }) => id), beatMs: 1, narrowByMaxMs: 1_000 };
    const time = { nowMs: this.nowMs, floorMs: this.nowMs, jumped: false, monotonicMs: 0 };
    const started = decideTokenStart(
      null,
      this.current,
      this.highest,
      { ...request, ...limits },
      this.#holders(),
      time,
    );
    this.rotation = { ...started, left: [] };
    this.highest = started.to;
    for (const host of this.hosts) host.switched = false;
    this.#enter();
  }

  #advance(): void {
    const { rotation } = this;
    if (rotation === null) return;
    const holders = this.#holders();
    if (!this.#walk.gateIsOpen(rotation, holders, this.nowMs)) return;
    const open = { open: true, blockers: [], cutOff: [] };
    if (!goesOnByItself(rotation, open, holders)) return;
    const next = decideAdvance(rotation, open, rotation.phase, this.nowMs);
    this.rotation = next;
    this.#enter();
    if (isRunning(next)) return;
    this.current = next.phase === 'done' ? next.to : next.from;
    this.rotation = null;
  }

  #rollback(): void {
    if (this.rotation === null || phases[this.rotation.phase].rollback === null) return;
    this.rotation = decideRollback(this.rotation, this.nowMs);
    for (const host of this.hosts) host.switched = false;
    this.#enter();
  }

  /** A phase begins: whoever holds the token gets the sets of it, and what was found before says nothing of it. */
  #enter(): void {
    this.#hubProbe = null;
    for (const host of this.hosts) this.#assign(host);
  }

  #wave(): void {
    if (this.rotation === null) return;
    const callers = this.#holders().filter(({ presents }) => presents);
    const wave = planWave(this.rotation, callers, { batch: 1 });
    if (wave.kind !== 'switch') return;
    this.rotation = { ...this.rotation, canary: wave.canary };
    for (const host of this.hosts) {
      if (!wave.members.includes(host.id)) continue;
      host.switched = true;
      this.#assign(host);
    }
  }

  #call(): void {
    this.#hubCounts.set(this.calls, (this.#hubCounts.get(this.calls) ?? 0) + 1);
    for (const { held, counts } of this.hosts) {
      if (held?.accept.includes(this.calls)) counts.set(this.calls, (counts.get(this.calls) ?? 0) + 1);
    }
  }

  /** An operator reads who still sends the retiring version, and repoints it to the one that stays. */
  #repoint(): void {
    if (this.rotation === null || phases[this.rotation.phase].verifierAccepts.length < 2) return;
    this.calls = this.rotation.phase === 'proving' ? this.rotation.to : this.rotation.from;
  }

  #add(): void {
    const wanted = { accept: [], present: 0, step: 0 };
    const nothing = {
      held: null,
      switched: false,
      seen: null,
      presentingOld: false,
      probe: null,
      record: null,
      reportedAtMs: 0,
    };
    const id = `h${this.#added}`;
    this.#added += 1;
    this.hosts.push({ id, awake: true, enrolled: false, wanted, ...nothing, counter: id, counts: new Map() });
  }

  #assign(host: ModelHost): void {
    const sets = this.#walk.sets(this.rotation, this.current, host, true);
    if (sets.present === host.wanted.present && sets.accept.join() === host.wanted.accept.join()) return;
    Object.assign(host, {
      wanted: { ...sets, step: host.wanted.step + 1 },
      seen: null,
      presentingOld: false,
      probe: null,
    });
  }

  #hostAct(kind: Extract<TokenAct, { host: number }>['kind'], host: ModelHost): void {
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
        if (!host.awake || host.enrolled) return;
        host.enrolled = true;
        this.#assign(host);
        return;
      case 'deliver':
        if (host.awake && host.enrolled) host.held = host.wanted;
        return;
      case 'crash':
        // What it counted is lost with it.
        Object.assign(host, { counter: `${host.counter}'`, counts: new Map() });
        return;
      case 'probe':
        if (!host.awake || host.held?.step !== host.wanted.step) return;
        host.probe = { ...probeOf(host.held.accept, this.highest), step: host.held.step };
        return;
      case 'beat':
        this.#beat(host);
    }
  }

  #beat(host: ModelHost): void {
    const { held, wanted } = host;
    if (!host.awake || held === null) return;
    this.#hubCounts.set(held.present, (this.#hubCounts.get(held.present) ?? 0) + 1);
    if (held.step === wanted.step) host.seen = held.present;
    else if (host.seen !== null && held.present !== host.seen) host.presentingOld = true;
    host.reportedAtMs = this.nowMs;
    if (this.rotation === null) return;
    const count = host.counts.get(retiringVersion(this.rotation)) ?? 0;
    host.record = noteCount(host.record, { counter: host.counter, count }, this.nowMs, policy.reportedWithinMs);
  }

  #replicaTakes(): readonly number[] {
    return this.rotation === null ? [this.current] : this.#walk.replicaTakes(this.rotation, true);
  }

  #holders(): readonly Holder[] {
    const hosts = this.hosts.map((host) =>
      holder(host.id, {
        status: host.enrolled ? 'active' : 'invited',
        fresh: host.awake,
        pin: host.enrolled ? 'usable' : 'none',
        provenVersion: host.seen,
        presentingOld: host.presentingOld,
        switched: this.rotation !== null && host.wanted.present === this.rotation.to,
        probe: host.probe?.step === host.wanted.step ? host.probe : null,
        quiet: host.record === null ? null : { flatSinceMs: host.record.flatSinceMs, reportedAtMs: host.reportedAtMs },
      }),
    );
    const count = this.rotation === null ? 0 : (this.#hubCounts.get(retiringVersion(this.rotation)) ?? 0);
    // It counts for as long as it is there, whether anybody looks or not.
    const before = this.#hubRecord === null ? null : { ...this.#hubRecord, reportedAtMs: this.nowMs };
    const report = { counter: this.rotation?.phase ?? '', count };
    this.#hubRecord = noteCount(before, report, this.nowMs, policy.reportedWithinMs);
    const quiet = { flatSinceMs: this.#hubRecord.flatSinceMs, reportedAtMs: this.nowMs };
    return [replica({ probe: this.#hubProbe, quiet }), ...hosts, caller('caller:cron')];
  }
}

function probeOf(accepts: readonly number[], highest: number): Probe {
  const all = Array.from({ length: highest }, (_, n) => n + 1);
  return { takes: accepts, refuses: all.filter((version) => !accepts.includes(version)), randomRefused: true };
}
