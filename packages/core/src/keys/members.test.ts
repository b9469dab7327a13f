import { describe, expect, it } from 'vitest';
import { parseMember } from './members.ts';

describe('a member', () => {
  it.each(['agent-7', 'all', 'caller:deploy', 'caller:nightly-backup'])('is %s', (text) => {
    expect(parseMember(text)).toBe(text);
  });

  it.each(['', 'caller:', 'caller:Deploy', 'caller:a b', 'host:a', '-a', 'caller:caller:a', 7, undefined])(
    'is not %j',
    (text) => {
      expect(() => parseMember(text)).toThrow(expect.objectContaining({ code: 'malformed_member' }));
    },
  );
});
