/** The hub's machine: its database, its clock, and one process at a time of the shipped hub, which can be killed at any await. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { utf8 } from '@rollcall/core/bytes';
import { RollcallError } from '@rollcall/core/errors';
import type { Log, TransportAnswer } from '@rollcall/core/ports';
import {
  type AskVerifier,
  assembleHub,
  createHeartbeatEndpoint,
  enrolHost,
  type Hub,
  type Jobs,
  migrate,
  runJobs,
  toErrorAnswer,
  type Vault,
  whoAmI,
} from '@rollcall/hub/parts';
import type { Dice } from '../engine/dice.ts';
import type { MachineClock } from '../engine/machine-clock.ts';
import type { Scheduler } from '../engine/scheduler.ts';
import { type Outcome, type Request, readJson } from './exchange.ts';
import { connect, type Sqlite, type StoreFaults } from './parked-database.ts';

export interface HubSettings {
  readonly beatMs: number;
  readonly verifyWindowMs: number;
  readonly firstUseMinAgeMs: number;
  /** Only in a run with shared tokens. */
  readonly quietWindowMs?: number;
}

export interface HubMachineParts {
  readonly scheduler: Scheduler;
  readonly dice: Dice;
  readonly clock: MachineClock;
  readonly vault: Vault;
  readonly settings: HubSettings;
  readonly log: Log;
  readonly faults: StoreFaults;
  /** How it asks verifiers of shared tokens. */
  readonly ask: (hub: () => Hub) => AskVerifier;
  readonly onCommit: () => void;
  readonly onStarted: (hub: Hub) => void;
  readonly onJobFailed: (error: unknown) => void;
}

/** Whoever is connected is answered first, up to a bound. */
const DRAIN_MS = 200;
const LONGEST_DRAIN = 50;

type Reply = (outcome: Outcome) => void;

export class HubMachine {
  readonly clock: MachineClock;
  sqlite: Sqlite;
  /** While it listens. */
  hub: Hub | undefined;
  /** Also while it stops, and answers nobody any more. */
  time: Hub['clock'] | undefined;
  #starts = 0;
  #process = '';
  #endpoint: ReturnType<typeof createHeartbeatEndpoint> | undefined;
  #jobs: Jobs | undefined;
  /** Connections that are open: a crash resets them. */
  readonly #open = new Set<Reply>();
  readonly #parts: HubMachineParts;

  constructor(parts: HubMachineParts, sqlite: Sqlite) {
    this.#parts = parts;
    this.clock = parts.clock;
    this.sqlite = sqlite;
  }

  get isUp(): boolean {
    return this.#process !== '';
  }

  start(): void {
    if (this.isUp) return;
    const { scheduler, faults, onCommit } = this.#parts;
    this.#starts += 1;
    const process = `hub/${this.#starts}`;
    this.#process = process;
    scheduler.spawn(process, 'start', async () => {
      const db = connect(this.sqlite, scheduler, faults, { onCommit });
      try {
        await migrate(db);
        await this.#listen(db);
      } catch (error) {
        // As a supervisor sees it: it ended, and is started again later.
        this.#parts.log.error('the hub could not start', { code: codeOf(error) });
        this.crash();
      }
    });
  }

