/** Rotations for a person: where it is, what holds it up, what to do next. */
import { limits } from '@rollcall/core/limits';
import { keepFairly, type Phase, phases } from '@rollcall/core/rotation';
import { rungOfClosing } from '@rollcall/core/rungs';
import { type BlockerRow, networkOf, type RotationRow, type RotationStatus } from '@rollcall/wire';
import { formatAge, formatClock, formatInstant } from './age.ts';
import { countOf, formatFields, indented, type View } from './page.ts';
import { printable } from './printable.ts';
import { type Cell, formatTable } from './table.ts';

/** The walk to the end, as it is drawn; a phase of the way back is named instead. */
export const walk: readonly Phase[] = walkFrom('planned');

/** A phase that this version does not know is taken for a running one. */
export function isEnded(phase: Phase): boolean {
  return Object.hasOwn(phases, phase) && phases[phase].next === null;
}

export function formatRotation(status: RotationStatus, view: View): string[] {
  const { rotation } = status;
  const { style } = view;
  const fields: (readonly [string, Cell])[] = [
    ['walk', formatWalk(rotation.phase)],
    ['started', `${formatInstant(rotation.startedAt, view.nowMs)}, reason: ${rotation.reason}`],
    ...(isEnded(rotation.phase) ? [] : [['progress', formatProgress(status)] as const]),
    [isClosing(rotation) ? 'rung' : 'old version', formatWindow(status, view)],
    // What was counted while it ran is not kept: nothing is said of it, rather than that it was nothing.
    ...(isEnded(rotation.phase) ? [] : formatHits(status, view)),
    ...rotation.left
      .slice(0, 1)
      .map(() => ['left behind', { text: rotation.left.join(', '), paint: style.warn }] as const),
    ...(rotation.pausedBecause === null
      ? []
      : ([
          ['paused', { text: rotation.pausedBecause, paint: style.bad }],
          ['', `to go on: \`rollcall rotation resume ${printable(rotation.secret)}\``],
        ] as const)),
    ['id', rotation.id],
  ];
  return [
    style.bold(`${titleOf(rotation)}: ${printable(rotation.phase)}`),
    ...formatFields(fields, view),
    ...formatGate(status, view),
  ];
}

/** A rung has no versions: it is accepted, and then it is not. */
function titleOf(rotation: RotationRow): string {
  const { secret, from, to } = rotation;
  return isClosing(rotation) ? `closing ${printable(secret)}` : `${printable(secret)} ${from} → ${to}`;
}

function isClosing({ secret }: RotationRow): boolean {
  return rungOfClosing(secret) !== undefined;
}

function formatProgress({ rotation, progress: { rolled, proven, total, widened } }: RotationStatus): string {
  if (isClosing(rotation)) return `${proven} of ${total} seen on a higher rung; ${widened} may stand there`;
  return `rolled ${rolled}, proven ${proven} of ${total}; widened ${widened}`;
}

/** Who was seen with the old version: here is the cron job that nobody remembered. */
function formatHits({ rotation, retiringHits }: RotationStatus, view: View): (readonly [string, Cell])[] {
  const { count, lastAt, sources } = retiringHits;
  const what = isClosing(rotation) ? 'stood on it' : 'old seen';
  if (count === 0) return [[what, isClosing(rotation) ? 'nobody since it is counted' : 'never since the start']];
  return [
    [what, `${countOf(count, 'time')}, last ${formatAge(lastAt, view.nowMs)}`],
    ...keepFairly(sources, SHOWN_SOURCES, ({ address }) => networkOf(address)).map(
      (source) => ['', `${formatSource(source)}, ${formatAge(source.at, view.nowMs)}`] as const,
    ),
    ...(sources.length > SHOWN_SOURCES
      ? [['', `… and ${sources.length - SHOWN_SOURCES} more; --json has all`] as const]
      : []),
  ];
}

/** Whose name was proven, or is marked as said, from where, and to whom. */
function formatSource({
  host,
  proven,
  address,
  userAgent,
  verifier,
}: RotationStatus['retiringHits']['sources'][number]): string {
  const named = proven === true ? host : host === null ? null : `${host} (declared)`;
  const who = named ?? (userAgent || 'somebody');
  return `${who} from ${address}${verifier === undefined ? '' : ` to ${verifier}`}`;
}

const SHOWN_SOURCES = 5;

/** What holds the rotation up: each member, what is missing, since when, what to do. */
export function formatGate({ rotation, gate }: RotationStatus, view: View): string[] {
  if (isEnded(rotation.phase)) return [];
  if (gate.open) return formatOpenGate(rotation, view);
  return [
    view.style.warn(
      `The gate out of ${printable(rotation.phase)} is closed, ${countOf(gate.blockers.length, 'blocker')}:`,
    ),
    ...formatBlockers(gate.blockers, view),
  ];
}

