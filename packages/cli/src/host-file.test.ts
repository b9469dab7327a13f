import { isRollcallError } from '@rollcall/core/errors';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type HostInFile, parseHostFile } from './host-file.ts';

function parse(text: string): HostInFile[] {
  return parseHostFile(new TextEncoder().encode(text));
}

function problemsOf(text: string | Uint8Array): unknown {
  try {
    return parseHostFile(typeof text === 'string' ? new TextEncoder().encode(text) : text);
  } catch (error) {
    if (!isRollcallError(error)) throw error;
    return error.details['problems'] ?? error.code;
  }
}

describe('a CSV file', () => {
  it.each([
    ['a plain one', 'host,reach,address\nagent-1,push,10.0.0.1:7444\nagent-2,pull,\n'],
    ['with CRLF', 'host,reach,address\r\nagent-1,push,10.0.0.1:7444\r\nagent-2,pull,\r\n'],
    ['without a last newline', 'host,reach,address\nagent-1,push,10.0.0.1:7444\nagent-2,pull'],
    ['with spaces and quotes', 'host, reach, address\n "agent-1" ,push, "10.0.0.1:7444"\nagent-2 ,pull\n'],
    ['with its columns in another order', 'ADDRESS,host,Reach\n10.0.0.1:7444,agent-1,push\n,agent-2,pull\n'],
  ])('%s', (_, text) => {
    expect(parse(text)).toEqual([
      { place: 'line 2', host: 'agent-1', reach: 'push', address: '10.0.0.1:7444' },
      { place: 'line 3', host: 'agent-2', reach: 'pull' },
    ]);
  });

  it('counts empty lines, so that a place is what an editor shows', () => {
    expect(parse('\n\nhost\n\r\nagent-1\n   \nagent-2\n').map(({ place }) => place)).toEqual(['line 5', 'line 7']);
  });

  it.each([
    [
      'an unknown column',
      'host,colour,size\na,b,c\n',
      [
        'line 1: column colour: unknown; the header is host,reach,address',
        'line 1: column size: unknown; the header is host,reach,address',
      ],
    ],
    [
      'no header',
      'agent-1,push,\n',
      [
        expect.stringContaining('column agent-1: unknown'),
        expect.stringContaining('column push'),
        expect.stringContaining('(empty)'),
        expect.stringContaining('no column host'),
      ],
    ],
    [
      'semicolons',
      'host;reach;address\n',
      [expect.stringContaining('column host;reach;address: unknown'), expect.stringContaining('no column host')],
    ],
    ['a column twice', 'host,host\na,b\n', ['line 1: a column stands there twice']],
    ['nothing', '', ['the file: no host in it']],
    ['a header alone', 'host\n\n', ['the file: no host in it']],
    ['too many fields', 'host\na\nb,c,d\n', ['line 3: 3 fields under 1 columns']],
    ['an empty host', 'host,reach\n,pull\n', ['line 2: host is empty']],
    ['an open quote', 'host\n"agent-1\n', ['line 2: a quote that is not closed, or text beside one']],
    ['text beside a quote', 'host\n"agent-1"x\n', ['line 2: a quote that is not closed, or text beside one']],
    ['what is too long', `host\n${'x'.repeat(201)}\n`, ['line 2: host is too long']],
    [
      'several at once',
      'host\n,\n"\n',
      ['line 2: 2 fields under 1 columns', 'line 3: a quote that is not closed, or text beside one'],
    ],
    ['a byte-order mark', '\ufeffhost\nagent-1\n', 'byte_order_mark'],
  ])('with %s is refused', (_, text, problems) => {
    expect(problemsOf(text)).toEqual(problems);
  });

  it('that is not UTF-8 is refused', () => {
    expect(problemsOf(Uint8Array.of(0x68, 0xff))).toEqual(['the file: not UTF-8']);
  });
});

describe('a JSON file', () => {
  it('names its entries by number', () => {
    expect(parse(' [{"host":"agent-1","reach":"push","address":"10.0.0.1:7444"},\n{"host":"agent-2"}]')).toEqual([
      { place: 'entry 1', host: 'agent-1', reach: 'push', address: '10.0.0.1:7444' },
      { place: 'entry 2', host: 'agent-2' },
    ]);
  });

  it.each([
    ['[]', ['the file: no host in it']],
    ['{"host":"agent-1"}', ['the file: JSON, but not an array of objects']],
    ['[{"host":"a","host":"b"}]', ['the file: not JSON: one document, no key twice']],
    ['[{"host":"a"}', ['the file: not JSON: one document, no key twice']],
    ['["agent-1"]', ['entry 1: not an object with host, reach and address']],
    ['[{"host":"a"},{"host":7}]', ['entry 2: host: not a text']],
    ['[{"hots":"a"}]', ['entry 1: hots: unknown; known are host, reach, address']],
    ['[{}]', ['entry 1: host is empty']],
  ])('%s is refused', (text, problems) => {
    expect(problemsOf(text)).toEqual(problems);
  });
});

describe('whatever is in the file', () => {
  it('is a list of hosts or a list of problems', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.string().map((text) => `host,reach\n${text}`),
        ),
        (text) => {
          const outcome = problemsOf(text);
          expect(Array.isArray(outcome) ? outcome.length : 1).toBeGreaterThan(0);
        },
      ),
    );
  });

  it('comes out of a file as it was written into it', () => {
    const cell = fc
      .string({ minLength: 1, maxLength: 20 })
      .map((text) => text.replaceAll(/[\r\n]/g, ' ').trim())
      .filter((text) => text !== '');
    fc.assert(
      fc.property(fc.array(cell, { minLength: 1 }), (names) => {
        const lines = names.map((name) => `"${name.replaceAll('"', '""')}"`);
        expect(parse(`host\n${lines.join('\n')}\n`).map(({ host }) => host)).toEqual(names);
      }),
    );
  });
});
