/** Rungs for a person: each with what was decided, the reason below it, and who stands where. */
import type { ListRungsAnswer, RungRow } from '@rollcall/wire';
import { formatAge } from './age.ts';
import { countOf, firstOf, indented, type View } from './page.ts';
import { type Cell, formatTable } from './table.ts';

export function formatRungs({ rungs, exceptions, neverHeard, examined }: ListRungsAnswer, view: View): string[] {
  const rows = rungs.map((row) => ({
    cells: [row.rung, verdictCell(row, view), String(row.hosts), formatDecided(row, view)],
    below: indented(row.reason, view, 2),
  }));
  const columns = [
    { title: 'RUNG', elastic: 11 },
    { title: 'ACCEPTED' },
    { title: 'HOSTS', align: 'right' as const },
    { title: 'DECIDED' },
  ];
  const heard = examined === 0 ? 'none on the roll' : neverHeard === 0 ? 'each was heard' : `${neverHeard} never heard`;
  return [
    ...formatTable(columns, rows, view.width),
    ...(exceptions.length === 0 ? [] : ['', ...formatExceptions(exceptions, view)]),
    view.style.dim(`${countOf(examined, 'host')} by the last beat, ${heard}`),
  ];
}

/** For `host show`: what was decided about what lets this host in, and why. The rest is open, as it is from the beginning. */
export function rungFields(rows: readonly RungRow[], view: View): [string, Cell][] {
  const decided = rows.filter(({ decidedFor }) => decidedFor !== 'nobody');
  return decided.map((row, at): [string, Cell] => {
    const whose = row.decidedFor === 'host' ? 'of this host alone: ' : '';
    const text = `${row.rung} ${wordOf(row)}: ${whose}${row.reason}`;
    const { paint } = verdictCell(row, view) as Exclude<Cell, string>;
    return [at === 0 ? 'rungs' : '', { text, paint }];
  });
}

function formatExceptions(exceptions: ListRungsAnswer['exceptions'], view: View): string[] {
  const [title = '', ...lines] = formatTable(
    [{ title: 'ONLY HERE', elastic: 12 }, { title: 'RUNG', elastic: 11 }, { title: 'ACCEPTED' }, { title: 'DECIDED' }],
    exceptions.map((row) => ({ cells: [row.host, row.rung, verdictCell(row, view), formatDecided(row, view)] })),
    view.width,
  );
  const blocks = lines.map((line, at) => [line, ...indented(exceptions[at]?.reason ?? '', view, 2)]);
  return [title, ...firstOf(blocks, (block) => block)];
}

function formatDecided({ since }: RungRow, { nowMs }: View): string {
  return since === null ? '-' : formatAge(since, nowMs);
}

function verdictCell(row: RungRow, { style }: View): Cell {
  return { text: row.accepted === null ? 'UNREADABLE' : row.accepted ? 'yes' : 'no', paint: paintOf(row, style) };
}

function paintOf({ accepted }: RungRow, style: View['style']) {
  if (accepted === null) return style.bad;
  return accepted ? style.good : style.warn;
}

function wordOf({ accepted }: RungRow): string {
  if (accepted === null) return 'cannot be decided';
  return accepted ? 'yes' : 'no';
}
