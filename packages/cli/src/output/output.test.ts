import type { RotationStatus } from '@rollcall/wire';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatAge, formatInstant, formatSpan } from './age.ts';
import { createLiveBlock } from './live-block.ts';
import { countOf, firstOf, formatFields, wrap } from './page.ts';
import { printable } from './printable.ts';
import { formatGate } from './rotation.ts';
import { createStyle, plainStyle } from './style.ts';
import { cutMiddle, formatTable } from './table.ts';

const NOW_MS = Date.UTC(2026, 10, 29, 12);
const view = { width: 80, style: plainStyle, nowMs: NOW_MS };

describe('ages', () => {
  it.each([
    [0, '0 s'],
    [59_999, '59 s'],
    [60_000, '1 min'],
    [3_599_999, '59 min'],
    [3_600_000, '1 h'],
    [47.9 * 3_600_000, '47 h'],
    [48 * 3_600_000, '2 d'],
  ])('%d ms is %s', (ms, text) => {
    expect(formatSpan(ms)).toBe(text);
  });

  it.each([
    [null, 'never'],
    ['2026-11-29T11:59:57.000Z', '3 s ago'],
    ['2026-11-29T12:00:00.400Z', '0 s ago'],
    ['2026-12-05T12:00:00.000Z', 'in 6 d'],
    ['2026-11-29T12:10:00.000Z', 'in 10 min'],
    ['yesterday', 'unknown'],
  ])('%s is %s', (time, text) => {
    expect(formatAge(time, NOW_MS)).toBe(text);
  });

  it('quotes the instant beside it', () => {
    expect(formatInstant('2026-11-29T11:59:57.123Z', NOW_MS)).toBe('2026-11-29T11:59:57Z (2 s ago)');
  });
});

describe('printable', () => {
  it.each([
    ['plain – ünïcode ✓', 'plain – ünïcode ✓'],
    ['\u001b[2J', '<1b>[2J'],
    ['a\nb\rc\td', 'a<0a>b<0d>c<09>d'],
    ['\u009b31m', '<9b>31m'],
    ['\u202egnp', '<202e>gnp'],
    ['a\u200bb\u2028c', 'a<200b>b<2028>c'],
  ])('%j', (text, shown) => {
    expect(printable(text)).toBe(shown);
  });

  it('leaves nothing that a terminal obeys', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(printable(text)).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
      }),
    );
  });
});

describe('tables', () => {
  const columns = [
    { title: 'HOST', elastic: 8 },
    { title: 'N', align: 'right' as const },
    { title: 'NOTE', elastic: 6 },
  ];

  it('align, and cut the widest elastic column first', () => {
    const rows = [
      { cells: ['a-host-with-a-long-name', '7', 'short'] },
      { cells: ['b', '12', { text: 'long note here', paint: (t: string) => `<${t}>` }], below: ['  more'] },
    ];
    for (const line of formatTable(columns, rows, 30)) expect(line.replace(/[<>]/g, '').length).toBeLessThanOrEqual(30);
    expect(formatTable(columns, rows, 80)).toEqual([
      'HOST                      N  NOTE',
      'a-host-with-a-long-name   7  short',
      'b                        12  <long note here>',
      '  more',
    ]);
  });

  it('keep both ends of what they cut', () => {
    expect(cutMiddle('abcdefghij', 10)).toBe('abcdefghij');
    expect(cutMiddle('abcdefghij', 7)).toBe('abc…hij');
    expect(cutMiddle('abcdefghij', 6)).toBe('abc…ij');
    expect(cutMiddle('abcdefghij', 1)).toBe('…');
  });

  it('fit whatever is in elastic columns, as long as the least of them fits', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.string(), fc.nat(99_999), fc.string())),
        fc.integer({ min: 40, max: 200 }),
        (rows, width) => {
          const lines = formatTable(
            columns,
            rows.map(([a, n, b]) => ({ cells: [a, String(n), b] })),
            width,
          );
          for (const line of lines) expect([...line].length).toBeLessThanOrEqual(width);
        },
      ),
    );
  });
});

