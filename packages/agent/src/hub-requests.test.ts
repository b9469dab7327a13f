import { decodeUtf8 } from '@rollcall/core/bytes';
import { SecretBytes } from '@rollcall/core/keys';
import { limits } from '@rollcall/core/limits';
import { expect, it } from 'vitest';
import type { AgentState } from './agent-state.ts';
import { durableState, heartbeatKey, random } from './fleet.fixture.ts';
import { heartbeatRequest } from './hub-requests.ts';
import { holding, tokenStep, tokenText } from './listener/listener.fixture.ts';
import { decideStart } from './start.ts';

const key = new SecretBytes('host-key', heartbeatKey(1));
const now = { wallMs: 0, monotonicMs: 0, random };
const answered = { wallMs: 0, monotonicMs: 0, pin: 'pinned' } as const;
const beat = (...tokens: Parameters<typeof holding>[0]) => beatWith({ lastAnswer: answered }, ...tokens);
function beatWith(changes: Partial<AgentState>, ...tokens: Parameters<typeof holding>[0]) {
  const state = decideStart(durableState({ assignments: holding(tokens) }), {}, random);
  return heartbeatRequest({ ...state, ...changes }, key, { ...now, monotonicMs: limits.tokensKnownForMs });
}

it('a beat presents beside the bearer the version of each shared token that the host is told to present', () => {
  expect(beat().tokens).toBeUndefined();
  expect(beat(tokenStep(2, [1, 2], 1), tokenStep(3, [7, 8], 8, 'other')).tokens).toEqual([
    tokenText(1),
    tokenText(8, 'other'),
  ]);
  expect(decodeUtf8(beat(tokenStep(2, [1, 2], 1)).body as Uint8Array)).not.toContain(tokenText(1));
});

it.each([
  ['the first of a start', {}],
  ['one after a refusal', { lastAnswer: answered, failures: 1 }],
  ['one after a long silence', { lastAnswer: { ...answered, monotonicMs: -1 } }],
] as const)('a beat that may present what was dropped meanwhile presents none: %s', (_what, changes) => {
  const tokens = [tokenStep(2, [1, 2], 1)];
  expect(beatWith(changes, ...tokens).tokens).toBeUndefined();
  expect(beatWith({ lastAnswer: answered }, ...tokens).tokens).toEqual([tokenText(1)]);
});

it('a beat says what the verifiers of the host have to report', () => {
  const reports = { listener: { address: '127.0.0.1:7444', open: true }, probes: [] };
  const { body } = heartbeatRequest(decideStart(durableState(), {}, random), key, { ...now, reports });
  expect(JSON.parse(decodeUtf8(body as Uint8Array) as string)).toMatchObject(reports);
});
