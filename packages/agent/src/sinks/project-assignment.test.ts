/** The bytes of each file, and that one is never more than one token a line. */
import { decodeUtf8, utf8 } from '@rollcall/core/bytes';
import { SecretBytes } from '@rollcall/core/keys';
import type { Assignment } from '@rollcall/core/seal';
import { describe, expect, it } from 'vitest';
import { assignment as masterAssignment } from '../fleet.fixture.ts';
import { contentDigest, projectAssignment } from './project-assignment.ts';
import { tokenAssignment } from './sink.fixture.ts';

const texts = (of: Assignment) =>
  Object.fromEntries([...projectAssignment(of).content].map(([name, bytes]) => [name, decodeUtf8(bytes)]));

describe('the content of a sink', () => {
  it('of one version', () => {
    expect(texts(tokenAssignment({ versions: [3] }))).toEqual({
      present: 'token-of-version-3-----',
      accept: 'token-of-version-3-----\n',
      current: 'token-of-version-3-----',
      version: '3',
    });
  });

  it('of two has the other beside the one to present, as next or as retiring', () => {
    expect(texts(tokenAssignment({ versions: [3, 4], present: 3 }))).toEqual({
      present: 'token-of-version-3-----',
      accept: 'token-of-version-3-----\ntoken-of-version-4-----\n',
      current: 'token-of-version-3-----',
      next: 'token-of-version-4-----',
      version: '3',
    });
    expect(texts(tokenAssignment({ versions: [3, 4], present: 4 }))).toEqual({
      present: 'token-of-version-4-----',
      accept: 'token-of-version-4-----\ntoken-of-version-3-----\n',
      current: 'token-of-version-4-----',
      retiring: 'token-of-version-3-----',
      version: '4',
    });
  });

  it('never has what the step drops', () => {
    const plain = tokenAssignment({ versions: [4] });
    const refuse = [{ version: 3, value: new SecretBytes('token', utf8('token-of-version-3-----')) }];
    expect(projectAssignment({ ...plain, refuse })).toEqual(projectAssignment(plain));
  });

  it('has a digest of names and bytes', () => {
    const { content, digest } = projectAssignment(tokenAssignment({ versions: [3, 4] }));
    expect(contentDigest(new Map([...content].reverse()))).toBe(digest);
    expect(contentDigest(new Map([...content, ['version', utf8('4')]]))).not.toBe(digest);
    expect(contentDigest(new Map([...content].filter(([name]) => name !== 'next')))).not.toBe(digest);
    const swapped = projectAssignment(tokenAssignment({ versions: [3, 4], present: 4 }));
    expect(swapped.digest).not.toBe(digest);
  });

  it.each([
    ['a line break', 'token-of-version-3\ntoken-of-a-thief'],
    ['a carriage return', 'token-of-version-3\rx'],
    ['a space', 'token of version 3'],
    ['a NUL', 'token-of-version-3\0'],
    ['a letter of another alphabet', 'token-of-version-ä'],
    ['nothing', ''],
  ])('is none where a token has %s', (_what, text) => {
    const of = (value: string) =>
      tokenAssignment({ accept: [{ version: 3, value: new SecretBytes('token', utf8(value)) }], present: 3 });
    expect(() => projectAssignment(of(text))).toThrow(expect.objectContaining({ code: 'sink_value_unusable' }));
    expect(() => projectAssignment(of('token-of-version-3'))).not.toThrow();
  });

  it('is never made of a master', () => {
    expect(() => projectAssignment(masterAssignment())).toThrow(
      expect.objectContaining({ code: 'sink_value_unusable' }),
    );
  });
});
