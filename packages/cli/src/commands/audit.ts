/** `rollcall audit`: what changed trust or state, who did it, and how it came out. */
import { limits } from '@rollcall/core/limits';
import { type AuditQuery, type AuditRecord, routes } from '@rollcall/wire';
import type { HubClient } from '../client.ts';
import { formatClock } from '../output/age.ts';
import { fingerprintStart, indented, type View } from '../output/page.ts';
import { formatTable } from '../output/table.ts';
import { pastOption } from '../time-option.ts';
import { usageError } from '../usage-error.ts';
import { type Context, defineVerb, type Noun } from '../verb.ts';
import { wholeNumber } from '../whole-number.ts';

interface ListOptions {
  readonly after?: string;
  readonly limit?: string;
  readonly last?: string;
  readonly actor?: string;
  readonly action?: string;
  readonly target?: string;
  readonly since?: string;
  readonly outcome?: 'done' | 'refused';
}

/** Of the query, what chooses records. */
type Filter = Omit<AuditQuery, 'after' | 'limit'>;

const list = defineVerb<ListOptions>({
  usage: 'list',
  summary: 'Show audit records, oldest first',
  examples: [
    'rollcall audit list --last 20',
    'rollcall audit list --action pin --since 24h',
    'rollcall audit list --target fleet-token',
    'rollcall audit list --target agent-7 --outcome refused --json',
  ],
  options: [
    { flags: '--after <seq>', description: 'only records after this number' },
    { flags: '--limit <n>', description: `at most so many, from there on (default ${limits.auditListRecords})` },
    { flags: '--last <n>', description: 'only the newest' },
    { flags: '--actor <id>', description: 'only what this host or operator did' },
    { flags: '--action <word>', description: 'only this action; `pin` for all on pins' },
    { flags: '--target <id>', description: 'only what was done to this; of a secret also its rotations' },
    { flags: '--since <time>', description: 'only from then on; a duration counts back from now' },
    { flags: '--outcome <word>', description: 'only what came out so', choices: ['done', 'refused'] },
  ],
  run: async (context, _args, options) => {
    const after = wholeNumber('--after', options.after ?? '0', 0);
    const limit = wholeNumber('--limit', options.limit ?? String(limits.auditListRecords), 1);
    const last = options.last === undefined ? undefined : wholeNumber('--last', options.last, 1);
    if (last !== undefined && options.limit !== undefined) throw usageError('--last and --limit exclude each other');
    const filter = await readFilter(context, options);
    const records = await readRecords(context.hub(), filter, {
      after,
      limit: last === undefined ? limit : Number.POSITIVE_INFINITY,
      last,
    });
    const isCut = last === undefined && records.length === limit;
    if (isCut) context.progress(`note: ${limit} records shown; the rest begins with --after ${records.at(-1)?.seq}`);
    return { json: { records }, text: formatRecords(records, context.view) };
  },
});

export const auditNoun: Noun = {
  name: 'audit',
  summary: 'The record of every change of trust or state',
  verbs: [list],
};

async function readFilter(context: Context, options: ListOptions): Promise<Filter> {
  const { actor, action, target, since, outcome } = options;
  if (action !== undefined && !/^[a-z0-9_.]{1,64}$/.test(action))
    throw usageError('--action takes an action such as pin.taken, or its first word', 'See `rollcall audit list`.');
  return {
    ...(actor === undefined ? {} : { actor }),
    ...(action === undefined ? {} : { action }),
    ...(target === undefined ? {} : { target }),
    ...(since === undefined ? {} : { since: pastOption('--since', since, await context.hubTimeMs()) }),
    ...(outcome === undefined ? {} : { outcome }),
  };
}

/** Page by page, so that no answer grows with the log; of `--last N` only so many are kept. */
async function readRecords(
  hub: HubClient,
  filter: Filter,
  { after, limit, last }: { readonly after: number; readonly limit: number; readonly last: number | undefined },
): Promise<AuditRecord[]> {
  let records: AuditRecord[] = [];
  for (let cursor = after; records.length < limit; ) {
    const pageLimit = Math.min(limits.auditPageRecords, limit - records.length);
    const { records: page } = await hub.call(routes.listAudit, {
      query: { after: String(cursor), limit: String(pageLimit), ...filter },
    });
    const newest = page.at(-1)?.seq;
    if (newest === undefined || newest <= cursor) break;
    records = [...records, ...page].slice(-(last ?? Number.POSITIVE_INFINITY));
    if (page.length < pageLimit) break;
    cursor = newest;
  }
  return records;
}

function formatRecords(records: readonly AuditRecord[], view: View): string[] {
  if (records.length === 0) return ['There are no audit records here.'];
  const rows = records.map((record) => {
    const details = Object.entries(record.details).map(([name, value]) => `${name}=${detailText(value)}`);
    return {
      cells: [
        String(record.seq),
        formatClock(record.at),
        `${record.actor.id}${record.actor.verified ? '' : '?'}`,
        record.action,
        record.target,
        record.outcome,
      ],
      below: details.length === 0 ? [] : indented(details.join(' '), view, 6).map(view.style.dim),
    };
  });
  const columns = [
    { title: 'SEQ', align: 'right' as const },
    { title: 'AT' },
    { title: 'ACTOR', elastic: 8 },
    { title: 'ACTION', elastic: 12 },
    { title: 'TARGET', elastic: 8 },
    { title: 'OUTCOME', elastic: 6 },
  ];
  const table = formatTable(columns, rows, view.width);
  const hasDeclared = records.some((record) => !record.actor.verified);
  return hasDeclared ? [...table, view.style.dim('? = the actor is declared, not verified')] : table;
}

/** A key that waits for approval must not be copied from here, any more than from `pin list` (design 3). */
function detailText(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  return /^[0-9a-f]{64}$/.test(value) ? fingerprintStart(value) : value;
}
