#!/usr/bin/env node
/** `rollcall`: the composition root. */
import process from 'node:process';
import { createNodeIo } from './adapters/node-io.ts';
import type { Parts } from './optional-package.ts';
import { runProgram } from './program.ts';

/** Loaded when a verb needs them: a host does not install a database, a laptop no agent (design 2). */
const parts: Parts = {
  '@rollcall/hub': () => import('@rollcall/hub'),
  '@rollcall/agent': () => import('@rollcall/agent'),
  demo: () => import('./demo/run-demo.ts'),
};

// `rollcall host list | head` closes the pipe early, and a terminal may be gone: that is no failure of the command.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error;
    process.exit();
  });
}

process.exitCode = await runProgram(process.argv.slice(2), createNodeIo(process, parts));
