import type { AgentStatusAnswer, ListenerStatus } from '@rollcall/wire';
import { expect, it } from 'vitest';
import { describeAgent } from '../agent-status.ts';
import { durableState, random } from '../fleet.fixture.ts';
import { decideStart } from '../start.ts';
import { judgeAgent } from './judge-agent.ts';
import type { ObservedAgent } from './observed-agent.ts';

function codesOf(listener: ListenerStatus | undefined): readonly string[] {
  const running: AgentStatusAnswer = describeAgent(decideStart(durableState(), {}, random), listener);
  const agent: ObservedAgent = {
    directory: '/var/lib/agent',
    uid: 0,
    directoryFact: { state: 'there', kind: 'directory', mode: 0o700, uid: 0 },
    directoryUnwritable: null,
    slots: [
      { path: '/var/lib/agent/state-a', fact: { state: 'there', kind: 'file', mode: 0o600, uid: 0 }, content: 'whole' },
    ],
    socketPathBytes: 30,
    freeBytes: null,
    nowMs: 0,
    identity: { host: 'agent-7', hubRoot: '', canSpeak: true },
    hubs: [],
    given: [],
    running,
  };
  return judgeAgent(agent).map(({ code }) => code);
}

it.each<[string, ListenerStatus | undefined, readonly string[]]>([
  ['closed', { open: false, address: '0.0.0.0:7444', reason: 'listener_unconfirmed' }, ['listener_closed']],
  ['not bound', { open: false, address: '0.0.0.0:7444', reason: 'listen_failed' }, ['listener_closed']],
  ['open', { open: true, address: '0.0.0.0:7444', reason: null }, []],
  ['not configured', { open: false, address: null, reason: 'listener_not_configured' }, []],
  ['of an agent that does not know of any', undefined, []],
])('a listener that is %s', (_, listener, codes) => {
  expect(codesOf(listener)).toEqual(codes);
});
