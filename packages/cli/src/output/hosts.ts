/** Hosts for a person: the roll as a table, one host as a page. */
import type { HostRow, ShowHostAnswer } from '@rollcall/wire';
import { formatAge, formatInstant } from './age.ts';
import { countOf, formatFields, indented, type View, wrap } from './page.ts';
import { rungFields } from './rungs.ts';
import { type Cell, formatTable } from './table.ts';

export function formatHosts(hosts: readonly HostRow[], view: View): string[] {
  if (hosts.length === 0) return ['The roll is empty. Add the first host: rollcall host add agent-1'];
  const { style } = view;
  const rows = hosts.map((host) => ({
    cells: [
      host.id,
      statusCell(host, view),
      host.reach,
      host.rung ?? '-',
      { text: formatAge(host.lastSeenAt, view.nowMs), paint: host.fresh ? style.good : style.warn },
      pinCell(host, view),
      provenText(host),
    ],
    below: host.flags.length === 0 ? [] : indented(host.flags.join(', '), view, 2).map(style.warn),
  }));
  const columns = [
    { title: 'HOST', elastic: 12 },
    { title: 'STATUS' },
    { title: 'REACH' },
    { title: 'RUNG', elastic: 7 },
    { title: 'SEEN' },
    { title: 'PIN', elastic: 9 },
    { title: 'PROVEN', elastic: 8 },
  ];
  const fresh = hosts.filter((host) => host.fresh).length;
  return [...formatTable(columns, rows, view.width), style.dim(`${countOf(hosts.length, 'host')}, ${fresh} fresh`)];
}

export function formatHost(answer: ShowHostAnswer, view: View): string[] {
  const { host } = answer;
  const { style } = view;
  const from = answer.seenFrom === null ? '' : ` from ${answer.seenFrom}`;
  const fields: [string, Cell][] = [
    ['status', statusCell(host, view)],
    [
      'seen',
      {
        text: `${formatInstant(host.lastSeenAt, view.nowMs)}${from}${host.fresh || host.lastSeenAt === null ? '' : ', stale'}`,
        paint: host.fresh ? style.good : style.warn,
      },
    ],
    ['life', String(host.life)],
    ['reach', `${host.reach}${answer.address === null ? '' : ` at ${answer.address}`}`],
    ['rung', host.rung ?? 'none seen'],
    ['agent', answer.agentVersion ?? 'unknown'],
    ['clock', host.skewMs === null ? 'unknown' : `${host.skewMs >= 0 ? '+' : ''}${host.skewMs} ms`],
    ['added', answer.addedAt === null ? 'unknown' : formatInstant(answer.addedAt, view.nowMs)],
    [
      'proven',
      Object.entries(host.proven)
        .map(([secret, { version, epoch }]) => `${secret} version ${version} (epoch ${epoch})`)
        .join(', ') || 'nothing yet',
    ],
    ...rungFields(answer.rungs, view),
    ...tokenFields(answer, view),
    ['pin', host.pin === null ? { text: 'none', paint: style.warn } : `anchor ${host.pin.anchor}`],
    ...(host.pin === null ? [] : ([['', host.pin.fingerprint]] as [string, Cell][])),
    ...(host.pending
      ? ([
          [
            'pending',
            { text: `another key claims to be this host: \`rollcall pin show ${host.id}\``, paint: style.bad },
          ],
        ] as [string, Cell][])
      : []),
    ...(host.flags.length === 0
      ? []
      : ([['flags', { text: host.flags.join(', '), paint: style.warn }]] as [string, Cell][])),
  ];
  return [
    style.bold(host.id),
    ...formatFields(fields, view),
    ...(answer.assignments.length === 0 ? [] : ['', ...formatAssignments(answer, view)]),
    ...formatReleased(answer, view),
    ...answer.refused.flatMap(({ secret, reason }) =>
      indented(`it refused ${secret}: ${reason}`, view, 2).map(style.bad),
    ),
    ...formatUnreadable(host.id, answer.unreadable, view),
  ];
}

function tokenFields({ tokens }: ShowHostAnswer, { nowMs }: View): [string, Cell][] {
  return tokens.map(({ id, issuedAt, seenAt }, at): [string, Cell] => [
    at === 0 ? 'tokens' : '',
    `${id} of ${formatInstant(issuedAt, nowMs)}, ${seenAt === null ? 'not seen yet' : 'in use'}`,
  ]);
}

/** What is damaged, and what a person does about it. */
export function formatUnreadable(host: string, tables: readonly string[], view: View): string[] {
  if (tables.length === 0) return [];
  return [
    '',
    ...wrap(
      `What the hub keeps of ${host} in ${tables.join(', ')} is damaged, or was not written by this hub: nothing of that is believed. To begin the host anew, and to end it:`,
      view.width,
    ).map(view.style.bad),
    `  rollcall host reenrol ${host}`,
    `  rollcall host remove ${host}`,
  ];
}

function formatAssignments(answer: ShowHostAnswer, view: View): string[] {
  const rows = answer.assignments.map((row) => ({
    cells: [
      row.secret,
      `${row.wanted.epoch}.${row.wanted.step}`,
      row.acked === null ? { text: 'nothing', paint: view.style.warn } : `${row.acked.epoch}.${row.acked.step}`,
      row.accept.join(', '),
      String(row.present),
    ],
  }));
  const columns = ['ASSIGNED', 'WANTED', 'HELD', 'ACCEPTS', 'PRESENTS'].map((title, at) =>
    at === 0 ? { title, elastic: 10 } : { title },
  );
  return formatTable(columns, rows, view.width);
}

/** A holder no more, and may have it still: a thief of this host would. */
function formatReleased({ released = [] }: ShowHostAnswer, view: View): string[] {
  return released.flatMap(({ secret, wanted, acked }) => {
    const step = `${wanted.epoch}.${wanted.step}`;
    const seen = acked === null ? 'nothing of it was proven' : `proven last was ${acked.epoch}.${acked.step}`;
    return indented(`it still has to drop ${secret}: released by ${step}, ${seen}`, view, 2).map(view.style.warn);
  });
}

function statusCell(host: HostRow, { style }: View): Cell {
  const paint = host.status === 'active' ? style.good : host.status === 'invited' ? style.warn : style.bad;
  return { text: host.status, paint };
}

function pinCell(host: HostRow, { style }: View): Cell {
  if (host.pending) return { text: 'PENDING', paint: style.bad };
  return host.pin === null ? { text: 'none', paint: style.warn } : host.pin.anchor;
}

function provenText(host: HostRow): string {
  const proven = Object.entries(host.proven).map(([secret, { version }]) => `${secret} ${version}`);
  return proven.length === 0 ? '-' : proven.join(', ');
}