describe('pages', () => {
  it('wrap at words, and keep a long word whole', () => {
    expect(wrap('aa bb cc', 5)).toEqual(['aa bb', 'cc']);
    expect(wrap('aa bbbbbbbbbb cc', 5)).toEqual(['aa', 'bbbbbbbbbb', 'cc']);
    expect(wrap('', 5)).toEqual(['']);
  });

  it('put values under one another', () => {
    expect(
      formatFields(
        [
          ['a', 'one'],
          ['long', 'two three'],
        ],
        { ...view, width: 14 },
      ),
    ).toEqual(['  a     one', '  long  two', '        three']);
  });

  it('say how much they leave out', () => {
    expect(firstOf([1, 2], (n) => [`${n}`])).toEqual(['1', '2']);
    expect(
      firstOf(
        Array.from({ length: 23 }, (_, n) => n),
        (n) => [`${n}`],
      ).at(-1),
    ).toBe('  … and 3 more; --json has all');
  });

  it('count in words', () => {
    expect([0, 1, 2].map((n) => countOf(n, 'host'))).toEqual(['no hosts', '1 host', '2 hosts']);
  });
});

describe('the gate of a rotation', () => {
  it('stays within the page, what to do included', () => {
    // What stands between backquotes is a command, and never broken: it is as long as it is.
    const word = fc
      .string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 12 })
      .filter((text) => !text.includes('`'));
    const words = fc.array(word, { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(words, (hint) => {
        const blockers = [{ member: 'agent-7', missing: 'proof_of_new', since: null, hint: hint.join(' ') }];
        const status = { rotation: { phase: 'rolling', secret: 'master' }, gate: { open: false, blockers } };
        const lines = formatGate(status as unknown as RotationStatus, { width: 80, style: plainStyle, nowMs: 0 });
        expect(lines.filter((line) => [...line].length > 80)).toEqual([]);
      }),
    );
  });
});

describe('colour', () => {
  const terminal = { write: () => undefined, isTerminal: true, columns: 80, rows: 24 };
  const isPlain = (style: { bad: (text: string) => string }) => style.bad('x') === 'x';

  it('is on a terminal, and nowhere that it was not wanted', () => {
    expect(isPlain(createStyle(terminal, {}, {}))).toBe(false);
    expect(isPlain(createStyle(terminal, { NO_COLOR: '' }, {}))).toBe(false);
    expect(isPlain(createStyle(terminal, { NO_COLOR: '1' }, {}))).toBe(true);
    expect(isPlain(createStyle(terminal, { TERM: 'dumb' }, {}))).toBe(true);
    expect(isPlain(createStyle(terminal, {}, { color: false }))).toBe(true);
    expect(isPlain(createStyle({ ...terminal, isTerminal: false }, {}, {}))).toBe(true);
  });
});

describe('live block', () => {
  it('goes back over every row that it took, wrapped ones too', () => {
    let written = '';
    const write = (text: string) => {
      written += text;
    };
    const block = createLiveBlock({ write, isTerminal: true, columns: 10, rows: 24 });
    block.draw(['short', 'x'.repeat(25), '\u001b[31mred\u001b[39m']);
    expect(written).toBe(`short\n${'x'.repeat(25)}\n\u001b[31mred\u001b[39m\n`);
    written = '';
    block.draw(['next']);
    expect(written).toBe('\u001b[5A\r\u001b[Jnext\n');
    written = '';
    block.clear();
    expect(written).toBe('\u001b[1A\r\u001b[J');
  });

  it('is never higher than the terminal', () => {
    let written = '';
    const write = (text: string) => {
      written += text;
    };
    const lines = ['1', '2', 'x'.repeat(15), '4', '5'];
    createLiveBlock({ write, isTerminal: true, columns: 10, rows: 7 }).draw(lines);
    expect(written).toBe(`${lines.join('\n')}\n`);
    written = '';
    const block = createLiveBlock({ write, isTerminal: true, columns: 10, rows: 6 });
    block.draw(lines);
    expect(written).toBe(`1\n2\n${'x'.repeat(15)}\n…\n`);
    block.clear();
    expect(written.endsWith('\u001b[5A\r\u001b[J')).toBe(true);
  });
});
