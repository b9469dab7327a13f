/**
 * The host's own listener: opened and closed as `decideListener` says, counted and probed. Everything is decided elsewhere; here are
 * the sockets, the timer, and what is remembered between two decisions.
 */
import { hash, timingSafeEqual } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { encodeBase64url } from '@rollcall/core/bytes';
import { errorTable, isRollcallError, RollcallError } from '@rollcall/core/errors';
import type { JsonObject, JsonValue } from '@rollcall/core/json';
import { limits } from '@rollcall/core/limits';
import type { Clock, Log, Random } from '@rollcall/core/ports';
import {
  type AgentProbeAnswer,
  type ListenAddress,
  type ListenerStatus,
  ownAddress,
  type SinkReport,
} from '@rollcall/wire';
import type { AgentState, BeatReports } from '../agent-state.ts';
import { describeHost } from '../agent-status.ts';
import { type Acceptance, createAcceptance } from '../listener/acceptance.ts';
import { decideListener, type ListenerDecision } from '../listener/decide-listener.ts';
import { createProbes, type ProbeListener } from '../listener/probes.ts';
import { createTokenCounters, type TokenCounters } from '../listener/token-counters.ts';
import type { ReportsPort } from '../loop.ts';
import type { ListenerCertificate } from '../state/listener-keys.ts';
import { type AnsweredCall, createHostHandler, openTlsHostServer, type TlsHostServer } from './host-server.ts';
import { askOwnListener } from './probe-request.ts';

/** What is there of the network: for a simulator, something else. */
export interface HostSockets {
  readonly handler: typeof createHostHandler;
  readonly open: typeof openTlsHostServer;
  readonly ask: typeof askOwnListener;
}

const systemSockets: HostSockets = { handler: createHostHandler, open: openTlsHostServer, ask: askOwnListener };

export interface HostListenerPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Milliseconds for which the machine was suspended since some time; rises with each suspension. */
  readonly suspendedMs: () => number;
  readonly sockets?: HostSockets;
}

export interface HostListenerOptions {
  readonly listen?: ListenAddress;
  readonly version: string;
  /** What the agent before this one has counted, where it ended cleanly. */
  readonly keptCounters?: JsonValue;
  readonly sinks?: () => readonly SinkReport[];
}

export interface HostListener {
  /** With each new state of the agent. */
  update(state: AgentState): void;
  /** For a socket that needs no certificate. */
  readonly handle: RequestListener;
  readonly reports: ReportsPort;
  status(): ListenerStatus;
  /** Resolves when it is open or closed as the last state says. */
  settled(): Promise<void>;
  /** At once. Throws why there is nothing to probe. */
  probe(): Promise<AgentProbeAnswer>;
  /** Ends it; then nothing is counted any more, and this is what was. */
  close(): Promise<JsonObject>;
}

