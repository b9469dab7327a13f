/** A list of hosts out of a file: CSV with a header, or JSON. What is wrong in it is said all at once, each with its place. */
import { decodeUtf8 } from '@rollcall/core/bytes';
import { isRollcallError, RollcallError } from '@rollcall/core/errors';
import { type JsonValue, parseJson } from '@rollcall/core/json';
import { limits } from '@rollcall/core/limits';

export interface HostInFile {
  /** `line 3` of a CSV file, `entry 2` of a JSON one. */
  readonly place: string;
  readonly host: string;
  readonly reach?: string;
  readonly address?: string;
}

const columns = ['host', 'reach', 'address'] as const;
type Column = (typeof columns)[number];

/** The hub takes no longer text, and judges everything else itself: it alone knows the roll. */
const MAX_CHARACTERS: Readonly<Record<Column, number>> = { host: 200, reach: 20, address: 300 };

/** Throws `byte_order_mark`, or `host_file_invalid` with every problem. */
export function parseHostFile(bytes: Uint8Array): HostInFile[] {
  const text = decodeUtf8(bytes);
  if (text === undefined) throw invalid(['the file: not UTF-8']);
  if (text.startsWith('\ufeff')) throw new RollcallError('byte_order_mark');
  const problems: string[] = [];
  const hosts = /^\s*[[{]/.test(text) ? readEntries(text, problems) : readLines(text, problems);
  if (problems.length === 0 && hosts.length === 0) problems.push('the file: no host in it');
  if (hosts.length > limits.importedHosts) problems.push(`the file: more than ${limits.importedHosts} hosts`);
  if (problems.length > 0) throw invalid(problems);
  return hosts;
}

function invalid(problems: readonly string[]): RollcallError<'host_file_invalid'> {
  return new RollcallError('host_file_invalid', { problems });
}

/** Empty lines are skipped and counted, so that a place is the line that an editor shows. */
function readLines(text: string, problems: string[]): HostInFile[] {
  const lines = text
    .split(/\r\n|\n|\r/)
    .map((line, at) => ({ line, place: `line ${at + 1}` }))
    .filter(({ line }) => line.trim() !== '');
  const [head, ...rows] = lines;
  if (head === undefined) return [];
  const header = readHeader(splitLine(head.line), head.place, problems);
  if (header === undefined) return [];
  return rows.flatMap(({ line, place }) => {
    const cells = splitLine(line);
    if (cells === undefined) return complain(problems, place, 'a quote that is not closed, or text beside one');
    if (cells.length > header.length)
      return complain(problems, place, `${cells.length} fields under ${header.length} columns`);
    const named = Object.fromEntries(header.map((column, at) => [column, cells[at] ?? '']));
    return readHost(named, place, problems);
  });
}

function readHeader(cells: readonly string[] | undefined, place: string, problems: string[]): Column[] | undefined {
  const before = problems.length;
  const names = (cells ?? []).map((cell) => cell.toLowerCase());
  for (const name of names) {
    if (columns.every((column) => column !== name))
      problems.push(`${place}: column ${short(name)}: unknown; the header is host,reach,address`);
  }
  if (new Set(names).size < names.length) problems.push(`${place}: a column stands there twice`);
  if (!names.includes('host')) problems.push(`${place}: there is no column host; the header is host,reach,address`);
  return problems.length === before ? (names as Column[]) : undefined;
}

/** RFC 4180, within a line. `undefined` for quotes that do not fit. */
function splitLine(line: string): string[] | undefined {
  const cells: string[] = [];
  for (let at = 0; at <= line.length; ) {
    const [whole = '', quoted, plain] = FIELD.exec(line.slice(at)) ?? [];
    const end = at + whole.length;
    if (end < line.length && line[end] !== ',') return undefined;
    cells.push(quoted?.replaceAll('""', '"') ?? plain?.trim() ?? '');
    at = end + 1;
  }
  return cells;
}

const FIELD = /^ *(?:"((?:[^"]|"")*)" *|([^",]*))/;

function readEntries(text: string, problems: string[]): HostInFile[] {
  let value: JsonValue;
  try {
    value = parseJson(text);
  } catch (error) {
    if (!isRollcallError(error)) throw error;
    return complain(problems, 'the file', 'not JSON: one document, no key twice');
  }
  if (!Array.isArray(value)) return complain(problems, 'the file', 'JSON, but not an array of objects');
  return value.flatMap((item: JsonValue, at) => {
    const place = `entry ${at + 1}`;
    if (typeof item !== 'object' || item === null || Array.isArray(item))
      return complain(problems, place, 'not an object with host, reach and address');
    const before = problems.length;
    for (const [key, member] of Object.entries(item)) {
      if (columns.every((column) => column !== key))
        problems.push(`${place}: ${short(key)}: unknown; known are host, reach, address`);
      else if (typeof member !== 'string') problems.push(`${place}: ${key}: not a text`);
    }
    return problems.length > before ? [] : readHost(item as Readonly<Record<string, string>>, place, problems);
  });
}

function readHost(cells: Readonly<Record<string, string>>, place: string, problems: string[]): HostInFile[] {
  const before = problems.length;
  if ((cells['host'] ?? '') === '') problems.push(`${place}: host is empty`);
  for (const column of columns) {
    if ((cells[column] ?? '').length > MAX_CHARACTERS[column]) problems.push(`${place}: ${column} is too long`);
  }
  if (problems.length > before) return [];
  const { host = '', reach = '', address = '' } = cells;
  return [{ place, host, ...(reach === '' ? {} : { reach }), ...(address === '' ? {} : { address }) }];
}

function complain(problems: string[], place: string, what: string): [] {
  problems.push(`${place}: ${what}`);
  return [];
}

/** What stands there may be anything: enough of it to be found. */
function short(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text === '' ? '(empty)' : text;
}
