/** For tests of the listener: assignments of shared tokens, and the texts that their versions have. */
import { utf8 } from '@rollcall/core/bytes';
import { encodeToken, SecretBytes } from '@rollcall/core/keys';
import { type Assignment, NOTHING } from '@rollcall/core/seal';
import { assignment, seededRandom } from '../fleet.fixture.ts';

const random = seededRandom('tokens');
const texts = new Map<string, string>();

/** The text of a version of a shared token, always the same one. */
export function tokenText(version: number, secret = 'api'): string {
  const key = `${secret} ${version}`;
  const text = texts.get(key) ?? encodeToken('rcf', random(32));
  texts.set(key, text);
  return text;
}

/** A step of a shared token: `accept` by number, the first of them presented unless it is said. */
export function tokenStep(
  step: number,
  accept: readonly number[],
  present = accept[0] as number,
  secret = 'api',
): Assignment {
  return {
    secret,
    epoch: 1,
    step,
    present,
    accept: accept.map((version) => ({ version, value: new SecretBytes('token', utf8(tokenText(version, secret))) })),
    issuedAt: '2026-03-01T12:00:00Z',
  };
}

/** A step that takes the token away. */
export function dropOf(step: number, secret = 'api'): Assignment {
  return { ...tokenStep(step, [1], 1, secret), accept: [], present: NOTHING };
}

/** The same step, naming what it drops. */
export function dropping(step: Assignment, ...versions: readonly number[]): Assignment {
  const refuse = versions.map((version) => ({
    version,
    value: new SecretBytes('token', utf8(tokenText(version, step.secret))),
  }));
  return { ...step, refuse };
}

/** What a host holds: its master of these generations, and tokens. */
export function holding(
  tokens: readonly Assignment[],
  generations: readonly number[] = [1],
): ReadonlyMap<string, Assignment> {
  return new Map([assignment({ versions: generations }), ...tokens].map((held) => [held.secret, held]));
}

/** The text of the command bearer that the hub derives for this host from a generation. */
export function commandBearer(generation: number): string {
  const value = assignment({ versions: [generation] }).accept[0]?.value;
  if (value === undefined || !('keys' in value)) throw new TypeError('no keys');
  return encodeToken('rcc', (value.keys['command'] as SecretBytes).reveal());
}
