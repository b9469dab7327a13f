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

test('no value is no token', () => {
  for (const presented of [undefined, null, '']) {
    expect(refusalOf(() => guard.verifyValue(presented))).toBe('unauthenticated');
  }
  expect(guard.verifyValue(current)).toEqual({ version: 4, role: 'current' });
});
