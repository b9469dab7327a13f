import { utf8 } from '@rollcall/core/bytes';
import { isRollcallError } from '@rollcall/core/errors';
import { encodeToken, SecretBytes } from '@rollcall/core/keys';
import { describe, expect, it } from 'vitest';
import { assignment, heartbeatKey } from '../fleet.fixture.ts';
import { createAcceptance, presentedToken } from './acceptance.ts';
import { commandBearer, dropOf, dropping, holding, tokenStep, tokenText } from './listener.fixture.ts';

function refused(act: () => unknown): boolean {
  try {
    act();
    return false;
  } catch (error) {
    return isRollcallError(error, 'unauthenticated');
  }
}

describe('what a host takes', () => {
  const acceptance = createAcceptance(holding([tokenStep(4, [3, 4], 4), tokenStep(1, [1, 2], 1, 'other')], [1, 2]));

  it.each([
    [4, 'api', 'current'],
    [3, 'api', 'retiring'],
    [1, 'other', 'current'],
    [2, 'other', 'next'],
  ] as const)('is version %i of %s, as %s', (version, secret, role) => {
    expect(acceptance.verifyToken(` ${tokenText(version, secret)}\t`)).toEqual({ secret, version, role });
  });

  it.each([1, 2])('is the command bearer of generation %i, which it accepts', (version) => {
    expect(acceptance.verifyCommand(commandBearer(version))).toEqual({ version });
  });

  it.each([
    ['nothing', ''],
    ['white space', ' '],
    ['another version', tokenText(5)],
    ['a version of another secret', tokenText(3, 'other')],
    ['two at once', tokenText(3) + tokenText(4)],
    ['a cut one', tokenText(4).slice(0, -1)],
    ['a command bearer', commandBearer(1)],
  ])('as a token is not %s', (_, text) => {
    expect(refused(() => acceptance.verifyToken(text))).toBe(true);
  });

  it.each([
    ['nothing', ''],
    ['a generation that it does not hold', commandBearer(3)],
    ['its heartbeat key under the prefix of a command', encodeToken('rcc', heartbeatKey(1))],
    ['its command key under the prefix of a heartbeat', commandBearer(1).replace('rcc_', 'rcb_')],
    ['zeros', encodeToken('rcc', new Uint8Array(32))],
    ['a shared token', tokenText(4)],
  ])('as a command is not %s', (_, text) => {
    expect(refused(() => acceptance.verifyCommand(text))).toBe(true);
  });
});

it('what a step drops is taken from nobody, and counted for nobody', () => {
  const acceptance = createAcceptance(holding([dropping(tokenStep(4, [4]), 3)]));
  expect(refused(() => acceptance.verifyToken(tokenText(3)))).toBe(true);
  expect(acceptance.verifyToken(tokenText(4))).toMatchObject({ version: 4 });
  expect(acceptance.tokens).toEqual([{ secret: 'api', version: 4, role: 'current' }]);
});

describe('a host that holds nothing', () => {
  it.each([
    ['has no assignment', new Map()],
    [
      'has a token without text',
      new Map([
        ['api', { ...tokenStep(1, [1]), accept: [{ version: 1, value: new SecretBytes('token', utf8(' ')) }] }],
      ]),
    ],
    [
      'has a master without a command key',
      new Map([['master', assignment({ accept: [{ version: 1, value: { life: 1, keys: {} } }] })]]),
    ],
    ['was released from its only token', new Map([['api', dropOf(2)]])],
  ])('refuses everything: it %s', (_, assignments) => {
    const acceptance = createAcceptance(assignments);
    expect(acceptance.isEmpty).toBe(true);
    for (const text of ['', ' ', tokenText(1), commandBearer(1)]) {
      expect(refused(() => acceptance.verifyToken(text))).toBe(true);
      expect(refused(() => acceptance.verifyCommand(text))).toBe(true);
    }
    expect(createAcceptance(holding([tokenStep(1, [1])])).isEmpty).toBe(false);
  });
});

it('presents to the hub the version that it is told to, and of the master none', () => {
  expect(presentedToken(tokenStep(4, [3, 4], 4))).toBe(tokenText(4));
  expect(presentedToken(assignment())).toBeUndefined();
  expect(presentedToken(dropOf(5))).toBeUndefined();
});
