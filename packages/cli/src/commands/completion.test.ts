/** Scripts that are run by the shells themselves, where there are any: a script that only looks right completes nothing. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandTree } from '../completion/command-tree.ts';
import { createProgram } from '../program.ts';
import { transcript } from '../transcript.fixture.ts';

const shells = ['bash', 'zsh', 'fish'] as const;
const isThere = (shell: string) => spawnSync(shell, ['--version']).status === 0;
let dir = '';

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'rollcall-completion-'));
  for (const shell of shells) {
    const { stdout } = await transcript(['completion', shell]);
    writeFileSync(join(dir, shell), stdout);
  }
  writeFileSync(join(dir, 'token one'), '');
});

afterAll(() => rmSync(dir, { recursive: true }));

/** What bash offers when TAB is pressed behind these words. */
function bash(...words: readonly string[]): string[] {
  const script = `source "$1"; shift; COMP_WORDS=(rollcall "$@"); COMP_CWORD=$#; _rollcall; printf "%s\\n" "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', script, 'bash', join(dir, 'bash'), ...words], {
    encoding: 'utf8',
    cwd: dir,
  });
  expect(stderr).toBe('');
  return stdout.split('\n').filter((line) => line !== '');
}

describe.each(shells)('the script for %s', (shell) => {
  // Skipped where that shell is not installed: then there is nothing that could read it.
  it.skipIf(!isThere(shell))('is one that the shell can read', () => {
    const args = shell === 'fish' ? ['--no-execute'] : ['-n'];
    expect(spawnSync(shell, [...args, join(dir, shell)], { encoding: 'utf8' })).toMatchObject({
      status: 0,
      stderr: '',
    });
  });

  it('is the one document of --json', async () => {
    const { json } = await transcript(['completion', shell, '--json']);
    expect(json).toMatchObject({ shell, script: expect.stringContaining('rollcall') });
  });

  it('names every noun, verb and option of the program', async () => {
    const { stdout } = await transcript(['completion', shell]);
    const io = { ...({} as Parameters<typeof createProgram>[0]), version: '0.1.0' };
    for (const { path, commands, options } of commandTree(createProgram(io, async () => undefined))) {
      expect(stdout).toContain(path);
      for (const { name } of commands) expect(stdout).toContain(name);
      for (const { name } of options) expect(stdout).toContain(shell === 'fish' ? `-l ${name.slice(2)}` : name);
    }
  });
});

// Skipped where there is no bash: what it offers can be asked of it alone.
describe.skipIf(!isThere('bash'))('bash completes', () => {
  it.each([
    [['ro'], ['rotation']],
    [
      ['host', 're'],
      ['reenrol', 'resume', 'remove'],
    ],
    [
      ['rotation', 'st'],
      ['start', 'status'],
    ],
    [
      ['host', 'add', 'agent-1', '--reach', ''],
      ['push', 'pull'],
    ],
    [
      ['host', 'add', '--reach', 'pu'],
      ['push', 'pull'],
    ],
    [['--json', 'rotation', 'start', 'master', '--le'], ['--leave']],
    [['rotation', 'start', 'master', '--reason', 'l'], ['leak']],
    [
      ['pin', 'accept-first-use', 'o'],
      ['on', 'off'],
    ],
    [['rung', 'refuse', 'f'], ['fleet-token']],
    [['completion', ''], expect.arrayContaining(['bash', 'zsh', 'fish'])],
    [
      ['operator', 'add', 'ada', '--role', ''],
      ['viewer', 'operator', 'admin'],
    ],
    [['host', 'list', '--token-file', 'tok'], ['token one']],
    [['host', 'import', 'tok'], ['token one']],
    [['host', 'import', '--dry'], ['--dry-run']],
    [['audit', 'list', '--limit', ''], []],
    [['no', 'such', ''], expect.arrayContaining(['host', '--json'])],
    // A host that is called as a noun is no noun.
    [['host', 'show', 'rotation', '--js'], ['--json']],
  ])('%j with %j', (words, offered) => {
    expect(bash(...words)).toEqual(offered);
  });
});

describe('a shell that there is no script for', () => {
  it.each([['tcsh'], ['constructor']])('%s is usage', async (shell) => {
    expect(await transcript(['completion', shell, '--json'])).toMatchObject({
      exit: 2,
      json: { error: { code: 'usage' } },
    });
  });
});
