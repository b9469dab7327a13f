/** What the demo needs of the machine that it runs on. */
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import type { Random } from '@rollcall/core/ports';
import type { Io } from '../ports.ts';
import { createProcesses, type OwnProcesses } from './child-processes.ts';
import { createNodeIo } from './node-io.ts';
import { makeWorkDirectory, type WorkDirectory } from './work-directory.ts';

export interface World {
  /** Streams, clock, files and socket of this process, as any command has them. */
  readonly io: Io;
  readonly random: Random;
  readonly processes: OwnProcesses;
  readonly makeWorkDirectory: (named: string | undefined) => WorkDirectory;
  /** A TCP port of 127.0.0.1 that was free a moment ago. */
  readonly freePort: () => Promise<number>;
  /** Aborted by Ctrl-C, SIGTERM, or the end of the terminal. */
  readonly interrupted: AbortSignal;
  /** Runs on every way out of this process but SIGKILL, when there is no time for promises any more. */
  readonly atExit: (task: () => void) => void;
  readonly uid: number;
  readonly currentDirectory: string;
}

export function createWorld(): World {
  return {
    io: createNodeIo(process, {
      '@rollcall/hub': () => import('@rollcall/hub'),
      '@rollcall/agent': () => import('@rollcall/agent'),
    }),
    random: (n) => Uint8Array.from(randomBytes(n)),
    processes: createProcesses(),
    makeWorkDirectory,
    freePort,
    interrupted: interruption(),
    atExit: (task) => {
      process.on('exit', task);
    },
    uid: process.getuid?.() ?? 0,
    currentDirectory: process.cwd(),
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const bound = server.address();
      server.close(() => resolve(typeof bound === 'object' && bound !== null ? bound.port : 0));
    });
  });
}

/** One Ctrl-C under `npm start` arrives twice: from the terminal, and handed on by npm. */
const SAME_PRESS_MS = 1_000;

/** The first signal asks for an orderly end; a second one takes the shortest way out. */
function interruption(): AbortSignal {
  const stopping = new AbortController();
  let firstMs = 0;
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      if (stopping.signal.aborted && performance.now() - firstMs > SAME_PRESS_MS) process.exit(1);
      if (stopping.signal.aborted) return;
      firstMs = performance.now();
      stopping.abort();
    });
  }
  return stopping.signal;
}
