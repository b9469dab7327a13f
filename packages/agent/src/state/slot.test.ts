import { hash } from 'node:crypto';
import { utf8 } from '@rollcall/core/bytes';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeSlot, parseSlot } from './slot.ts';

const slots = fc.record({
  counter: fc.integer({ min: 1, max: 2 ** 40 }),
  state: fc.dictionary(
    fc.string({ unit: 'grapheme' }),
    fc.oneof(fc.string({ unit: 'grapheme' }), fc.integer(), fc.boolean()),
    { maxKeys: 6 },
  ),
});

describe('a slot', () => {
  it('reads back as what was written', () => {
    fc.assert(
      fc.property(slots, (slot) => {
        expect(parseSlot(encodeSlot(slot))).toEqual(slot);
      }),
    );
  });

  it('is torn when it is cut anywhere', () => {
    fc.assert(
      fc.property(slots, fc.double({ min: 0, max: 0.999, noNaN: true }), (slot, at) => {
        const bytes = encodeSlot(slot);
        expect(() => parseSlot(bytes.subarray(0, Math.floor(bytes.length * at)))).toThrow(
          expect.objectContaining({ code: 'state_torn' }),
        );
      }),
    );
  });

  it('is torn when anything follows it', () => {
    fc.assert(
      fc.property(slots, fc.uint8Array({ minLength: 1, maxLength: 9 }), (slot, more) => {
        const bytes = Uint8Array.from([...encodeSlot(slot), ...more]);
        expect(() => parseSlot(bytes)).toThrow(expect.objectContaining({ code: 'state_torn' }));
      }),
    );
  });

  it('is torn when one bit is another', () => {
    fc.assert(
      fc.property(
        slots,
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        fc.integer({ min: 0, max: 7 }),
        (slot, at, bit) => {
          const bytes = encodeSlot(slot);
          const index = Math.floor(bytes.length * at);
          bytes[index] = (bytes[index] as number) ^ (1 << bit);
          expect(() => parseSlot(bytes)).toThrow(expect.objectContaining({ code: 'state_torn' }));
        },
      ),
    );
  });

  it.each([
    ['nothing', ''],
    ['no digest', '{"counter":1,"format":1,"state":{}}'],
    ['no object', whole('[]')],
    ['no counter', whole('{"format":1,"state":{}}')],
    ['a counter of zero', whole('{"counter":0,"format":1,"state":{}}')],
    ['no state', whole('{"counter":1,"format":1}')],
  ])('is torn with %s', (_what, text) => {
    expect(() => parseSlot(utf8(text))).toThrow(expect.objectContaining({ code: 'state_torn' }));
  });

  it('is whole in that form otherwise', () => {
    expect(parseSlot(utf8(whole('{"counter":1,"format":1,"state":{}}')))).toEqual({ counter: 1, state: {} });
  });

  it('of a later format is not torn: nothing older may take its place', () => {
    expect(() => parseSlot(utf8(whole('{"counter":1,"format":2,"state":{}}')))).toThrow(
      expect.objectContaining({ code: 'state_too_new' }),
    );
  });
});

function whole(body: string): string {
  return `${hash('sha256', body, 'hex')}\n${body}`;
}
