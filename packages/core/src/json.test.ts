import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { utf8 } from './bytes.ts';
import {
  canonicalJson,
  type JsonValue,
  parseJson,
  readArray,
  readBytes,
  readInteger,
  readMember,
  readObject,
  readText,
} from './json.ts';
import { limits } from './limits.ts';
import { refusalOf } from './refusal.fixture.ts';

const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

describe('parseJson', () => {
  test.each<[string, string, JsonValue]>([
    ['an object', '{"a":1,"b":[true,false,null],"c":"x"}', { a: 1, b: [true, false, null], c: 'x' }],
    ['white space around', ' \n[1 , 2]\t', [1, 2]],
    ['one name in two objects', '[{"a":1},{"a":2},{"b":{"a":3}}]', [{ a: 1 }, { a: 2 }, { b: { a: 3 } }]],
    ['punctuation inside a string', '{"a":"{\\"b\\":1.5e3,:[}"}', { a: '{"b":1.5e3,:[}' }],
    ['punctuation between escaped quotes', '{"a":"\\":1.5,[{\\""}', { a: '":1.5,[{"' }],
    ['a backslash before the closing quote', '{"a\\\\":1,"b":"\\\\"}', { 'a\\': 1, b: '\\' }],
    ['a surrogate pair, raw and escaped', '["😀","\\ud83d\\ude00"]', ['😀', '😀']],
    ['the largest whole number', '9007199254740991', 9007199254740991],
    ['the smallest', '-9007199254740991', -9007199254740991],
    ['zero', '0', 0],
    ['the deepest nesting', deep(limits.jsonMaxDepth), JSON.parse(deep(limits.jsonMaxDepth)) as JsonValue],
  ])('takes %s', (_, text, value) => {
    expect(parseJson(text)).toEqual(value);
    expect(parseJson(utf8(text))).toEqual(value);
  });

  test.each<[string, string | Uint8Array]>([
    ['a duplicate key', '{"a":1,"a":1}'],
    ['a duplicate key, one of them escaped', '{"a":1,"\\u0061":2}'],
    ['a duplicate key far inside', '{"a":[{"b":{"c":1,"d":2,"c":3}}]}'],
    ['a duplicate key that held an object', '{"a":{"b":1},"a":2}'],
    ['a duplicate __proto__', '{"__proto__":1,"__proto__":2}'],
    ['a fraction', '1.5'],
    ['a fraction that is whole', '{"a":1.0}'],
    ['an exponent', '[1e3]'],
    ['a capital exponent', '[1E3]'],
    ['minus zero', '-0'],
    ['2^53', '9007199254740992'],
    ['2^53 + 1, which a double cannot hold', '9007199254740993'],
    ['a number beyond doubles', '1'.padEnd(400, '0')],
    ['one level too deep', deep(limits.jsonMaxDepth + 1)],
    ['a hundred thousand levels', deep(100_000)],
    ['a lone high surrogate', '["\\ud800"]'],
    ['a lone low surrogate as a name', '{"\\udc00":1}'],
    ['a lone surrogate in the text itself', '["\ud800"]'],
    ['a byte-order mark', '\ufeff{}'],
    ['a byte-order mark in bytes', Uint8Array.of(0xef, 0xbb, 0xbf, 0x7b, 0x7d)],
    ['bytes that are not UTF-8', Uint8Array.of(0x22, 0xff, 0x22)],
    ['an overlong UTF-8 form', Uint8Array.of(0x22, 0xc0, 0x80, 0x22)],
    ['two documents', '{}{}'],
    ['nothing', ''],
    ['a trailing comma', '[1,]'],
    ['a comment', '{}//'],
  ])('refuses %s', (_, source) => {
    expect(refusalOf(() => parseJson(source))).toBe('malformed_json');
  });

  test('keeps __proto__ an ordinary name', () => {
    const value = readObject(parseJson('{"__proto__":{"admin":true}}'), 'value');
    expect(readMember(value, 'admin')).toBeUndefined();
    expect(readMember(value, '__proto__')).toEqual({ admin: true });
  });

  test('never repeats the input, also not as a cause', () => {
    let thrown: unknown;
    try {
      parseJson('{"secret": hunter2}');
    } catch (error) {
      thrown = error;
    }
    expect((thrown as Error).cause).toBeUndefined();
    expect(JSON.stringify(thrown, Object.getOwnPropertyNames(thrown))).not.toContain('hunter2');
  });
});

