/** A hint is read at three in the morning: each command that one names is there to be typed. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorTable } from '@rollcall/core/errors';
import { expect, it } from 'vitest';
import { commandTree } from './completion/command-tree.ts';
import { createProgram } from './program.ts';

const packages = join(import.meta.dirname, '../..');

/** Named, and not built yet. Each is a promise: none is to be added. */
const promised: readonly string[] = [];

function isSource(file: string): boolean {
  return /^[a-z0-9]+\/src\/.*\.ts$/.test(file) && !/\.(?:test|fixture)\.ts$/.test(file);
}

function namedIn(text: string): string[] {
  return [...text.matchAll(/`rollcall ([a-z]+)((?: [a-z][a-z-]*)?)/g)].map(([, noun, verb = '']) => `${noun}${verb}`);
}

const io = { ...({} as Parameters<typeof createProgram>[0]), version: '0.1.0' };
const tree = commandTree(createProgram(io, async () => undefined));
const known = new Set(tree.map(({ path }) => path.trim()));
/** What stands behind one of these is an argument: `completion bash`. */
const alone = new Set(tree.filter(({ commands }) => commands.length === 0).map(({ path }) => path.trim()));
const isKnown = (command: string) =>
  known.has(command) || alone.has(command.split(' ', 1)[0] ?? '') || promised.includes(command);

it('every command that a text of ours tells to type exists', () => {
  const files = readdirSync(packages, { recursive: true, encoding: 'utf8' }).filter(isSource);
  const named = files.flatMap((file) =>
    namedIn(readFileSync(join(packages, file), 'utf8')).map((it) => `${file}: ${it}`),
  );
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter((line) => !isKnown(line.replace(/^.*: /, '')))).toEqual([]);
});

it('would tell one that does not', () => {
  expect(namedIn('See `rollcall host list`; then `rollcall hub fly --now`.')).toEqual(['host list', 'hub fly']);
  expect(['host list', 'hub fly'].map(isKnown)).toEqual([true, false]);
  expect(promised.filter((command) => known.has(command))).toEqual([]);
});

it('what is told of a hub that cannot be reached is for its hosts, too: none of them is to start one', () => {
  expect(namedIn(errorTable.hub_unreachable.hint)).toEqual(['hub status']);
});
