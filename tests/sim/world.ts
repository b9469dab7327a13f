/** One run's world: machines, network and what is known of them, put together out of a seed. */
import type { AgentState } from '@rollcall/agent';
import { isRollcallError } from '@rollcall/core/errors';
import type { Log, LogFields, TransportAnswer } from '@rollcall/core/ports';
import { createVault, type Hub, type Vault } from '@rollcall/hub/parts';
import type { Call } from './acts/callers.ts';
import { yesMs } from './cached-yes.ts';
import type { Dice } from './engine/dice.ts';
import { MachineClock } from './engine/machine-clock.ts';
import { Scheduler, type Task, Violation } from './engine/scheduler.ts';
import { Sometimes } from './engine/sometimes.ts';
import { Trace } from './engine/trace.ts';
import type { Founded } from './found.ts';
import { checks } from './invariants/index.ts';
import type { Handling } from './invariants/invariant.ts';
import type { Knobs } from './knobs.ts';
import { Ledger } from './ledger.ts';
import { AgentMachine } from './machines/agent-machine.ts';
import type { Broken } from './machines/broken.ts';
import { Disk, type DiskOperation } from './machines/disk.ts';
import { claimedHost, type Outcome, type Request, toRequest } from './machines/exchange.ts';
import { Forgeries, type TrustedTable } from './machines/forgeries.ts';
import { codeOf, HubMachine } from './machines/hub-machine.ts';
import { Network } from './machines/network.ts';
import { openMemory } from './machines/parked-database.ts';
import {
  createSnapshotReader,
  emptySnapshot,
  type RawRow,
  type ReadSnapshot,
  type StoreSnapshot,
} from './machines/store-snapshot.ts';
import { askOf, tokensOfAgent } from './token-wiring.ts';
import type { TokenWorld } from './token-world.ts';

export class World {
  readonly dice: Dice;
  readonly knobs: Knobs;
  readonly founded: Founded;
  readonly trace = new Trace();
  readonly sometimes = new Sometimes();
  readonly ledger = new Ledger();
  readonly forgeries = new Forgeries();
  readonly scheduler: Scheduler;
  readonly network: Network;
  readonly hub: HubMachine;
  readonly agents = new Map<string, AgentMachine>();
  /** Only in a run that has shared tokens. */
  readonly tokens: TokenWorld | undefined;
  readonly broken: Broken = { store: undefined, fullDisks: new Set(), badDisks: new Map() };
  snapshot: StoreSnapshot = emptySnapshot;
  isCalm = false;
  /** Of the hub's database, as it was some time ago. */
  backup: Uint8Array | undefined;
  /** Nobody starts it for now. */
  isHubHeldDown = false;
  /** By machine: its disk as it was some time ago. */
  readonly keptDisks = new Map<string, ReadonlyMap<string, Uint8Array>>();
  /** Rows of tables as a thief saw them some time ago. */
  readonly keptRows = new Map<TrustedTable, readonly RawRow[]>();
  /** Since when the store answers nothing. */
  storeDownSinceMs: number | undefined;
  /** When an operation of the store failed last. */
  storeFailedAtMs = Number.NEGATIVE_INFINITY;
  /** The first that was found. Never thrown where shipped code could catch it. */
  violation: Violation | undefined;
  readonly #vault: Vault;
  #readSnapshot: ReadSnapshot;

