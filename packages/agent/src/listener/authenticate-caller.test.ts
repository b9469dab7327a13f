import { isRollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import { describe, expect, it } from 'vitest';
import { host } from '../fleet.fixture.ts';
import { createAcceptance } from './acceptance.ts';
import { authenticateCaller, type Caller } from './authenticate-caller.ts';
import { commandBearer, holding, tokenStep, tokenText } from './listener.fixture.ts';

const acceptance = createAcceptance(holding([tokenStep(4, [3, 4], 4), tokenStep(1, [7], 7, 'other')]));
const at = { host, acceptance, isOwnProbe: (nonce: string) => nonce === 'nonce' };

type Headers = readonly (readonly [string, string])[];

function call(headers: Headers): Caller | string {
  try {
    return authenticateCaller(headers.flat(), at);
  } catch (error) {
    return isRollcallError(error) ? error.code : String(error);
  }
}

const token = (version: number, secret?: string) => ['X-Node-Token', tokenText(version, secret)] as const;
const command = ['Authorization', `Bearer ${commandBearer(1)}`] as const;
const forThis = ['X-Rollcall-Host', host] as const;
const forOther = ['X-Rollcall-Host', 'agent-8'] as const;

describe('a caller with a shared token', () => {
  it('is a member, and its id is declared', () => {
    expect(call([token(4), ['x-rollcall-host', 'agent-8']])).toEqual({
      rung: 'fleet-token',
      host: null,
      declaredHost: 'agent-8',
      tokens: [{ secret: 'api', version: 4, role: 'current' }],
      isProbe: false,
    });
    expect(call([token(3)])).toMatchObject({ declaredHost: null, tokens: [{ version: 3, role: 'retiring' }] });
    expect(call([token(3), ['X-Rollcall-Host', 'no host id']])).toMatchObject({ declaredHost: null });
  });

  it('may present one of each secret, and each must be good', () => {
    expect(call([token(4), token(7, 'other')])).toMatchObject({ tokens: [{ secret: 'api' }, { secret: 'other' }] });
    expect(call([token(4), token(8, 'other')])).toBe('unauthenticated');
    expect(call([token(8, 'other'), token(4)])).toBe('unauthenticated');
  });

  it('is bounded in how many it presents', () => {
    const many = (count: number) => call(Array.from({ length: count }, () => token(4)));
    expect(many(limits.presentedTokens)).toMatchObject({ rung: 'fleet-token' });
    expect(many(limits.presentedTokens + 1)).toBe('unauthenticated');
  });

  it('is a probe with the nonce of this process alone', () => {
    expect(call([token(4), ['X-Rollcall-Probe', 'nonce']])).toMatchObject({ isProbe: true });
    for (const claimed of ['1', 'another', '']) {
      expect(call([token(4), ['X-Rollcall-Probe', claimed]])).toMatchObject({ isProbe: false });
    }
  });
});

describe('a caller with the command bearer', () => {
  it('is the hub, for this host', () => {
    const hub = { rung: 'command', host, declaredHost: null, tokens: [], isProbe: false };
    expect(call([command, forThis])).toEqual(hub);
    expect(call([forThis, ['authorization', command[1]]])).toEqual(hub);
  });

  it('probes with a token beside it', () => {
    const probe = ['X-Rollcall-Probe', '1'] as const;
    expect(call([command, forThis, probe, token(3)])).toMatchObject({ isProbe: true, tokens: [{ version: 3 }] });
    expect(call([command, forThis, probe, token(5)])).toBe('unauthenticated');
    expect(call([command, forThis, ['X-Rollcall-Probe', '2'], token(3)])).toMatchObject({ isProbe: false });
  });
});

describe('the one refusal', () => {
  it.each<[string, Headers]>([
    ['nothing', []],
    ['an id alone', [forThis]],
    ['an empty token', [['X-Node-Token', '']]],
    ['a good token and an empty one', [token(4), ['X-Node-Token', '']]],
    ['a command for nobody', [command]],
    ['a command for another host', [command, forOther]],
    ['a command for this host in another case', [command, ['X-Rollcall-Host', host.toUpperCase()]]],
    ['a command for this host and another', [command, forThis, forOther]],
    ['a command for this host, twice', [command, forThis, forThis]],
    ['two commands', [command, command, forThis]],
    ['a command and an empty one', [command, ['Authorization', ''], forThis]],
    ['another scheme', [['Authorization', `Basic ${commandBearer(1)}`], forThis]],
    ['the bearer without its scheme', [['Authorization', commandBearer(1)], forThis]],
    ['the scheme in another case', [['Authorization', `bearer ${commandBearer(1)}`], forThis]],
    ['a command of a generation that is not held', [['Authorization', `Bearer ${commandBearer(2)}`], forThis]],
    ['a good token beside a bad command', [token(4), ['Authorization', 'Bearer x'], forThis]],
    ['a bad token beside a good command', [command, forThis, ['X-Node-Token', 'x'.repeat(40)]]],
    ['a good token as a bearer', [['Authorization', `Bearer ${tokenText(4)}`], forThis]],
    ['a good token with two ids', [token(4), forThis, forThis]],
    ['the nonce of a probe alone', [['X-Rollcall-Probe', 'nonce']]],
    ['two marks of a probe', [token(4), ['X-Rollcall-Probe', 'nonce'], ['X-Rollcall-Probe', 'nonce']]],
  ])('is for %s', (_, headers) => {
    expect(call(headers)).toBe('unauthenticated');
    expect(call([command, forThis])).toMatchObject({ host });
    expect(call([token(4)])).toMatchObject({ rung: 'fleet-token' });
  });
});
