/**
 * What a rotation turns. The walk is one (`walk.ts`); whom it looks at, what it hands out, and what ends with it is each
 * subject's own.
 */
import type { Auto, Gate, Rotation, RotationReason, Wave } from '@rollcall/core/rotation';
import { CLOSING } from '@rollcall/core/rungs';
import type { Hub } from '../../hub.ts';
import { MASTER } from '../../live-generations.ts';
import type { AuditEntry } from '../../store/audit.ts';
import type { Db, Tx } from '../../store/schema.ts';
import { closingSubject } from '../rungs/closing-subject.ts';
import { tokenSubject } from '../token/token-subject.ts';
import { masterSubject } from './master-subject.ts';

export type AuditDetails = NonNullable<AuditEntry['details']>;

export interface StartInput {
  readonly secret: string;
  readonly reason: RotationReason;
  readonly leave: readonly string[];
  /** When the old version is refused, whoever presents it; `null`: as its gates say, or the master's window. */
  readonly narrowByMs: number | null;
  readonly auto?: Auto;
  /** How many callers switch at a time. */
  readonly batch?: number;
}

export interface CutInput {
  readonly untilMs: number;
  readonly leave: readonly string[];
}

/** A rotation as it is to be stored, and what its audit record says of it. */
export interface Decided {
  readonly rotation: Rotation;
  readonly details: AuditDetails;
  /** Of a start: the id of the rotation that ends with it. */
  readonly supersedes?: string | null;
}

/** A rotation and everything that its decisions look at, read at the source in one pass. */
export interface WalkView {
  readonly rotation: Rotation;
  /** Of an ended rotation: open, with nothing to wait for. */
  readonly gate: Gate;
}

export interface Subject<View extends WalkView = WalkView> {
  /** Stores a new rotation, with the new version durable, encrypted, before anything uses it (I11). */
  start(hub: Hub, tx: Tx, latest: Rotation | null, input: StartInput): Promise<Decided>;
  /** Asks over the network for what a gate depends on. How long that takes is up to whoever is asked: never in a transaction, nor in a step. */
  observe(hub: Hub, rotation: Rotation, signal: AbortSignal): Promise<void>;
  view(hub: Hub, db: Db, rotation: Rotation): Promise<View>;
  /** Why nobody is waited for any more before narrowing (I7); `null` while somebody is. */
  mustNarrow(view: View, nowMs: number): string | null;
  planWave(view: View, nowMs: number): Wave;
  /** Whether an open gate is gone through without an operator. */
  goesOnByItself(view: View): boolean;
  /** Gives those their step whose turn has come. */
  switchMembers(hub: Hub, tx: Tx, view: View, members: readonly string[]): Promise<void>;
  /** Hands out what the phase `after`, which is stored already, changes, and destroys what ends with it. */
  enter(hub: Hub, tx: Tx, view: View, after: Rotation): Promise<void>;
  /** For the record of a step: who was not waited for. */
  evidence(view: View): AuditDetails;
  /** Whom `leave` may name. */
  members(view: View): readonly string[];
  /** An earlier end of the old version. */
  cut(hub: Hub, tx: Tx, view: View, input: CutInput): Promise<Decided>;
}

export function subjectOf(secret: string): Subject {
  // Each is given back only what its own `view` made.
  if (secret === MASTER) return masterSubject as Subject;
  return (secret.startsWith(CLOSING) ? closingSubject : tokenSubject) as Subject;
}
