/** Agents as real processes, each with a state directory of its own. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentStatusAnswer } from '@rollcall/wire';
import { type Child, startChild } from './child.ts';
import { exchange } from './exchange.ts';
import type { Recorder } from './recorder.ts';

export interface Agents {
  readonly dir: string;
  readonly stateOf: (id: string) => string;
  /** A private file. */
  readonly write: (name: string, content: string | Uint8Array) => string;
  readonly start: (id: string, ...flags: readonly string[]) => Child;
  readonly status: (id: string) => Promise<AgentStatusAnswer>;
  /** What every agent said last. */
  readonly story: () => string;
  readonly close: () => Promise<void>;
}

export function createAgents(recorder: Recorder): Agents {
  const dir = mkdtempSync(join(tmpdir(), 'rc-'));
  const children: Child[] = [];
  const stateOf = (id: string) => join(dir, `state-${id}`);
  return {
    dir,
    stateOf,
    write: (name, content) => {
      const path = join(dir, name);
      writeFileSync(path, content, { mode: 0o600 });
      return path;
    },
    start: (id, ...flags) => {
      const args = ['agent', 'start', '--state', stateOf(id), '--log-level', 'debug', ...flags];
      const child = startChild({ name: id, args, recorder, env: { HOME: dir } });
      children.push(child);
      return child;
    },
    status: async (id) => {
      const socket = join(stateOf(id), 'agent.sock');
      return (await exchange({ socket }, { method: 'GET', path: '/v1/status' }, recorder)).json<AgentStatusAnswer>();
    },
    story: () => children.map((child) => tellStory(child)).join('\n'),
    close: async () => {
      await Promise.all(children.map((child) => child.kill('SIGKILL')));
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** The last lines of its log. */
export function tellStory(child: Child): string {
  return `--- ${child.name}\n${child.stderr().split('\n').slice(-15).join('\n')}`;
}
