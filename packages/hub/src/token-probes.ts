/** What the hub itself found at verifiers of shared tokens, in memory: after a restart it looks again (design 5, Probes). */
import { encodeBase64url } from '@rollcall/core/bytes';
import { backoffMs } from '@rollcall/core/liveness';
import type { Random } from '@rollcall/core/ports';
import type { Probe } from '@rollcall/core/rotation';

/** One question to a verifier, over the real listener. Rejects when there was no answer. */
export interface AskVerifier {
  /** This replica: its own fleet listener. As a `caller` does, or marked as what it is, where no rung is asked for. */
  replica(token: string, as?: 'probe' | 'caller'): Promise<'taken' | 'refused'>;
  /** A push host, at its registered address, beside a command credential of the hub. */
  host(target: ProbedHost, token: string): Promise<'taken' | 'refused'>;
}

export interface ProbedHost {
  readonly host: string;
  readonly address: string;
}

export interface TokenProbes {
  /** Sent with every probe of this replica, and known to no other process: by it a probe is told from a caller. */
  readonly mark: string;
  /** What was found at a member for exactly this moment of the walk; `null`: nothing. */
  find(secret: string, member: string, moment: string): Probe | null;
  write(secret: string, member: string, moment: string, probe: Probe): void;
  /** Of a token whose rotation has ended. */
  forget(secret: string): void;
  /** It did not say what is waited for: it is asked ever more seldom for this moment. */
  noteFailure(secret: string, member: string, moment: string, nowMonotonicMs: number): void;
  /** Monotonic; in the past while nothing failed. */
  askAgainAt(secret: string, member: string, moment: string): number;
}

export function createTokenProbes(random: Random): TokenProbes {
  const held = new Map<string, { readonly moment: string; readonly probe: Probe }>();
  const failed = new Map<string, { readonly moment: string; readonly times: number; readonly againAtMs: number }>();
  return {
    mark: encodeBase64url(random(32)),
    find: (secret, member, moment) => {
      const found = held.get(`${secret} ${member}`);
      return found?.moment === moment ? found.probe : null;
    },
    write: (secret, member, moment, probe) => void held.set(`${secret} ${member}`, { moment, probe }),
    forget: (secret) => {
      for (const kept of [held, failed]) {
        for (const of of kept.keys()) if (of.startsWith(`${secret} `)) kept.delete(of);
      }
    },
    noteFailure: (secret, member, moment, nowMs) => {
      const before = failed.get(`${secret} ${member}`);
      const times = before?.moment === moment ? before.times + 1 : 1;
      failed.set(`${secret} ${member}`, { moment, times, againAtMs: nowMs + backoffMs(times - 1, random) });
    },
    askAgainAt: (secret, member, moment) => {
      const before = failed.get(`${secret} ${member}`);
      return before?.moment === moment ? before.againAtMs : Number.NEGATIVE_INFINITY;
    },
  };
}
