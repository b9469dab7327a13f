/** I9: what is written for a host is written to the rows of that host, and to no other. */
import type { StoreSnapshot } from '../machines/store-snapshot.ts';
import { assertThat, type Check } from './invariant.ts';

const requestsTouchTheirOwnRows: Check = {
  onCommit: (_world, before, after, by) => {
    if (by?.host === undefined) return;
    const others = changedHosts(before, after).filter((host) => host !== by.host);
    assertThat(others.length === 0, 'I9', () => `${by.name}, as ${by.host}, changed rows of ${others.join()}`);
  },
};

function changedHosts(before: StoreSnapshot, after: StoreSnapshot): readonly string[] {
  return [...after.hosts.keys()].filter((host) => textOf(before, host) !== textOf(after, host));
}

function textOf({ hosts, pins, assignments, tokens }: StoreSnapshot, host: string): string {
  const { mac: _mac, ...row } = { mac: undefined, ...hosts.get(host) };
  const own = [...tokens.values()].filter((token) => token.host === host);
  return JSON.stringify([row, pins.get(host), assignments.get(host), own]);
}

export const scopeInTheStatement: readonly Check[] = [requestsTouchTheirOwnRows];
