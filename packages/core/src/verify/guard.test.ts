import { expect, test } from 'vitest';
import { refusalOf } from '../refusal.fixture.ts';
import { current, widenedVerifier } from './guard.fixture.ts';
import { createGuard } from './guard.ts';

const guard = createGuard(widenedVerifier());

test('a request without a target is on no open path', () => {
  expect(guard.isOpen(undefined)).toBe(false);
  expect(guard.isOpen('')).toBe(false);
  expect(guard.isOpen('/healthz')).toBe(true);
});

test('what is open stays what it was when it was judged', () => {
  const open = ['/status'];
  const { isOpen } = createGuard(widenedVerifier(), { open });
  open.push('/v1/hosts');
  expect([isOpen('/status'), isOpen('/status?deep=1'), isOpen('/status2'), isOpen('/v1/hosts')]).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

test('no value is no token', () => {
  for (const presented of [undefined, null, '']) {
    expect(refusalOf(() => guard.verifyValue(presented))).toBe('unauthenticated');
  }
  expect(guard.verifyValue(current)).toEqual({ version: 4, role: 'current' });
});
