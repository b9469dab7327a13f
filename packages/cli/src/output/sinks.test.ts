/** A line for each sink in the status of an agent: what is in it, and what is wrong rather than how it stands. */
import type { SinkStatus } from '@rollcall/wire';
import { expect, it } from 'vitest';
import { agentStatus } from '../answers.fixture.ts';
import type { AgentPackage } from '../optional-package.ts';
import { transcript } from '../transcript.fixture.ts';

const sink: SinkStatus = {
  name: 'web',
  secret: 'fleet',
  path: '/etc/web/token',
  version: 4,
  state: 'reloaded',
  problem: null,
};

async function shown(...sinks: readonly SinkStatus[]): Promise<string> {
  const agent = { readAgentStatus: async () => ({ ...agentStatus, sinks: [...sinks] }) } as unknown as AgentPackage;
  const parts = { '@rollcall/agent': async () => agent };
  const run = await transcript(['agent', 'status', '--state', '/s'], { parts });
  return run.stdout.replaceAll(/\s+/g, ' ');
}

it('shows each sink of an agent', async () => {
  const text = await shown(
    sink,
    { ...sink, name: 'mail', version: null, state: 'unwritten' },
    { ...sink, name: 'db', version: null, state: 'drifted', problem: 'sink_drifted' },
    { ...sink, name: 'api', state: 'unreloaded', path: '/etc/\u001b[2Japi' },
  );
  expect(text).toContain('sink web: fleet version 4, in place, at /etc/web/token');
  expect(text).toContain('sink mail: fleet, not written yet, at');
  expect(text).toContain('sink db: fleet, sink_drifted, at');
  expect(text).toContain('sink api: fleet version 4, written, its program is being told, at');
  expect(text).not.toContain('\u001b[2J');
});

it('shows none where there is none', async () => {
  expect(await shown()).not.toContain(' sink ');
});
