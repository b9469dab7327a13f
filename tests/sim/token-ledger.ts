/** What the simulator knows by itself of shared tokens: who was told what, who sent what to whom, and what verifiers answered. */
import type { AgentMachine } from './machines/agent-machine.ts';
import { isOver, type StoreSnapshot, type TokenRotationRow } from './machines/store-snapshot.ts';

/** In the place of a host: the hub itself. */
export const HUB = 'hub';

export interface KnownValue {
  readonly secret: string;
  readonly version: number;
}

/** A beat with counts that reached the hub, and was answered. */
export interface Report {
  readonly instance: string;
  readonly seq: number;
  readonly sentMs: number;
  readonly takenMs: number;
}

const KEPT = 24;

export class TokenLedger {
  /** Every value that ever was, by its text. */
  readonly values = new Map<string, KnownValue>();
  /**
   * `secret host`: it has proven a step, and was not let go since, by whatever name. What it is told, and what it takes, is bound to
   * the promise from then on.
   */
  readonly bound = new Set<string>();
  /** What each step of a host says, by `secret host epoch step`; more than one thing only after a restore. */
  readonly issued = new Map<string, Set<string>>();
  /** By rotation: when the old version is to end, and since when that is in the store. */
  readonly ends = new Map<string, KnownValue & { readonly narrowByMs: number; readonly sinceMs: number }>();
  /** `secret version`: given up by time; whoever presents it may be refused. */
  readonly #ended = new Set<string>();
  /** How far the hub's wall clock was set forward, and when. */
  readonly hubJumps: { readonly atMs: number; readonly byMs: number }[] = [];
  /** Hub time, while there is a hub. */
  hubNow: () => number | undefined = () => undefined;
  /** `verifier secret version`: when callers were let in with it. */
  readonly #hits = new Map<string, number[]>();
  readonly #reports = new Map<string, Report[]>();
  readonly #sent = new Map<string, number>();
  /** When a probe was last answered so, by `secret member what isTaken`; `what` is a version, or a value that nobody has. */
  readonly #asked = new Map<string, number>();
  /** By rotation: since when it is in the store. */
  readonly #began = new Map<string, number>();

  read(snapshot: StoreSnapshot, nowMs: number, tainted: ReadonlySet<string>): void {
    for (const { secret, version, text } of snapshot.tokenVersions.values())
      if (text !== undefined) this.values.set(text, { secret, version });
    for (const { id } of snapshot.tokenRotations.values()) if (!this.#began.has(id)) this.#began.set(id, nowMs);
    for (const { id, secret, from_version: version, narrow_by: narrowByMs } of snapshot.tokenRotations.values())
      if (narrowByMs !== null && this.ends.get(id)?.narrowByMs !== narrowByMs)
        this.ends.set(id, { secret, version, narrowByMs, sinceMs: nowMs });
    for (const { secret, host, epoch, step, acked_step, accept, present } of snapshot.tokenAssignments.values()) {
      const key = `${secret} ${host} ${epoch} ${step}`;
      this.issued.set(key, (this.issued.get(key) ?? new Set()).add(`${accept} ${present}`));
      if (acked_step === step) this.bound.add(`${secret} ${host}`);
    }
    for (const key of this.bound) {
      const [secret = '', host = ''] = key.split(' ');
      const isCutOff = !hasComeAlong(snapshot, secret, host) && this.#isPastEnd(snapshot, secret);
      if (isCutOff || isLetGo(snapshot, secret, host) || tainted.has(host)) this.bound.delete(key);
    }
  }

  /** Nobody was waited for: who has not come along is cut off, as a caller and as a verifier. */
  #isPastEnd(snapshot: StoreSnapshot, secret: string): boolean {
    const rotation = snapshot.tokenRotations.get(secret);
    return (
      rotation !== undefined && rotation.narrow_by !== null && this.hasEnded({ secret, version: rotation.from_version })
    );
  }

