/** What to type in another terminal while the fleet stays up. */
import { fileURLToPath } from 'node:url';
import type { Demo } from './demo.ts';

/** Lines to be copied: a shell function for the program that runs here, and five commands. */
export function tryNext({ work, cast, world }: Pick<Demo, 'work' | 'cast' | 'world'>): readonly string[] {
  return [
    `  rollcall() { node ${nearby(world.currentDirectory)} "$@"; }`,
    `  export ROLLCALL_HUB=unix:${work.path}/hub/operator.sock`,
    '',
    '  rollcall host list',
    '  rollcall rotation status fleet',
    '  rollcall audit list --last 12',
    '  rollcall rotation start fleet --auto=all',
    `  rollcall rotation start master --leave ${cast.silent} ${cast.invited}`,
  ];
}

/** The program, as short as the directory allows in which the demo was started. */
function nearby(currentDirectory: string): string {
  const program = fileURLToPath(new URL('../main.js', import.meta.url));
  return program.startsWith(`${currentDirectory}/`) ? program.slice(currentDirectory.length + 1) : program;
}
