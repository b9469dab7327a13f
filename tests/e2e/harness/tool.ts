/** A program of the machine, of which a test asks what it thinks of the hub: openssl, curl, promtool. */
import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

export interface ToolRan {
  /** `null` when it was ended by a signal. */
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface RunTool {
  /** For standard input, which is closed after it. */
  readonly input?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
  readonly withinMs?: number;
  readonly cwd?: string;
}

/** Where it lies, or `undefined`: a test says then why it is skipped. */
export function findTool(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

/** Resolves with whatever it says; rejects when it cannot be started. It is ended after its time. */
export function runTool(
  program: string,
  args: readonly string[],
  { input = '', env = {}, withinMs = 30_000, cwd }: RunTool = {},
): Promise<ToolRan> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: withinMs,
      killSignal: 'SIGKILL',
      ...(cwd === undefined ? {} : { cwd }),
      env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C', ...env },
    });
    const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
    // A program that ends without reading what it was given.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    child.once('error', reject);
    child.once('close', (code) =>
      resolve({ code, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString('utf8') }),
    );
  });
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
