/** I13: every failed authentication gets the same status and bytes. */
import { assertThat, type Check } from './invariant.ts';

const refusalsAreAlike: Check = {
  onAnswered: (_world, _handling, { status, headers, body }) => {
    if (status !== 401) return;
    const text = `${JSON.stringify(headers)} ${Buffer.from(body).toString('utf8')}`;
    assertThat(text === REFUSAL, 'I13', () => `a refusal reads ${text}`);
  },
};

/** A bearer that is none of this host, or one of a host that is not let in, is told nothing but that it is refused. */
const strangersAreToldNothing: Check = {
  onAnswered: ({ ledger, snapshot, yesMs }, { request, host, bearer, nowMs, before }, { status }) => {
    if (request.path !== '/v1/heartbeat' || host === undefined) return;
    const isOut = !ledger.wasActive(host, nowMs, yesMs) && snapshot.hosts.get(host)?.status !== 'active';
    if (bearer !== undefined && !isOut && before.hosts.has(host)) return;
    assertThat([401, 429, 503].includes(status), 'I13', () => `a stranger who said ${host} was answered ${status}`);
  },
};

const REFUSAL = '{"content-type":"application/json; charset=utf-8"} {"error":"node token invalid"}';

export const oneAnswerToAStranger: readonly Check[] = [refusalsAreAlike, strangersAreToldNothing];
