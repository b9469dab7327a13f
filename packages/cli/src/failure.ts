/** An error as a command reports it: `code: message`, facts, a hint, and the exit code of its row (design 8). */
import { type ErrorDetails, errorTable, isRollcallError, RollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import { encodeTime } from '@rollcall/core/time';
import { remoteRefusal } from './client.ts';
import { formatInstant, formatSpan } from './output/age.ts';
import { formatFields, type View, wrap } from './output/page.ts';
import { printable } from './output/printable.ts';
import type { Cell } from './output/table.ts';

export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly details: ErrorDetails;
  readonly exit: 1 | 2 | 3;
}

/** What is not a `RollcallError` is a fault of this program: its text may hold anything, so it is not repeated. */
export function describeFailure(thrown: unknown): Failure {
  const error = isRollcallError(thrown) ? thrown : new RollcallError('internal', {}, { cause: thrown });
  const row = errorTable[error.code];
  const remote = remoteRefusal(error);
  const { hint, reason, ...details } = error.details;
  return {
    code: remote?.code ?? error.code,
    message: withReason(remote?.title ?? row.text, reason),
    hint: typeof hint === 'string' ? hint : remote?.hint || row.hint,
    details,
    exit: row.exit,
  };
}

export function failureJson(failure: Failure): { code: string; message: string; hint: string; details: ErrorDetails } {
  const { code, message, hint, details } = failure;
  return { code, message, hint, details };
}

/** For standard error: the line that is quoted in a ticket, and what to do. */
export function formatFailure(failure: Failure, view: View, parts: { readonly details: boolean }): string[] {
  const facts = parts.details ? detailFields(failure, view) : [];
  return [...headline(failure, view), ...formatFields([...facts, ['hint', failure.hint]], view)];
}

/** For standard output, where what is wrong *is* the output (exit 3). */
export function formatBlocked(failure: Failure, view: View): string[] {
  const facts = detailFields(failure, view);
  return [
    ...wrap(failure.message, view.width).map(view.style.warn),
    ...(facts.length === 0 ? [] : formatFields(facts, view)),
  ];
}

/** The code stands first on its line, so that it is found; what is long goes on below, set in. */
function headline({ code, message, exit }: Failure, view: View): string[] {
  const paint = exit === 3 ? view.style.warn : view.style.bad;
  const name = printable(code);
  const [first = '', ...rest] = wrap(`${name}: ${message}`, view.width - 2);
  return [`${paint(name)}${first.slice(name.length)}`, ...rest.map((line) => `  ${line}`)];
}

function detailFields(failure: Failure, view: View): (readonly [string, Cell])[] {
  return Object.entries(failure.details).flatMap(([name, value]): (readonly [string, Cell])[] => {
    if (Array.isArray(value) && value.length === 0) return [];
    if (name === 'problems' && Array.isArray(value)) return problemFields(value as readonly string[]);
    return typeof value === 'number' && name.endsWith('Ms')
      ? [[printable(name.slice(0, -'Ms'.length)), timeText(value, view.nowMs)]]
      : [[printable(name), asText(value)]];
  });
}

/** Sentences, each with its place: one to a line. */
function problemFields(problems: readonly string[]): (readonly [string, Cell])[] {
  const shown = problems
    .slice(0, limits.outputListRows)
    .map((problem, at) => [at === 0 ? 'problems' : '', problem] as const);
  const more = problems.length - shown.length;
  return more > 0 ? [...shown, ['', `… and ${more} more; --json has all`]] : shown;
}

/** Of whom the failure speaks, for a page that shows what it is about in other words. */
export function formatNamed(error: RollcallError, view: View): string[] {
  const { hosts } = error.details;
  return Array.isArray(hosts) && hosts.length > 0 ? formatFields([['hosts', asText(hosts)]], view) : [];
}

/** A few names are read; a list of hundreds is for --json. */
function asText(value: ErrorDetails[string]): string {
  if (typeof value !== 'object' || value === null) return String(value);
  const more = value.length - limits.namesInSentence;
  const shown = value.slice(0, limits.namesInSentence).join(', ');
  return more > 0 ? `${shown} … and ${more} more; --json has all` : shown;
}

/** An instant is large, a span is small: there is nothing between 3 years and 1973. */
function timeText(ms: number, nowMs: number): string {
  return ms > LONGEST_SPAN_MS ? formatInstant(encodeTime(ms), nowMs) : formatSpan(ms);
}

const LONGEST_SPAN_MS = 100_000_000_000;

/** `The hub cannot be reached: there is no such socket.` */
function withReason(text: string, reason: unknown): string {
  return typeof reason === 'string' ? `${text.replace(/\.$/, '')}: ${reason}.` : text;
}
