/** A token that the hub takes away from its host: nothing of it is used any more, and no earlier step brings it back (I4). */

import { SecretBytes } from '@rollcall/core/keys';
import { limits } from '@rollcall/core/limits';
import { describe, expect, it } from 'vitest';
import type { AgentState } from './agent-state.ts';
import { describeAgent, describeHost } from './agent-status.ts';
import { delivery, durableState, heartbeatKey, random } from './fleet.fixture.ts';
import { heartbeatRequest } from './hub-requests.ts';
import { dropOf, holding, tokenStep, tokenText } from './listener/listener.fixture.ts';
import { decideStart } from './start.ts';
import { encodeDurableState, parseDurableState } from './state/durable-state.ts';
import { takeDeliveries } from './take-deliveries.ts';

const taken = new Map();
const before = durableState({ assignments: holding([tokenStep(1, [1]), tokenStep(1, [1], 1, 'other')]) });
const { next: dropped, applied } = takeDeliveries(before, [delivery(dropOf(2))], taken);

function beat(durable: typeof before) {
  const lastAnswer = { wallMs: 0, monotonicMs: 0, pin: 'pinned' } as const;
  const state: AgentState = { ...decideStart(durable, {}, random), lastAnswer, failures: 0 };
  const now = { wallMs: 0, monotonicMs: 1, random };
  const { tokens = [], body } = heartbeatRequest(state, new SecretBytes('host-key', heartbeatKey(1)), now);
  return { tokens, held: JSON.parse(Buffer.from(body ?? '').toString()).held as object, state };
}

describe('a secret that was dropped', () => {
  it('is sent no more, while the place of the step is said', () => {
    expect(applied.map(({ secret, step }) => `${secret} ${step}`)).toEqual(['api 2']);
    expect(beat(before).tokens).toEqual([tokenText(1), tokenText(1, 'other')]);
    const { tokens, held } = beat(dropped);
    expect(tokens).toEqual([tokenText(1, 'other')]);
    expect(held).toMatchObject({ api: { epoch: 1, step: 2 }, other: { epoch: 1, step: 1 } });
  });

  it('leaves nothing of its values in what is written, and reads back as what it is', () => {
    const written = JSON.stringify(encodeDurableState(dropped));
    expect(JSON.stringify(encodeDurableState(before))).toContain(tokenText(1));
    expect(written).not.toContain(tokenText(1));
    expect(parseDurableState(JSON.parse(written)).assignments.get('api')).toEqual(dropOf(2));
  });

  it('is no token that the host holds, to whoever asks it', () => {
    const { state } = beat(dropped);
    const closed = { open: false, address: null, reason: null };
    expect(describeHost(state, closed).tokens.map(({ secret }) => secret)).toEqual(['other']);
    expect(describeAgent(state).tokens?.map(({ secret }) => secret)).toEqual(['other']);
  });

  it('does not come back by a step of before, only by a later one', () => {
    for (const step of [1, 2]) {
      const again = takeDeliveries(dropped, [delivery(tokenStep(step, [1]))], taken);
      expect(again.applied).toEqual([]);
      expect([...again.refused.values()].map(({ reason }) => reason)).toEqual(step === 1 ? ['delivery_replayed'] : []);
    }
    const { next } = takeDeliveries(dropped, [delivery(tokenStep(3, [1]))], taken);
    expect(beat(next).tokens).toContain(tokenText(1));
  });

  it('gives its place to what is held, once there is no room for both', () => {
    let durable = dropped;
    const take = (of: Parameters<typeof delivery>[0]) => {
      durable = takeDeliveries(durable, [delivery(of)], taken).next;
    };
    for (let at = 0; at < limits.secretsPerHost; at += 1) take(dropOf(1, `old-${at}`));
    take(dropOf(2, 'old-9'));
    take(tokenStep(1, [1], 1, 'new'));
    expect(durable.assignments.size).toBe(limits.secretsPerHost);
    const names = [...durable.assignments.keys()];
    expect(names).toEqual(expect.arrayContaining(['master', 'other', 'new', 'old-9', 'old-63']));
    expect(names).not.toContain('api');
    expect(parseDurableState(encodeDurableState(durable)).assignments.size).toBe(limits.secretsPerHost);
  });
});
