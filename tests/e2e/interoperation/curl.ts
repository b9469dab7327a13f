/** curl against a listener, as somebody scripts it: what came back, and with which exit code it ended. */
import { findTool, runTool } from '../harness/tool.ts';

export interface Curled {
  /** Of curl: 0 where an answer came, whatever its status. */
  readonly exit: number | null;
  /** Of the last answer; 0 where none came. */
  readonly status: number;
  /** Of the last answer, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** All of standard output. */
  readonly text: string;
  readonly json: <T = Record<string, unknown>>() => T;
}

const program = findTool('curl');
export const hasCurl: boolean = program !== undefined;

/** What curl cannot do about a server that it does not believe, and the like: `man curl`, EXIT CODES. */
export const exits = { connectFailed: 35, emptyAnswer: 52, notVerified: 60, pinMismatch: 90 } as const;

export async function curl(
  args: readonly string[],
  options: { readonly input?: string | Uint8Array } = {},
): Promise<Curled> {
  const ran = await runTool(program ?? 'curl', ['-q', '-sS', '-i', '--max-time', '20', ...args], options);
  const text = ran.stdout.toString('utf8');
  const { head, body } = split(text);
  return {
    exit: ran.code,
    status: Number(/^HTTP\/\S+ (\d{3})/.exec(head)?.[1] ?? 0),
    headers: readHeaders(head),
    body,
    text,
    json: <T>() => JSON.parse(body) as T,
  };
}

/** `-i` writes interim answers too. */
function split(text: string): { readonly head: string; readonly body: string } {
  let rest = text;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return { head: rest, body: '' };
    const [head, body] = [rest.slice(0, end), rest.slice(end + 4)];
    if (!/^HTTP\/\S+ 1\d\d/.test(head)) return { head, body };
    rest = body;
  }
}

function readHeaders(head: string): Readonly<Record<string, string>> {
  const lines = head.split('\r\n').slice(1);
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
}
