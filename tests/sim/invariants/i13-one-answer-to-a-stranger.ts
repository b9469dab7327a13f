/** I13: every failed authentication gets the same status and bytes. */
import { assertThat, type Check } from './invariant.ts';

const refusalsAreAlike: Check = {
  onAnswered: (_world, _handling, { status, headers, body }) => {
    if (status !== 401) return;
    const text = `${JSON.stringify(headers)} ${Buffer.from(body).toString('utf8')}`;
    assertThat(text === REFUSAL, 'I13', () => `a refusal reads ${text}`);
  },
};

const REFUSAL = '{"content-type":"application/json; charset=utf-8"} {"error":"node token invalid"}';

export const oneAnswerToAStranger: readonly Check[] = [refusalsAreAlike];