const jsonValue = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constant(null),
    fc.boolean(),
    fc.maxSafeInteger().map((n) => n + 0),
    fc.string({ unit: 'binary' }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.string({ unit: 'binary' }), tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value;

describe('canonicalJson', () => {
  test('round-trips, and is one text for one value', () => {
    fc.assert(
      fc.property(jsonValue, (value) => {
        const text = canonicalJson(value);
        expect(parseJson(text)).toEqual(value);
        expect(canonicalJson(parseJson(JSON.stringify(value, undefined, 1)))).toBe(text);
      }),
    );
  });

  test('no shorter or longer text is taken for it', () => {
    fc.assert(
      fc.property(fc.array(jsonValue), fc.nat(), (value, at) => {
        const text = canonicalJson(value);
        expect(refusalOf(() => parseJson(text.slice(0, at % text.length)))).toBe('malformed_json');
        expect(refusalOf(() => parseJson(`${text}]`))).toBe('malformed_json');
      }),
    );
  });

  test('sorts by UTF-16 code units (RFC 8785 §3.2.3)', () => {
    const value = { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\ud83d\ude00': 5, '\u0080': 6, '\u00f6': 7 };
    expect(Object.values(parseJson(canonicalJson(value)) as object)).toEqual([4, 2, 6, 7, 1, 5, 3]);
  });

  test.each<[string, unknown]>([
    ['a fraction', 1.5],
    ['minus zero', -0],
    ['not a number', Number.NaN],
    ['a lone surrogate', '\ud800'],
    ['a lone surrogate as a name', { '\ud800': 1 }],
    ['undefined', { a: undefined }],
    ['a function', () => 1],
    ['a circle', circle()],
  ])('refuses %s', (_, value) => {
    expect(refusalOf(() => canonicalJson(value as JsonValue))).toBe('malformed_json');
  });
});

describe('readers', () => {
  test.each<[string, () => unknown, unknown]>([
    ['an object', () => readObject({ a: 1 }, 'x'), { a: 1 }],
    ['an array', () => readArray([1], 'x', 1), [1]],
    ['a text', () => readText('abc', 'x', 3), 'abc'],
    ['an integer', () => readInteger(1, 'x'), 1],
    ['zero where it is allowed', () => readInteger(0, 'x', 0), 0],
    ['bytes', () => readBytes('AQI', 'x', 2), Uint8Array.of(1, 2)],
    ['some bytes', () => readBytes('AQI', 'x', { maxBytes: 3 }), Uint8Array.of(1, 2)],
    ['an own member', () => readMember({ a: 1 }, 'a'), 1],
    ['an inherited member as absent', () => readMember({}, 'constructor'), undefined],
  ])('take %s', (_, read, value) => {
    expect(read()).toEqual(value);
  });

  test.each<[string, () => unknown]>([
    ['an array for an object', () => readObject([], 'x')],
    ['null for an object', () => readObject(null, 'x')],
    ['nothing for an object', () => readObject(undefined, 'x')],
    ['an object for an array', () => readArray({ length: 0 }, 'x', 1)],
    ['too many items', () => readArray([1, 2], 'x', 1)],
    ['a number for a text', () => readText(1, 'x', 3)],
    ['too long a text', () => readText('abcd', 'x', 3)],
    ['zero where 1 is the least', () => readInteger(0, 'x')],
    ['a number in a text', () => readInteger('1', 'x')],
    ['too few bytes', () => readBytes('AQI', 'x', 3)],
    ['too many bytes', () => readBytes('AQI', 'x', 1)],
    ['more bytes than allowed', () => readBytes('AQIDBA', 'x', { maxBytes: 3 })],
    ['no bytes', () => readBytes('', 'x', { maxBytes: 3 })],
    ['padding', () => readBytes('AQI=', 'x', 2)],
    ['stray bits', () => readBytes('AQJ', 'x', 2)],
    ['the other alphabet', () => readBytes('+/8', 'x', 2)],
  ])('refuse %s', (_, read) => {
    expect(refusalOf(read)).toBe('malformed_json');
  });
});

function circle(): unknown {
  const value: Record<string, unknown> = {};
  value['self'] = value;
  return value;
}
