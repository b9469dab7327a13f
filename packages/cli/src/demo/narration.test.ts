import { describe, expect, it } from 'vitest';
import { plainStyle } from '../output/style.ts';
import { createNarrator, formatCommand, formatRule, hanging } from './narration.ts';

const fingerprint = 'ab'.repeat(32);

function told(tell: (narrator: ReturnType<typeof createNarrator>) => void): string {
  const parts: string[] = [];
  tell(createNarrator((text) => parts.push(text), plainStyle));
  return parts.join('');
}

describe('a command', () => {
  it('that fits stands on one line', () => {
    expect(formatCommand(['rollcall', 'host', 'list'])).toEqual(['$ rollcall host list']);
  });

  it('that does not is broken before an option, never between it and its value', () => {
    const words = ['rollcall', 'pin', 'confirm', 'old-1', '--fingerprint', fingerprint, '--hub', 'unix:/run/x.sock'];
    expect(formatCommand(words)).toEqual([
      '$ rollcall pin confirm old-1 \\',
      `  --fingerprint ${fingerprint} \\`,
      '  --hub unix:/run/x.sock',
    ]);
  });

  it('can be copied whole: broken lines put together again are the words', () => {
    const words = ['rollcall', ...Array.from({ length: 30 }, (_, at) => `word-${at}`)];
    const lines = formatCommand(words);
    expect(lines.length).toBeGreaterThan(2);
    expect(lines.every((line) => line.length <= 80)).toBe(true);
    expect(lines.join('\n').replaceAll(/ \\\n +/g, ' ')).toBe(`$ ${words.join(' ')}`);
  });

  it.each([
    ['|', '|'],
    ['>', '>'],
    ['&', '&'],
    ['a b', "'a b'"],
    ["it's", "'it'\\''s'"],
    ['', "''"],
  ])('quotes %j only where a shell would take it for something else', (word, typed) => {
    expect(formatCommand(['x', word])).toEqual([`$ x ${typed}`]);
  });
});

describe('the page', () => {
  it('has rules as wide as itself', () => {
    expect(formatRule('3 Pin')).toMatch(/^── 3 Pin ─+$/);
    expect([...formatRule('3 Pin')]).toHaveLength(80);
    expect([...formatRule('x'.repeat(90))].length).toBeGreaterThan(80);
  });

  it('sets further lines under the first word', () => {
    expect(hanging('thief: ', `${'word '.repeat(20)}end`)).toEqual([
      `thief: ${'word '.repeat(14)}`.trimEnd(),
      `       ${'word '.repeat(6)}end`,
    ]);
  });

  it('leaves one empty line between what does not belong together, and none between what does', () => {
    const text = told((narrator) => {
      narrator.say('It begins.');
      narrator.chapter('Enrol');
      narrator.say('A token.');
      narrator.command(['rollcall', 'host', 'list']);
      narrator.output(['nobody']);
      narrator.claimHolds('Nobody is there.');
      narrator.claimHolds('Nobody at all.');
      narrator.thief('does something.');
    });
    expect(text).toBe(
      [
        'It begins.',
        '',
        formatRule('1 Enrol'),
        '',
        'A token.',
        '$ rollcall host list',
        'nobody',
        '',
        '  ok   Nobody is there.',
        '  ok   Nobody at all.',
        '',
        'thief: does something.',
        '',
      ].join('\n'),
    );
  });

  it('shows what was expected and seen where a claim fails', () => {
    const text = told((narrator) => narrator.claimFails('All is well.', '[2,2]', '[1,2]'));
    expect(text).toBe('FAILED All is well.\n  expected [2,2]\n  seen     [1,2]\n');
  });
});
