#!/usr/bin/env node
/**
 * What npm links as `rollcall`. It is committed, so that the link points at a file also where nothing is built yet: npm
 * makes no link to a file that is not there, and sets no mode on one that comes later.
 */
import { existsSync } from 'node:fs';
import process from 'node:process';

if (existsSync(new URL('../dist/main.js', import.meta.url))) {
  await import('../dist/main.js');
} else {
  process.stderr.write('rollcall is not built yet.\n  hint  In a clone: npm run build\n');
  process.exitCode = 2;
}