  isBound(secret: string, host: string): boolean {
    return this.bound.has(`${secret} ${host}`);
  }

  hasEnded({ secret, version }: KnownValue): boolean {
    const nowMs = this.hubNow() ?? Number.NEGATIVE_INFINITY;
    for (const end of this.ends.values()) if (nowMs >= end.narrowByMs) this.#ended.add(`${end.secret} ${end.version}`);
    return this.#ended.has(`${secret} ${version}`);
  }

  hubJumpsMs(sinceMs: number): number {
    return this.hubJumps.reduce((sum, { atMs, byMs }) => (atMs >= sinceMs ? sum + byMs : sum), 0);
  }

  noteHit(verifier: string, { secret, version }: KnownValue, nowMs: number): void {
    append(this.#hits, `${verifier} ${secret} ${version}`, nowMs);
  }

  hits(verifier: string, secret: string, version: number): readonly number[] {
    return this.#hits.get(`${verifier} ${secret} ${version}`) ?? [];
  }

  noteReport(host: string, report: Report): void {
    const reports = append(this.#reports, host, report);
    if (reports.length > KEPT) reports.shift();
  }

  noteSent(host: string, sentMs: number): void {
    this.#sent.set(host, sentMs);
  }

  /** When its last beat left, also if no answer to it has come: the hub counts what it says before it answers. */
  lastSent(host: string): number | undefined {
    return this.#sent.get(host);
  }

  /** Those that the hub may go by at this time: the newest one of the newest start, and what came late after it. */
  reportsAt(host: string, nowMs: number): readonly Report[] {
    const all = (this.#reports.get(host) ?? []).filter(({ takenMs }) => takenMs <= nowMs);
    let newest: Report | undefined;
    let after: Report[] = [];
    for (const report of all) {
      const isBehind = newest !== undefined && report.sentMs < newest.sentMs;
      if (!isBehind) {
        newest = report;
        after = [];
      } else after.push(report);
    }
    return newest === undefined ? [] : [newest, ...after];
  }

  noteAsked(secret: string, member: string, what: number | 'random', isTaken: boolean, nowMs: number): void {
    this.#asked.set(`${secret} ${member} ${what} ${isTaken}`, nowMs);
  }

  /** Whether it answered so since the rotation began. What it answered later the hub may not know yet. */
  wasAnswered({ id, secret }: TokenRotationRow, member: string, what: number | 'random', isTaken: boolean): boolean {
    const atMs = this.#asked.get(`${secret} ${member} ${what} ${isTaken}`);
    return atMs !== undefined && atMs >= (this.#began.get(id) ?? 0);
  }
}

/** What a program on this host reads as the token to present. */
export function toldAt(machine: AgentMachine | undefined, secret: string): string | undefined {
  return machine?.told.get(secret);
}

export function holds(snapshot: StoreSnapshot, secret: string, host: string): boolean {
  const holders = snapshot.holders.get(secret);
  return holders !== undefined && (holders.has(host) || holders.has('*'));
}

/** Named with `--leave` in a rotation that is not long over; or no member any more. */
function isLetGo(snapshot: StoreSnapshot, secret: string, host: string): boolean {
  const status = snapshot.hosts.get(host)?.status;
  if (status === undefined || status === 'removed' || status === 'evicted' || !holds(snapshot, secret, host))
    return true;
  return [...snapshot.tokenRotations.values()].some(
    (rotation) =>
      rotation.secret === secret &&
      rotation.left.includes(host) &&
      !(isOver(rotation) && hasComeAlong(snapshot, secret, host)),
  );
}

function hasComeAlong(snapshot: StoreSnapshot, secret: string, host: string): boolean {
  const assignment = snapshot.tokenAssignments.get(`${secret} ${host}`);
  return assignment !== undefined && assignment.acked_step === assignment.step;
}

function append<T>(lists: Map<string, T[]>, key: string, item: T): T[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  list.push(item);
  return list;
}
