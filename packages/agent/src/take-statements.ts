/** What the hub states in the open, signed: the keys of its own TLS, and which generations are in force (design 3, 4, 11). */
import { equalBytes } from '@rollcall/core/bytes';
import { isRollcallError } from '@rollcall/core/errors';
import { type JsonObject, type JsonValue, readArray, readBytes, readInteger, readMember } from '@rollcall/core/json';
import { limits } from '@rollcall/core/limits';
import { type VerifiedStatement, verifyStatement } from '@rollcall/core/seal';
import type { LogAction } from './agent-state.ts';
import type { Confirmation } from './listener/decide-listener.ts';
import type { DurableState, StatementTime } from './state/durable-state.ts';

export interface TakenStatements {
  /** The same object when nothing is worth a write. */
  readonly next: DurableState;
  /** Times that were seen, whether written or not. */
  readonly seen: ReadonlyMap<string, StatementTime>;
  /** What the hub says now that it verifies; absent when these statements say nothing new of it. */
  readonly inForce?: GenerationsInForce;
  readonly logs: readonly LogAction[];
}

/** Of the master. */
export type GenerationsInForce = Omit<Confirmation, 'monotonicMs'>;

/** `isConfirmed`: whether this start has been told before which generations are in force. */
export function takeStatements(
  durable: DurableState,
  seenBefore: ReadonlyMap<string, StatementTime>,
  statements: readonly JsonValue[],
  isConfirmed = false,
): TakenStatements {
  let next = durable;
  let seen = seenBefore;
  let inForce: GenerationsInForce | undefined;
  const logs: LogAction[] = [];
  for (const json of statements) {
    try {
      const statement = verifyStatement(json, { hubRoot: next.hubRoot, highestSerial: next.hubKeySerial });
      const take = kinds.get(statement.kind);
      const last = seen.get(statement.kind);
      // One that was taken right before a restart is still the hub's word after it: it signs once a minute.
      const isFirst = statement.kind === IN_FORCE && !isConfirmed && isSame(statement, last);
      if (take === undefined || !(isLater(statement, last) || isFirst)) continue;
      const taken = take(next, statement.body);
      if (statement.kind === IN_FORCE) inForce = readInForce(statement);
      seen = new Map(seen).set(statement.kind, { epoch: statement.epoch, timeMs: statement.timeMs });
      next = withSerial(taken, statement.hubKeySerial);
    } catch (error) {
      if (!isRollcallError(error)) throw error;
      logs.push({
        type: 'log',
        level: 'warn',
        message: 'a statement of the hub was refused',
        fields: { code: error.code },
      });
    }
  }
  const isWorthAWrite = next !== durable || isAhead(seen, durable.statements);
  return {
    next: isWorthAWrite ? { ...next, statements: seen } : durable,
    seen,
    ...(inForce === undefined ? {} : { inForce }),
    logs,
  };
}

const IN_FORCE = 'generation-in-force';

/** A kind that is not here says nothing to this agent. Each returns the same state when nothing changed. */
const kinds: ReadonlyMap<string, (durable: DurableState, body: JsonObject) => DurableState> = new Map([
  ['tls-spki', takeTlsSpki],
  // Remembered in memory alone: after a start it has to be heard anew.
  [IN_FORCE, (durable: DurableState) => durable],
]);

/** `{generations: [N, …], verifyWindowMs?}`: what the hub verifies at the time of the statement. */
function readInForce({ body, timeMs }: VerifiedStatement): GenerationsInForce {
  const generations = readArray(readMember(body, 'generations'), 'generations', limits.acceptedVersions).map((item) =>
    readInteger(item, 'generations'),
  );
  const windowMs = readMember(body, 'verifyWindowMs');
  return {
    generations,
    hubTimeMs: timeMs,
    ...(windowMs === undefined ? {} : { windowMs: readInteger(windowMs, 'verifyWindowMs') }),
  };
}

/** The hub's TLS key of now and the one that follows. They stand in for dates, and for nothing else. */
function takeTlsSpki(durable: DurableState, body: JsonObject): DurableState {
  const upcoming = readMember(body, 'next');
  const knownSpki = [
    readBytes(readMember(body, 'current'), 'current', SHA256_BYTES),
    ...(upcoming === undefined || upcoming === null ? [] : [readBytes(upcoming, 'next', SHA256_BYTES)]),
  ];
  const isSame =
    knownSpki.length === durable.knownSpki.length &&
    knownSpki.every((spki, index) => equalBytes(spki, durable.knownSpki[index] as Uint8Array));
  return isSame ? durable : { ...durable, knownSpki };
}

const SHA256_BYTES = 32;

/** Rising only, so that a recorded one changes nothing. A restore of the hub raises the epoch, and may set its clock right. */
function isLater({ epoch, timeMs }: VerifiedStatement, last: StatementTime | undefined): boolean {
  return last === undefined || epoch > last.epoch || (epoch === last.epoch && timeMs > last.timeMs);
}

function isSame({ epoch, timeMs }: VerifiedStatement, last: StatementTime | undefined): boolean {
  return last !== undefined && epoch === last.epoch && timeMs === last.timeMs;
}

function withSerial(durable: DurableState, serial: number): DurableState {
  return serial > durable.hubKeySerial ? { ...durable, hubKeySerial: serial } : durable;
}

/** Whether the written times lag so far behind that a recording of between could be taken after a restart. */
function isAhead(seen: ReadonlyMap<string, StatementTime>, written: ReadonlyMap<string, StatementTime>): boolean {
  return [...seen].some(([kind, { epoch, timeMs }]) => {
    const last = written.get(kind);
    return last === undefined || epoch > last.epoch || timeMs - last.timeMs >= limits.statementTimeKeptMs;
  });
}