  async #listen(db: Hub['db']): Promise<void> {
    const { scheduler, dice, vault, settings, log, clock, onStarted } = this.#parts;
    const ask = this.#parts.ask(() => hub);
    const ports = { vault, clock, random: dice.bytes, log, nudgeRotation: () => this.#jobs?.nudge(), ask };
    const { hub, certificate } = await assembleHub(db, { ...settings, listen: '127.0.0.1:7443' }, ports);
    this.#endpoint = createHeartbeatEndpoint(hub, () => () => true);
    this.hub = hub;
    this.time = hub.clock;
    onStarted(hub);
    scheduler.spawn(this.#process, 'jobs', () => {
      this.#jobs = runJobs(hub, clock, certificate);
      return new Promise(() => undefined);
    });
  }

  /** SIGTERM: its jobs end, and what it has counted is written down. `false`: nothing runs that could. */
  stop(): boolean {
    const jobs = this.#jobs;
    if (jobs === undefined || this.hub === undefined) return false;
    // As `main.ts` ends it: nobody is answered any more.
    this.hub = undefined;
    this.#endpoint = undefined;
    this.#parts.scheduler.spawn(this.#process, 'stop', async () => {
      for (let wait = 0; this.#open.size > 0 && wait < LONGEST_DRAIN; wait += 1) await this.clock.sleep(DRAIN_MS);
      await jobs.stop().catch((error: unknown) => this.#parts.onJobFailed(error));
      this.crash();
    });
    return true;
  }

  /** `kill -9`: what was committed stays, and nothing else. */
  crash(): void {
    if (!this.isUp) return;
    this.#parts.scheduler.kill(this.#process);
    this.#process = '';
    this.time = undefined;
    this.hub = undefined;
    this.#endpoint = undefined;
    this.#jobs = undefined;
    if (this.sqlite.inTransaction) this.sqlite.exec('rollback');
    for (const reply of this.#open) reply({ kind: 'failed', code: 'hub_unreachable' });
    this.#open.clear();
  }

  /** Handles a request as a task of its own; `host` is the one that it claims to be. */
  receive(request: Request, host: string | undefined, reply: Reply): void {
    const { hub } = this;
    const endpoint = this.#endpoint;
    if (hub === undefined || endpoint === undefined) {
      reply({ kind: 'failed', code: 'hub_unreachable' });
      return;
    }
    this.#open.add(reply);
    const end = (answer: TransportAnswer) => {
      this.#open.delete(reply);
      reply({ kind: 'answered', answer });
    };
    this.#parts.scheduler.spawn(
      this.#process,
      `${request.path} of ${request.from}`,
      () => handle(hub, endpoint, request, end),
      host,
    );
  }

  /** An act of an operator, as a task of its own. `false`: there is no hub to ask. */
  act(name: string, act: (hub: Hub) => Promise<void>): boolean {
    const { hub } = this;
    if (hub === undefined) return false;
    this.#parts.scheduler.spawn(this.#process, name, () => act(hub));
    return true;
  }
}

async function handle(
  hub: Hub,
  endpoint: ReturnType<typeof createHeartbeatEndpoint>,
  request: Request,
  end: (answer: TransportAnswer) => void,
): Promise<void> {
  if (request.path === '/v1/heartbeat') return throughEndpoint(endpoint, request, end);
  const at = { requestId: 'r', route: request.path };
  try {
    end(json(await route(hub, request)));
  } catch (error) {
    const { status, headers, body } = toErrorAnswer(hub.log, error, at);
    end({ status, headers, body: utf8(body) });
  }
}

function route(hub: Hub, request: Request): Promise<unknown> {
  const { path, body, from } = request;
  switch (path) {
    case '/v1/enrol':
      return enrolHost(hub, readJson(body) as Parameters<typeof enrolHost>[1], from);
    case '/v1/whoami':
      return whoAmI(hub, requestOf(request));
    case '/v1/trust-bundle':
      return Promise.resolve(hub.identity.bundle);
    default:
      return Promise.reject(new RollcallError('not_found'));
  }
}

/** The shipped endpoint, between a request and a response that are as much of node's as it uses. */
function throughEndpoint(
  endpoint: ReturnType<typeof createHeartbeatEndpoint>,
  from: Request,
  end: (answer: TransportAnswer) => void,
): Promise<void> {
  return new Promise((resolve) => {
    const on = (event: string, heard: (part?: Uint8Array) => void) => {
      if (event === 'data') heard(from.body);
      if (event === 'end') heard();
    };
    let head: { status: number; headers: Record<string, string> } = { status: 0, headers: {} };
    const response = {
      writeHead: (status: number, sent: Record<string, string>) => {
        const { 'content-length': _length, ...rest } = sent;
        head = { status, headers: rest };
      },
      end: (text: string) => {
        end({ ...head, body: utf8(text) });
        resolve();
      },
    };
    endpoint(Object.assign(requestOf(from), { on }), response as unknown as ServerResponse);
  });
}

/** As much of node's as is read. */
export function requestOf({ headers, tokens, from }: Pick<Request, 'headers' | 'tokens' | 'from'>): IncomingMessage {
  const rawHeaders = [...Object.entries(headers), ...tokens.map((token) => ['x-node-token', token])].flat();
  const known = tokens.length === 0 ? headers : { ...headers, 'x-node-token': tokens.join(', ') };
  return { headers: known, rawHeaders, socket: { remoteAddress: from } } as unknown as IncomingMessage;
}

function json(value: unknown): TransportAnswer {
  return {
    status: 200,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: utf8(JSON.stringify(value)),
  };
}

/** Of an error of ours or of the system; its name otherwise. */
export function codeOf(error: unknown): string {
  const { code, name } = error as { readonly code?: string; readonly name?: string };
  return code ?? name ?? 'unknown';
}
