/** Runs the whole command line in this process, and keeps what it wrote and how it ended. */
import { sendToHub } from './adapters/send-to-hub.ts';
import { type Answers, type Asked, startFakeOperator } from './fake-operator.fixture.ts';
import type { Io } from './ports.ts';
import { runProgram } from './program.ts';

export const NOW_MS: number = Date.UTC(2026, 10, 29, 12);

/** RFC 3339, so many seconds from the clock of the tests. */
export function at(seconds: number): string {
  return new Date(NOW_MS + seconds * 1_000).toISOString();
}

export interface Given {
  readonly answers?: Answers;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Standard input, output and error are a terminal; the texts are typed at questions. */
  readonly terminal?: readonly string[];
  readonly columns?: number;
  readonly files?: Readonly<
    Record<string, { readonly text?: string; readonly mode?: number; readonly error?: string }>
  >;
  readonly parts?: Partial<Io['parts']>;
  readonly send?: Io['send'];
  /** Deadlines that pass at once. */
  readonly late?: boolean;
}

export interface Transcript {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly asked: readonly Asked[];
  /** Of a --json run. */
  readonly json: unknown;
}

/** `rollcall` with these words. A socket is given by the environment unless the words or the environment name one. */
export async function transcript(words: readonly string[], given: Given = {}): Promise<Transcript> {
  const operator = await startFakeOperator(given.answers ?? {});
  try {
    const written = { stdout: '', stderr: '' };
    const exit = await runProgram(words, createIo(given, operator.socketPath, written));
    return {
      exit,
      ...written,
      asked: operator.asked,
      json: words.includes('--json') ? parseOneDocument(written.stdout) : undefined,
    };
  } finally {
    await operator.close();
  }
}

function createIo(given: Given, socketPath: string, written: { stdout: string; stderr: string }): Io {
  const isTerminal = given.terminal !== undefined;
  const typed = [...(given.terminal ?? [])];
  let passedMs = 0;
  const stream = (name: 'stdout' | 'stderr') => ({
    write: (text: string) => {
      written[name] += text;
    },
    isTerminal,
    columns: isTerminal ? (given.columns ?? 80) : undefined,
    rows: isTerminal ? 24 : undefined,
  });
  return {
    stdout: stream('stdout'),
    stderr: stream('stderr'),
    stdin: {
      isTerminal,
      read: (maxBytes) => bounded(given.stdin ?? '', maxBytes),
      ask: async (question) => {
        written.stderr += question;
        return typed.shift() ?? '';
      },
    },
    env: { ROLLCALL_HUB: `unix:${socketPath}`, ...given.env },
    user: 'ada',
    version: '0.1.0',
    clock: {
      now: () => NOW_MS + passedMs,
      monotonic: () => passedMs,
      sleep: async (ms) => {
        passedMs += ms;
      },
      after: (_ms, task) => {
        if (given.late === true) setImmediate(task);
        return () => undefined;
      },
    },
    files: {
      read: async (path, maxBytes) => bounded(fileOf(given, path).text ?? '', maxBytes),
      stat: async (path) => {
        const { mode = 0o600, text = '' } = fileOf(given, path);
        return { kind: 'file', mode, uid: 0, size: text.length };
      },
    },
    send: given.send ?? sendToHub,
    parts: {
      '@rollcall/hub': () => missing('@rollcall/hub'),
      '@rollcall/agent': () => missing('@rollcall/agent'),
      ...given.parts,
    },
  };
}

function fileOf(given: Given, path: string): { readonly text?: string; readonly mode?: number } {
  const file = given.files?.[path];
  if (file === undefined || file.error !== undefined) throw systemError(file?.error ?? 'ENOENT');
  return file;
}

async function bounded(text: string, maxBytes: number): Promise<Uint8Array> {
  if (text.length > maxBytes) throw systemError('EFBIG');
  return new TextEncoder().encode(text);
}

export function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: as the system says it`), { code });
}

async function missing(name: string): Promise<never> {
  throw Object.assign(new Error(`Cannot find package '${name}' imported from /x`), { code: 'ERR_MODULE_NOT_FOUND' });
}

/** Standard output of --json is one document and nothing else. */
function parseOneDocument(stdout: string): unknown {
  if (!stdout.endsWith('\n')) throw new Error(`not one document: ${stdout}`);
  return JSON.parse(stdout);
}