/** The command is on a line of its own: to be copied, and never broken. */
function formatOpenGate({ secret, phase, pausedBecause }: RotationRow, { style }: View): string[] {
  const open = `The gate out of ${printable(phase)} is open`;
  if (pausedBecause !== null) return [style.warn(`${open}, and nothing goes through it while this is paused.`)];
  return [style.good(`${open}:`), `  rollcall rotation advance ${printable(secret)} --from ${printable(phase)}`];
}

/** What to do stands once below all neighbours that it is said of. */
function formatBlockers(blockers: readonly BlockerRow[], page: View): string[] {
  const view = { ...page, width: page.width - 2 };
  const shown = blockers.slice(0, limits.outputListRows);
  const rows = shown.map((blocker, at) => ({
    cells: [
      blocker.member,
      blocker.missing.replaceAll('_', ' '),
      blocker.since === null ? '-' : formatAge(blocker.since, view.nowMs),
    ],
    below: shown[at + 1]?.hint === blocker.hint ? [] : indented(blocker.hint, view, 2).map(view.style.dim),
  }));
  const columns = [{ title: 'MEMBER', elastic: 12 }, { title: 'MISSING', elastic: 16 }, { title: 'SINCE' }];
  const more = blockers.length - shown.length;
  const lines = formatTable(columns, rows, view.width).map((line) => `  ${line}`);
  return more > 0 ? [...lines, `  … and ${more} more; --json has all`] : lines;
}

export function formatRotations(rotations: readonly RotationRow[], view: View): string[] {
  if (rotations.length === 0) return ['Nothing was rotated yet. Start: rollcall rotation start master'];
  const rows = rotations.map((rotation) => ({
    cells: [
      rotation.id,
      rotation.secret,
      isClosing(rotation) ? '-' : `${rotation.from} → ${rotation.to}`,
      rotation.pausedBecause === null ? rotation.phase : { text: `${rotation.phase}, paused`, paint: view.style.bad },
      rotation.reason === 'leak' ? { text: 'leak', paint: view.style.bad } : rotation.reason,
      formatAge(rotation.startedAt, view.nowMs),
      rotation.left.length === 0 ? '-' : String(rotation.left.length),
    ],
  }));
  const columns = [
    // Both are typed, so neither is cut: the others give way.
    { title: 'ID' },
    { title: 'SECRET' },
    { title: 'VERSION' },
    { title: 'PHASE', elastic: 7 },
    { title: 'REASON', elastic: 6 },
    { title: 'STARTED', elastic: 7 },
    { title: 'LEFT', align: 'right' as const },
  ];
  return formatTable(columns, rows, view.width);
}

/** One line for a log or a pipe. */
export function formatBrief({ rotation, progress, gate }: RotationStatus): string {
  const { phase } = rotation;
  const along = phase === 'widening' ? `widened ${progress.widened}` : `proven ${progress.proven} of ${progress.total}`;
  const gateText = isEnded(phase) ? '' : gate.open ? ', gate open' : `, ${countOf(gate.blockers.length, 'blocker')}`;
  const paused = rotation.pausedBecause === null ? '' : ', paused';
  return printable(`${titleOf(rotation)} ${phase}, ${along}${gateText}${paused}`);
}

function walkFrom(phase: Phase): Phase[] {
  const { next } = phases[phase];
  return next === null ? [phase] : [phase, ...walkFrom(next)];
}

function formatWalk(phase: Phase): string {
  return walk.includes(phase) ? walk.map((each) => (each === phase ? `[${each}]` : each)).join(' → ') : `[${phase}]`;
}

function formatWindow({ rotation, verifyUntil }: RotationStatus, view: View): string {
  if (isClosing(rotation)) return formatAcceptance(rotation, verifyUntil, view);
  // A token that was dropped does not wait for the end that it was given.
  if (rotation.terms !== undefined && !isOldTaken(rotation)) return `${rotation.from} does not verify`;
  if (verifyUntil === null && rotation.terms !== undefined) {
    return `${rotation.from} verifies until its gates say that nobody sends it`;
  }
  if (verifyUntil === null) return `${rotation.from} does not verify`;
  const isOver = Date.parse(verifyUntil) <= view.nowMs;
  return `${rotation.from} ${isOver ? 'stopped verifying' : 'verifies until'} ${isOver ? formatInstant(verifyUntil, view.nowMs) : `${formatClock(verifyUntil)} (${formatAge(verifyUntil, view.nowMs)})`}`;
}

function formatAcceptance(rotation: RotationRow, until: string | null, view: View): string {
  if (!isOldTaken(rotation)) return 'refused by the fleet';
  if (until === null) return 'accepted until its gates say that nobody stands on it';
  return `accepted until ${formatClock(until)} (${formatAge(until, view.nowMs)})`;
}

/** Of a phase that this version does not know nothing is said to be over. */
function isOldTaken({ phase }: RotationRow): boolean {
  return !Object.hasOwn(phases, phase) || phases[phase].verifierAccepts.includes('old');
}
