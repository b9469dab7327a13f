/** Fleets of any size for the gates: one in which nothing is lacking, and one in which every member lacks something. */
import type { Holder, Observations, Phase, RollHost, Rotation } from '@rollcall/core/rotation';

export const NOW_MS = 1_800_000_000_000;
export const POLICY = { quietWindowMs: 86_400_000, reportedWithinMs: 60_000 } as const;

export type Kind = 'token' | 'master';
export type State = 'open' | 'closed';

/** The old version is 1 and the new one 2; some members were left. */
export function rotationIn(kind: Kind, phase: Phase, members: number): Rotation {
  return {
    id: 'r-1',
    secret: kind === 'master' ? 'master' : 'fleet',
    from: 1,
    to: 2,
    phase,
    reason: 'planned',
    startedAtMs: NOW_MS - 2 * POLICY.quietWindowMs,
    phaseStartedAtMs: NOW_MS - POLICY.quietWindowMs,
    left: Array.from({ length: members / 10 }, (_, index) => nameOf(index * 10)),
    pausedBecause: null,
    canary: null,
  };
}

/** Made for the phase: what is open in one is closed in another. */
export function observe(kind: Kind, phase: Phase, state: State, members: number): Observations {
  const isOpen = state === 'open';
  const hosts = Array.from({ length: members }, (_, index) => hostOf(nameOf(index), phase, isOpen));
  const base = { replicas: [{ id: 'hub', holds: [1, 2], sinceMs: 0 }], references: null, verifyUntilMs: null };
  if (kind === 'master') return { ...base, hosts, holders: [] };
  return { ...base, hosts: [], holders: hosts.map((host) => holderOf(host, phase, isOpen)) };
}

function nameOf(index: number): string {
  // In the order in which a registry gives its rows.
  return `agent-${index.toString().padStart(6, '0')}`;
}

function hostOf(id: string, phase: Phase, isOpen: boolean): RollHost {
  return {
    id,
    status: 'active',
    fresh: true,
    lastSeenAtMs: NOW_MS - 1_000,
    pin: isOpen ? 'usable' : 'none',
    unusableKey: false,
    pendingPins: 0,
    holdsMaster: false,
    provenVersion: isOpen ? stayingIn(phase) : 3 - stayingIn(phase),
    presentingOld: false,
    switched: isOpen === (stayingIn(phase) === 2),
    narrowed: isOpen,
    refusal: null,
    unreadable: [],
  };
}

function holderOf(host: RollHost, phase: Phase, isOpen: boolean): Holder {
  const staying = stayingIn(phase);
  const takes = phase === 'narrowing' || phase === 'withdrawing' ? [staying] : [1, 2];
  const refuses = takes.length === 1 ? [3 - staying] : [];
  const source = { address: '127.0.0.9', userAgent: 'curl/8', route: '/v1/beat', host: null, atMs: NOW_MS - 5 };
  return {
    ...host,
    kind: 'host',
    verifies: true,
    isClosed: false,
    presents: true,
    isReleased: false,
    probedBy: 'hub',
    probe: { takes: isOpen ? takes : [], refuses: isOpen ? refuses : [], randomRefused: true },
    quiet: { flatSinceMs: NOW_MS - (isOpen ? 2 : 0) * POLICY.quietWindowMs, reportedAtMs: NOW_MS - 1_000 },
    sources: isOpen ? [] : [source],
    sinks: [{ name: 'nginx', isCurrent: isOpen, isTold: isOpen, problem: null }],
  };
}

function stayingIn(phase: Phase): number {
  return phase === 'reverting' || phase === 'withdrawing' ? 1 : 2;
}
