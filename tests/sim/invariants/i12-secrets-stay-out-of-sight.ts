/** I12: no log line holds a secret. Answers are looked through under I3. */
import { assertThat, type Check } from './invariant.ts';
import { findSecret } from './known-secrets.ts';

const logsHoldNoSecret: Check = {
  onLog: (world, line) => {
    const found = findSecret(world, line);
    assertThat(found === undefined, 'I12', () => `${found} was logged`);
    const isToken = world.ledger.tokens.some(({ text }) => line.includes(text.slice(4, 60)));
    assertThat(!isToken, 'I12', () => 'an enrolment token was logged');
  },
};

export const secretsStayOutOfSight: readonly Check[] = [logsHoldNoSecret];
