import { describe, expect, test } from 'vitest';
import { faultOf, refusalOf } from '../refusal.fixture.ts';
import { isHostId, parseHostId, parsePurpose, parseSecretName } from './names.ts';

describe('host ids', () => {
  test.each(['a', '7', 'agent-7', 'A.b_c-9', 'a'.repeat(128), 'a..b', 'a-_.b'])('%j is one', (text) => {
    expect(parseHostId(text)).toBe(text);
    expect(isHostId(text)).toBe(true);
  });

  test.each<unknown>([
    '',
    '-a',
    'a-',
    '.a',
    'a.',
    '_a',
    'a_',
    'a b',
    'a/b',
    'a\0b',
    'a\n',
    '\na',
    'ä',
    'a:b',
    'a'.repeat(129),
    'agent-7\0heartbeat',
    undefined,
    null,
    7,
    ['a'],
    {},
  ])('%j is none', (text) => {
    expect(refusalOf(() => parseHostId(text))).toBe('malformed_host_id');
    expect(isHostId(text)).toBe(false);
  });
});

describe('names of secrets and purposes', () => {
  test.each(['master', 'a', '-', 'fleet-token-2', 'a'.repeat(64)])('%j is one', (text) => {
    expect(parseSecretName(text)).toBe(text);
    expect(parsePurpose(text)).toBe(text);
  });

  test.each<unknown>(['', 'A', 'a_b', 'a.b', 'a b', 'a\0', 'a\n', '\na', 'a'.repeat(65), undefined, 1, ['a']])(
    '%j is none',
    (text) => {
      expect(refusalOf(() => parseSecretName(text))).toBe('malformed_secret_name');
      expect(refusalOf(() => parsePurpose(text))).toBe('malformed_secret_name');
      expect(faultOf(() => parsePurpose(text))).toBe('purpose');
    },
  );
});