  constructor(dice: Dice, knobs: Knobs, founded: Founded, tokens?: TokenWorld) {
    this.tokens = tokens;
    this.dice = dice;
    this.knobs = knobs;
    this.founded = founded;
    this.scheduler = new Scheduler(dice, this.trace, (task, error) => this.#taskFailed(task, error));
    this.network = new Network({
      scheduler: this.scheduler,
      dice,
      knobs,
      sometimes: this.sometimes,
      isCalm: () => this.isCalm,
      receive: (request, reply) => this.receive(request, reply),
    });
    const sqlite = openMemory(founded.image);
    this.#vault = createVault(founded.kek, dice.bytes);
    this.#readSnapshot = createSnapshotReader(sqlite, this.#vault, this.forgeries.believe);
    this.hub = this.#makeHub(this.#vault, sqlite);
    if (tokens !== undefined) tokens.ledger.hubNow = () => this.hub.time?.now();
    this.onCommit();
  }

  tell(line: string): void {
    this.trace.tell(this.scheduler.nowMs, line);
  }

  /** A host's machine with this disk; it is not started. */
  addMachine(name: string, host: string, disk = new Disk()): AgentMachine {
    const machine = new AgentMachine(
      {
        scheduler: this.scheduler,
        dice: this.dice,
        clock: this.#makeClock(0),
        log: this.#log(name),
        faults: {
          fail: (operation) => this.#diskFails(name, operation),
          takes: (bytes) => (!this.isCalm && this.dice.chance(this.knobs.slow) ? this.dice.between(1, bytes) : bytes),
          delayMs: () => this.#delayMs(),
        },
        send: (from, request, done) => {
          for (const check of checks) this.#examine(() => check.onRequest?.(this, from, request));
          this.network.send(toRequest(from.name, request), request.judge, this.founded.face, done);
        },
        onLoaded: (loaded, wasEmpty, initial) => {
          for (const check of checks) this.#examine(() => check.onLoaded?.(this, loaded, wasEmpty, initial));
        },
        onState: (changed, state) => this.#agentChanged(changed, state),
        onEnded: (ended, error) => this.#agentEnded(ended, error),
        ...tokensOfAgent(this, host),
      },
      { name, host },
      disk,
    );
    this.agents.set(name, machine);
    return machine;
  }

  /** Replaces the database by this image, as a restore of a backup does, while the hub is down. */
  restore(image: Uint8Array): void {
    this.hub.crash();
    this.hub.sqlite = openMemory(image);
    this.#readSnapshot = createSnapshotReader(this.hub.sqlite, this.#vault, this.forgeries.believe);
    this.readAgain();
  }

  /** Takes what is in the store for true, whoever wrote it. */
  readAgain(): void {
    this.snapshot = this.#readSnapshot();
    this.#readLedgers();
  }

  #readLedgers(): void {
    this.ledger.read(this.snapshot, this.scheduler.nowMs);
    this.tokens?.ledger.read(this.snapshot, this.scheduler.nowMs, this.ledger.tainted);
  }

  onCommit(): void {
    const before = this.snapshot;
    this.snapshot = this.#readSnapshot();
    this.#readLedgers();
    for (const check of checks)
      this.#examine(() => check.onCommit?.(this, before, this.snapshot, this.scheduler.current));
  }

  onCalled(call: Call, status: number): void {
    this.trace.mix(`${call.caller.name} ${call.verifier} ${status}`);
    for (const check of checks) this.#examine(() => check.onCalled?.(this, call, status));
    this.sometimes.note(`a caller was answered ${status}`);
  }

  get yesMs(): number {
    return yesMs(this);
  }

  afterStep(): void {
    const { hub } = this.hub;
    if (hub !== undefined) for (const check of checks) this.#examine(() => check.onStep?.(this, hub));
  }

  fail(violation: Violation): void {
    this.violation ??= violation;
  }

