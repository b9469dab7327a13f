/** I3: no answer to a host carries a secret except sealed to the pin of exactly that host. */
import { readJson } from '../machines/exchange.ts';
import { assertThat, type Check } from './invariant.ts';
import { findSecret } from './known-secrets.ts';

interface Delivered {
  readonly host: string;
  readonly recipient: string;
}

const deliveriesAreSealedToThePin: Check = {
  onAnswered: ({ ledger, yesMs }, { host, nowMs }, { status, body }) => {
    if (status !== 200) return;
    const { deliveries } = readJson(body) as { readonly deliveries?: readonly Delivered[] };
    for (const delivery of deliveries ?? []) {
      const { recipient } = delivery;
      assertThat(delivery.host === host, 'I3', () => `${host} was answered with a delivery of ${delivery.host}`);
      const isItsPin = ledger.wasPinned(delivery.host, recipient, nowMs, yesMs);
      assertThat(isItsPin, 'I3', () => `a delivery of ${host} is sealed to ${recipient}`);
    }
  },
};

const answersCarryNoSecret: Check = {
  onAnswered: (world, { request }, { body }) => {
    const found = findSecret(world, Buffer.from(body).toString('latin1'));
    assertThat(found === undefined, 'I3', () => `an answer to ${request.path} carries ${found}`);
  },
};

export const sealedOrSilent: readonly Check[] = [deliveriesAreSealedToThePin, answersCarryNoSecret];
