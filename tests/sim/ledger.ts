/** What the simulator knows by itself about a run: who was given what, who said what, and which values ever were. No invariant asks the product for it. */
import type { StoreSnapshot } from './machines/store-snapshot.ts';
import { ownBearer, ownHeartbeatKey } from './own-derivation.ts';

/** An enrolment token that an operator was shown. */
export interface IssuedToken {
  readonly text: string;
  readonly host: string;
}

export interface Bearer {
  readonly version: number;
  /** The value that it was derived from: a restored hub may draw another one for the same version. */
  readonly master: Uint8Array;
  readonly life: number;
}

/** What the store said of one generation, since when. */
interface GenerationSpan {
  readonly sinceMs: number;
  readonly state: 'current' | 'previous' | 'destroyed';
  readonly verifyUntilMs: number | null;
}

export class Ledger {
  readonly tokens: IssuedToken[] = [];
  /** `host fingerprint`, said by an operator. */
  readonly approvals = new Set<string>();
  /** `host fingerprint` of first use that an operator accepted. */
  readonly firstUses = new Set<string>();
  /** `host fingerprint` of enrolments with a valid proof that reached the hub. */
  readonly enrolments = new Set<string>();
  /** `host life version` of heartbeats that reached the hub under a bearer that is one. */
  readonly presented = new Set<string>();
  /** `host life version step` of what such a heartbeat said that it holds. */
  readonly claimed = new Set<string>();
  /** What each step of a host says, by `host epoch step`; more than one thing only after a restore. */
  readonly issued = new Map<string, Set<string>>();
  /** Hosts of which someone else has had a key or a disk: nothing follows from their state. */
  readonly tainted = new Set<string>();
  /** Those of them of which a whole row was put back. */
  readonly putBack = new Set<string>();
  /** Every master that ever was in the store. */
  readonly masters = new Map<string, { readonly version: number; readonly bytes: Uint8Array }>();
  readonly #spans = new Map<number, GenerationSpan[]>();
  /** When each host was seen to be active in the store last; Infinity while it is. */
  readonly #activeUntil = new Map<string, number>();
  /** The same of each pin, by `host fingerprint`. */
  readonly #pinnedUntil = new Map<string, number>();
  /** The same of each life, by `host life`. */
  readonly #livedUntil = new Map<string, number>();
  readonly #bearers = new Map<string, string>();

  /** After each commit. */
  read(snapshot: StoreSnapshot, nowMs: number): void {
    for (const { version, master, state, verify_until } of snapshot.generations.values()) {
      if (master !== undefined) {
        this.masters.set(`${version} ${Buffer.from(master).toString('hex')}`, { version, bytes: master });
      }
      const spans = this.#spans.get(version) ?? [];
      this.#spans.set(version, spans);
      const last = spans.at(-1);
      if (last?.state !== state || last.verifyUntilMs !== verify_until) {
        spans.push({ sinceMs: nowMs, state, verifyUntilMs: verify_until });
      }
    }
    for (const { id, status } of snapshot.hosts.values()) {
      if (status === 'active') this.#activeUntil.set(id, Number.POSITIVE_INFINITY);
      else if (this.#activeUntil.get(id) === Number.POSITIVE_INFINITY) this.#activeUntil.set(id, nowMs);
    }
    noteUntil(
      this.#pinnedUntil,
      [...snapshot.pins].map(([host, fingerprint]) => `${host} ${fingerprint}`),
      nowMs,
    );
    noteUntil(
      this.#livedUntil,
      [...snapshot.hosts.values()].map(({ id, life }) => `${id} ${life}`),
      nowMs,
    );
    for (const { host, epoch, step, accept, present } of snapshot.assignments.values()) {
      const key = `${host} ${epoch} ${step}`;
      this.issued.set(key, (this.issued.get(key) ?? new Set()).add(`${accept} ${present}`));
    }
  }

  /** Whether this version verified at hub time `hubNowMs` by anything that the store said within the last `graceMs`. */
  wasLive(version: number, hubNowMs: number, nowMs: number, graceMs: number): boolean {
    const spans = this.#spans.get(version) ?? [];
    return spans.some(({ state, verifyUntilMs }, index) => {
      const endedMs = spans[index + 1]?.sinceMs ?? Number.POSITIVE_INFINITY;
      if (endedMs < nowMs - graceMs) return false;
      return state === 'current' || (state === 'previous' && verifyUntilMs !== null && hubNowMs < verifyUntilMs);
    });
  }

  /** Whether the store said within the last `graceMs` that the host is active. */
  wasActive(host: string, nowMs: number, graceMs: number): boolean {
    return (this.#activeUntil.get(host) ?? Number.NEGATIVE_INFINITY) >= nowMs - graceMs;
  }

  /** Whether the store said within the last `graceMs` that this is the host's pin. */
  wasPinned(host: string, fingerprint: string, nowMs: number, graceMs: number): boolean {
    return (this.#pinnedUntil.get(`${host} ${fingerprint}`) ?? Number.NEGATIVE_INFINITY) >= nowMs - graceMs;
  }

  /** Whether the store said within the last `graceMs` that this is the life of the host. */
  wasInLife(host: string, life: number, nowMs: number, graceMs: number): boolean {
    return (this.#livedUntil.get(`${host} ${life}`) ?? Number.NEGATIVE_INFINITY) >= nowMs - graceMs;
  }

  /** Which bearer of this host a header is; `undefined`: none that ever was. */
  identify(host: string, authorization: string | undefined, lives: readonly number[]): Bearer | undefined {
    for (const { version, bytes } of this.masters.values()) {
      for (const life of lives)
        if (authorization === `Bearer ${this.#bearer(version, bytes, host, life)}`)
          return { version, life, master: bytes };
    }
    return undefined;
  }

  bearerOf(master: { readonly version: number; readonly bytes: Uint8Array }, host: string, life: number): string {
    return this.#bearer(master.version, master.bytes, host, life);
  }

  #bearer(version: number, bytes: Uint8Array, host: string, life: number): string {
    const key = `${version} ${bytes[0]}${bytes[1]}${bytes[2]} ${host} ${life}`;
    const known = this.#bearers.get(key);
    if (known !== undefined) return known;
    const text = ownBearer(ownHeartbeatKey(bytes, host, life));
    this.#bearers.set(key, text);
    return text;
  }
}

/** What is said now is so until further notice; what was, and is said no more, was until now. */
function noteUntil(until: Map<string, number>, said: readonly string[], nowMs: number): void {
  const saidNow = new Set(said);
  for (const [key, untilMs] of until) {
    if (untilMs === Number.POSITIVE_INFINITY && !saidNow.has(key)) until.set(key, nowMs);
  }
  for (const key of saidNow) until.set(key, Number.POSITIVE_INFINITY);
}
