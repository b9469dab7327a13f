import { decodeUtf8 } from '@rollcall/core/bytes';
import { SecretBytes } from '@rollcall/core/keys';
import { expect, it } from 'vitest';
import { durableState, heartbeatKey, random } from './fleet.fixture.ts';
import { heartbeatRequest } from './hub-requests.ts';
import { holding, tokenStep, tokenText } from './listener/listener.fixture.ts';
import { decideStart } from './start.ts';

const key = new SecretBytes('host-key', heartbeatKey(1));
const now = { wallMs: 0, monotonicMs: 0, random };
const beat = (...tokens: Parameters<typeof holding>[0]) =>
  heartbeatRequest(decideStart(durableState({ assignments: holding(tokens) }), {}, random), key, now);

it('a beat presents beside the bearer the version of each shared token that the host is told to present', () => {
  expect(beat().tokens).toBeUndefined();
  expect(beat(tokenStep(2, [1, 2], 1), tokenStep(3, [7, 8], 8, 'other')).tokens).toEqual([
    tokenText(1),
    tokenText(8, 'other'),
  ]);
  expect(decodeUtf8(beat(tokenStep(2, [1, 2], 1)).body as Uint8Array)).not.toContain(tokenText(1));
});

it('a beat says what the verifiers of the host have to report', () => {
  const reports = { listener: { address: '127.0.0.1:7444' }, probes: [] };
  const { body } = heartbeatRequest(decideStart(durableState(), {}, random), key, { ...now, reports });
  expect(JSON.parse(decodeUtf8(body as Uint8Array) as string)).toMatchObject(reports);
});