export function createHostListener(
  ports: HostListenerPorts,
  initial: AgentState,
  { listen, version, keptCounters, sinks = () => [] }: HostListenerOptions,
): HostListener {
  const { clock, random, log, suspendedMs, sockets = systemSockets } = ports;
  const counters = countersFrom(ports, keptCounters);
  const nonce = encodeBase64url(random(NONCE_BYTES));
  const nonceDigest = digestOf(nonce);
  let state = initial;
  let acceptance: Acceptance = createAcceptance(state.durable.assignments);
  let confirmedAtSuspendedMs = 0;
  let opened: (TlsHostServer & { readonly certificate: ListenerCertificate }) | undefined;
  let problem: ListenerStatus['reason'] = null;
  let work: Promise<void> = Promise.resolve();
  let isClosing = false;

  const view = () => ({
    host: state.durable.host,
    version,
    acceptance,
    isOwnProbe: (text: string) => timingSafeEqual(digestOf(text), nonceDigest),
    describeHost: () => describeHost(state, status()),
    describeSinks: sinks,
  });
  const onAnswer = ({ answer: { caller, route }, address, userAgent }: AnsweredCall) => {
    if (caller === undefined || caller.isProbe) return;
    const declaredHost = caller.host ?? caller.declaredHost;
    counters.note(caller.tokens, { atMs: clock.now(), address, userAgent, route, declaredHost });
  };
  const handleTcp = sockets.handler(() => {
    // A machine that was suspended goes on in the middle of anything: asked before each answer, not only once a second.
    if (!isClosing && opened !== undefined && decide().open) return view();
    void check();
    return undefined;
  }, onAnswer);
  // Nobody is answered whose token is not counted: what is written down at the end is what was answered.
  const handleLocal = sockets.handler(() => (isClosing ? undefined : view()), onAnswer);

  const decide = (): ListenerDecision => {
    const { assignments, listener } = state.durable;
    const facts = {
      listen: listen?.text,
      assignments,
      isEmpty: acceptance.isEmpty,
      certificate: listener?.current,
      confirmation: state.confirmation,
      hasResumed: suspendedMs() - confirmedAtSuspendedMs > limits.suspensionMs,
      isOpen: opened !== undefined,
      isTaking: state.doing.kind === 'persisting',
    };
    return decideListener(facts, clock.monotonic());
  };
  const status = (): ListenerStatus => ({
    open: opened !== undefined,
    address: listen === undefined ? null : (opened?.address ?? listen).text,
    reason: opened === undefined ? problem : null,
  });

  /** One after the other: what is opened is known before it is closed. */
  const check = (): Promise<void> => {
    work = work.then(settle).catch((error: unknown) => {
      log.error('the listener could not be opened or closed', { cause: nameOf(error) });
    });
    return work;
  };
  const settle = async (): Promise<void> => {
    const decision = decide();
    const certificate = state.durable.listener?.current;
    if (isClosing || !decision.open || certificate === undefined || listen === undefined) {
      const closing = opened;
      opened = undefined;
      await closing?.close();
      if (!decision.open) say(decision.reason, closing !== undefined);
      return;
    }
    if (opened === undefined) await open(listen, certificate);
    else if (opened.certificate !== certificate) {
      opened.certify(certificate);
      opened = { ...opened, certificate };
    }
    probes.start();
  };
  const open = async (address: ListenAddress, certificate: ListenerCertificate): Promise<void> => {
    try {
      opened = { ...(await sockets.open(address, certificate, handleTcp)), certificate };
      problem = null;
      log.info('the listener is open', { address: opened.address.text });
    } catch (error) {
      say('listen_failed', false, (error as { readonly code?: string }).code);
    }
  };
  /** Each reason once. */
  const say = (reason: NonNullable<ListenerDecisionReason>, wasOpen: boolean, cause?: string): void => {
    if (reason === problem && !wasOpen) return;
    problem = reason;
    if (reason === 'listener_not_configured') return;
    const fields = { code: reason, hint: errorTable[reason].hint, ...(cause === undefined ? {} : { cause }) };
    log.warn(wasOpen ? 'the listener was closed' : errorTable[reason].text, fields);
  };

  const news = createNews();
  const target: ProbeListener = {
    ask: () => {
      if (opened === undefined) return undefined;
      const leaf = opened.certificate.chain[0] ?? new Uint8Array();
      const at = { address: ownAddress(opened.address), leaf, nonce };
      return (token) => sockets.ask(at, token);
    },
    onReport: news.tell,
  };
  const probes = createProbes({ clock, random, log }, target);

  counters.hold(acceptance.tokens);
  // Without a listener there is nothing to probe, and no reason to remember what was dropped.
  if (listen !== undefined) probes.hold(state.durable.assignments);
  let stopTimer = () => {};
  const tick = (): void => {
    void check();
    stopTimer = clock.after(limits.listenerCheckMs, tick);
  };
  if (listen !== undefined) tick();
  else problem = 'listener_not_configured';

  const reports: ReportsPort = {
    take: (): BeatReports => {
      news.wake();
      // Also while it is closed: it may open before the next beat, and whoever takes tokens is asked before callers switch.
      const address = (opened?.address ?? listen)?.text;
      const tokens = counters.reports();
      const found = probes.reports();
      return {
        ...(address === undefined ? {} : { listener: { address, open: opened !== undefined } }),
        ...(tokens.length === 0 ? {} : { tokens: [...tokens] }),
        ...(found.length === 0 ? {} : { probes: [...found] }),
      };
    },
    taken: ({ tokens = [] }) => counters.reported(tokens),
    news: news.wait,
  };

  return {
    update(next) {
      const before = state;
      state = next;
      if (next.confirmation !== before.confirmation) confirmedAtSuspendedMs = suspendedMs();
      if (next.durable.assignments !== before.durable.assignments) {
        acceptance = createAcceptance(next.durable.assignments);
        counters.hold(acceptance.tokens);
        if (listen !== undefined) probes.hold(next.durable.assignments);
      }
      const isSame =
        next.durable === before.durable &&
        next.confirmation === before.confirmation &&
        next.doing.kind === before.doing.kind;
      if (listen !== undefined && !isSame) void check();
    },
    handle: handleLocal,
    reports,
    status,
    settled: () => work,
    async probe() {
      await check();
      if (opened === undefined) throw new RollcallError(isReason(problem) ? problem : 'listener_not_configured');
      const address = ownAddress(opened.address).text;
      return { address, probes: [...(await probes.now(state.durable.assignments))] };
    },
    async close() {
      isClosing = true;
      stopTimer();
      await check();
      return counters.encode();
    },
  };
}

/** What is no list of counts is as good as none. */
function countersFrom({ random, log }: HostListenerPorts, kept: JsonValue | undefined): TokenCounters {
  try {
    return createTokenCounters(random, kept);
  } catch (error) {
    log.warn('what was counted before this start cannot be read; the count begins anew', { code: nameOf(error) });
    return createTokenCounters(random);
  }
}

/** Wakes who waits for it, once; and told while nobody waits, it lets the next one not wait at all. */
function createNews() {
  let waiting: AbortController | undefined;
  let isTold = false;
  return {
    tell: () => {
      if (waiting === undefined) isTold = true;
      waiting?.abort();
      waiting = undefined;
    },
    wait: (): AbortSignal => {
      const wasTold = isTold;
      isTold = false;
      waiting = wasTold ? undefined : new AbortController();
      return waiting?.signal ?? AbortSignal.abort();
    },
    /** Who waited does so no more. */
    wake: () => {
      waiting = undefined;
    },
  };
}

type ListenerDecisionReason = Extract<ListenerDecision, { open: false }>['reason'] | 'listen_failed';

const NONCE_BYTES = 32;

function isReason(problem: string | null): problem is ListenerDecisionReason {
  return problem !== null && Object.hasOwn(errorTable, problem);
}

function digestOf(text: string): Buffer {
  return Buffer.from(hash('sha256', text, 'binary'), 'latin1');
}

/** The kind alone: a message may quote what it was about. */
function nameOf(error: unknown): string {
  if (isRollcallError(error)) return error.code;
  return error instanceof Error ? ((error as { readonly code?: string }).code ?? error.name) : 'unknown';
}
