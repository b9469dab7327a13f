/** After a leak: what its thief can still do, for a person who has to decide how long that may go on (design 5). */
import {
  type LeakRow,
  type TokenLeakRow,
  whatThiefCanStillDo,
  whatTokenThiefCanStillDo,
} from '@rollcall/core/rotation';
import type { RotationStatus } from '@rollcall/wire';
import { formatInstant } from './age.ts';
import { indented, type View, wrap } from './page.ts';
import { printable } from './printable.ts';

/** The facts, for `--json` and for the page. */
export function thiefRows(
  { rotation, verifyUntil }: RotationStatus,
  nowMs: number,
): readonly (LeakRow | TokenLeakRow)[] {
  const verifyUntilMs = verifyUntil === null ? null : Date.parse(verifyUntil);
  const facts = { from: rotation.from, to: rotation.to, verifyUntilMs, nowMs };
  return rotation.terms === undefined ? whatThiefCanStillDo(facts) : whatTokenThiefCanStillDo(facts);
}

export function formatThief(status: RotationStatus, view: View): string[] {
  const { rotation, verifyUntil } = status;
  const rows = thiefRows(status, view.nowMs);
  const listed = (verdict: LeakRow['verdict']) =>
    rows.filter((row) => row.verdict === verdict).flatMap(({ text }) => bullet(text, view));
  const can = listed('can');
  const secret = `${printable(rotation.secret)} version ${rotation.from}`;
  const until = `Until ${formatInstant(verifyUntil, view.nowMs)} a thief of ${secret} can still:`;
  return [
    ...(can.length === 0
      ? [view.style.good(`The window is closed: nothing of ${secret} verifies any more.`)]
      : [...wrap(until, view.width).map(view.style.warn), ...can]),
    'It cannot, now or later:',
    ...listed('cannot'),
    rotation.terms === undefined ? 'It may, where `rollcall pin confirm` was not done:' : 'It may:',
    ...listed('may'),
  ];
}

function bullet(text: string, view: View): string[] {
  return indented(text, view, 4).map((line, at) => (at === 0 ? `  - ${line.slice(4)}` : line));
}
