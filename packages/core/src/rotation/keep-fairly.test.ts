import { expect, it } from 'vitest';
import { keepFairly } from './keep-fairly.ts';

/** `a1`: the first name of the address `a`. */
const kept = (seen: string, room: number) => keepFairly(seen.split(' '), room, ([address = '']) => address).join(' ');

it.each([
  ['room for all', 'a1 b1 a2', 3, 'a1 b1 a2'],
  ['one of each: the oldest goes', 'a1 b1 c1', 2, 'a1 b1'],
  ['one address: its oldest goes', 'a1 a2 a3', 2, 'a1 a2'],
  ['one under many names, and another that came before: it stays', 'a1 a2 a3 a4 b1', 3, 'a1 a2 b1'],
  ['the same, between the many', 'a1 a2 b1 a3 a4', 2, 'a1 b1'],
  ['three, of which one has a second name', 'a1 b1 a2 c1 b2', 4, 'a1 b1 a2 c1'],
  ['no room', 'a1 b1', 0, ''],
])('%s', (_, seen, room, left) => {
  expect(kept(seen, room)).toBe(left);
});
