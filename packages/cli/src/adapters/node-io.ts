/** The process as a command sees it. */
import { userInfo } from 'node:os';
import { createInterface } from 'node:readline/promises';
import type { Readable } from 'node:stream';
import { version } from '@rollcall/wire';
import type { Parts } from '../optional-package.ts';
import type { Io, OutputStream } from '../ports.ts';
import { nodeClock } from './node-clock.ts';
import { nodeFiles } from './node-files.ts';
import { sendToHub } from './send-to-hub.ts';

export function createNodeIo(process: NodeJS.Process, parts: Parts): Io {
  return {
    stdout: outputStream(process.stdout),
    stderr: outputStream(process.stderr),
    stdin: {
      isTerminal: process.stdin.isTTY === true,
      read: (maxBytes) => readAll(process.stdin, maxBytes),
      ask: (question) => askOnTerminal(process, question),
    },
    env: process.env,
    user: userName(),
    version,
    clock: nodeClock,
    files: nodeFiles,
    send: sendToHub,
    parts,
  };
}

function outputStream(stream: NodeJS.WriteStream): OutputStream {
  return {
    write: (text) => {
      stream.write(text);
    },
    isTerminal: stream.isTTY === true,
    get columns() {
      return stream.isTTY === true ? stream.columns || undefined : undefined; // 0 where the terminal does not say
    },
    get rows() {
      return stream.isTTY === true ? stream.rows || undefined : undefined;
    },
  };
}

/** The rest of a stream, as one piece of memory. */
export async function readAll(stream: Readable, maxBytes: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw Object.assign(new Error('more than is taken'), { code: 'EFBIG' });
    chunks.push(chunk);
  }
  return Uint8Array.from(Buffer.concat(chunks));
}

async function askOnTerminal(process: NodeJS.Process, question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // Ctrl-D and Ctrl-C are a no, and leave the cursor behind the question.
  const ended = new Promise<undefined>((resolve) => {
    terminal.once('close', () => resolve(undefined));
  });
  try {
    const answer = await Promise.race([terminal.question(question), ended]);
    if (answer === undefined) process.stderr.write('\n');
    return answer ?? '';
  } finally {
    terminal.close();
  }
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A uid without an entry in passwd(5), as in many containers.
    return `uid:${process.getuid?.() ?? 'unknown'}`;
  }
}