  #examine(check: () => void): void {
    try {
      check();
    } catch (error) {
      this.fail(error instanceof Violation ? error : new Violation('simulator', String((error as Error).stack)));
    }
  }

  #makeHub(vault: Vault, sqlite: HubMachine['sqlite']): HubMachine {
    const { beatMs, verifyWindowMs, firstUseMinAgeMs } = this.knobs;
    const quiet = this.tokens === undefined ? {} : { quietWindowMs: this.tokens.knobs.quietWindowMs };
    return new HubMachine(
      {
        ask: askOf(this),
        scheduler: this.scheduler,
        dice: this.dice,
        clock: this.#makeClock(this.knobs.hubTimerLateMs),
        vault,
        settings: { beatMs, verifyWindowMs, firstUseMinAgeMs, ...quiet },
        log: this.#log('hub'),
        faults: { fail: () => this.#storeFails(), delayMs: () => this.#delayMs() },
        onCommit: () => this.onCommit(),
        onStarted: (hub) => this.#hubStarted(hub),
        onJobFailed: () => undefined,
      },
      sqlite,
    );
  }

  #makeClock(lateMs: number): MachineClock {
    const { dice, knobs } = this;
    const rate = 1 + (dice.next() - 0.5) * 2e-3;
    const wallOffsetMs = knobs.wrongClocks ? dice.between(-3_600_000, 3_600_000) : 0;
    return new MachineClock(this.scheduler, {
      rate,
      wallOffsetMs,
      lateMs: () => (lateMs === 0 ? 0 : dice.below(lateMs)),
    });
  }

  #delayMs(): number {
    const { dice, knobs } = this;
    return knobs.slow > 0 && dice.chance(knobs.slow) ? dice.below(knobs.slowMs) : 0;
  }

  #storeFails(): string | undefined {
    if (this.broken.store !== undefined) this.storeFailedAtMs = this.scheduler.nowMs;
    return this.broken.store;
  }

  #diskFails(machine: string, operation: DiskOperation): string | undefined {
    if (this.broken.fullDisks.has(machine) && (operation === 'write' || operation === 'create')) {
      this.sometimes.note('a full disk took no byte');
      return 'ENOSPC';
    }
    const bad = this.broken.badDisks.get(machine);
    if (bad === undefined || (bad.only ?? operation) !== operation || !this.dice.chance(bad.chance)) return undefined;
    this.sometimes.note(`a disk failed: ${operation}`);
    return 'EIO';
  }

  #hubStarted(hub: Hub): void {
    this.tell('the hub listens');
    for (const check of checks) this.#examine(() => check.onHubStarted?.(this, hub));
  }

  #agentChanged(machine: AgentMachine, state: AgentState): void {
    this.trace.mix(`${machine.name} ${state.doing.kind} ${state.seq}`);
    for (const check of checks) this.#examine(() => check.onAgentState?.(this, machine, state));
  }

  #agentEnded(machine: AgentMachine, error: unknown): void {
    if (!isRollcallError(error)) {
      this.fail(new Violation('agent', `${machine.name} broke: ${String((error as Error).stack)}`));
      return;
    }
    for (const check of checks) this.#examine(() => check.onEnded?.(this, machine, error.code));
    this.tell(`${machine.name} ended: ${error.code}`);
    this.sometimes.note(`an agent ended: ${error.code}`);
  }

  receive(request: Request, reply: (outcome: Outcome) => void): void {
    const host =
      request.headers['x-rollcall-host'] ?? (request.path === '/v1/enrol' ? claimedHost(request) : undefined);
    const { hub } = this.hub;
    if (hub === undefined) {
      this.hub.receive(request, host, reply);
      return;
    }
    const life = (host === undefined ? undefined : this.snapshot.hosts.get(host)?.life) ?? 1;
    const handling: Handling = {
      request,
      host,
      before: this.snapshot,
      hubNowMs: hub.clock.now(),
      nowMs: this.scheduler.nowMs,
      bearer:
        host === undefined
          ? undefined
          : this.ledger.identify(host, request.headers['authorization'], life > 1 ? [life, life - 1] : [life]),
    };
    for (const check of checks) this.#examine(() => check.onHandling?.(this, handling));
    this.hub.receive(request, host, (outcome) => {
      if (outcome.kind === 'answered') this.#answered(handling, outcome.answer);
      reply(outcome);
    });
  }

  #answered(handling: Handling, answer: TransportAnswer): void {
    this.trace.mix(`${handling.request.from} ${handling.request.path} ${answer.status}`);
    for (const check of checks) this.#examine(() => check.onAnswered?.(this, handling, answer));
    this.sometimes.note(`${handling.request.path} ${answer.status}`);
  }

  #taskFailed(task: Task, error: unknown): void {
    const what = `${task.name} of ${task.process} failed: ${codeOf(error)} ${String((error as Error).stack)}`;
    this.fail(error instanceof Violation ? error : new Violation('task', what));
  }

  #log(source: string): Log {
    const line = (level: string) => (message: string, fields?: LogFields) => {
      const text = `${source} ${level} ${message} ${JSON.stringify(fields ?? {})}`;
      for (const check of checks) this.#examine(() => check.onLog?.(this, text));
    };
    return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
  }
}
