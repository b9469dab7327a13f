/** `rollcall host import`: a list of hosts goes on the roll whole, or not at all, and each row is told what came of it. */
import { RollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import { type ImportHostsAnswer, routes } from '@rollcall/wire';
import { type HostInFile, parseHostFile } from '../host-file.ts';
import { readPlainFile } from '../input-file.ts';
import { countOf, indented, type View, wrap } from '../output/page.ts';
import { type Cell, formatTable } from '../output/table.ts';
import { defineVerb } from '../verb.ts';

interface ImportOptions {
  readonly dryRun?: boolean;
  readonly existing?: boolean;
}

type ReportedRow = ImportHostsAnswer['rows'][number] & { readonly place: string };

export const importHosts = defineVerb<ImportOptions>({
  usage: 'import <file>',
  summary: 'Put the hosts of a CSV or JSON file on the roll: all of them, or none',
  examples: [
    'rollcall host import fleet.csv --dry-run     (header: host,reach,address)',
    'rollcall host import fleet.json --existing   ([{"host":"agent-1"}, …])',
    'rollcall host import - < fleet.csv',
  ],
  options: [
    { flags: '--dry-run', description: 'judge every row, and change nothing' },
    { flags: '--existing', description: 'they derive their keys from the fleet’s master already' },
  ],
  run: async (context, [file = ''], { dryRun = false, existing = false }) => {
    const hosts = parseHostFile(await readPlainFile(context, file, limits.operatorBodyBytes));
    const body = {
      dryRun,
      hosts: hosts.map(({ place: _place, ...host }) => ({ ...host, ...(existing ? { existing } : {}) })),
    };
    const answer = await context.hub().call(routes.importHosts, { body });
    const rows = withPlaces(answer, hosts);
    const result = { json: { ...answer, rows }, text: formatImport({ ...answer, rows }, existing, context.view) };
    if (answer.refused === 0) return result;
    return { ...result, failure: new RollcallError('import_refused', { refused: answer.refused }) };
  },
});

/** The hub answers in the order of the request. */
function withPlaces({ rows }: ImportHostsAnswer, hosts: readonly HostInFile[]): ReportedRow[] {
  return rows.map((row, at) => ({ ...row, place: hosts[at]?.place ?? '' }));
}

function formatImport(
  answer: Omit<ImportHostsAnswer, 'rows'> & { readonly rows: readonly ReportedRow[] },
  existing: boolean,
  view: View,
): string[] {
  const rows = answer.rows.map((row) => ({
    cells: [row.place, row.host, outcomeCell(row, view), row.code ?? ''],
    below: row.hint === undefined ? [] : indented(row.hint, view, 4).map(view.style.dim),
  }));
  const columns = [
    { title: 'PLACE' },
    { title: 'HOST', elastic: 16 },
    { title: 'OUTCOME' },
    { title: 'REASON', elastic: 12 },
  ];
  return [...formatTable(columns, rows, view.width), '', ...verdict(answer, existing, view)];
}

function outcomeCell({ outcome }: ReportedRow, { style }: View): Cell {
  if (outcome === 'refused') return { text: outcome, paint: style.bad };
  return { text: outcome.replace('_', ' '), paint: outcome === 'added' ? style.good : style.dim };
}

function verdict(
  { added, refused, rows }: { readonly added: number; readonly refused: number; readonly rows: readonly unknown[] },
  existing: boolean,
  view: View,
): string[] {
  if (refused > 0) return [`${countOf(refused, 'row')} refused, so nothing was added.`];
  if (added === 0) return [`${countOf(rows.length, 'host')} would be added. Nothing was changed.`];
  const next = existing
    ? 'They are active, and have no pin yet: `rollcall pin exposure` says who could be pinned by a thief.'
    : 'They are invited. Each enrols with a token of its own: `rollcall host reenrol HOST` issues one.';
  return [`${countOf(added, 'host')} added.`, ...wrap(next, view.width)];
}
