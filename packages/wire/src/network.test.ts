import { expect, it } from 'vitest';
import { networkOf } from './network.ts';

it.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::1', '0:0:0:0'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['2001:DB8:0:0:ffff::1', '2001:db8:0:0'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8:1::6', '2001:db8:1:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['', ''],
])('%s are of the network %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});
