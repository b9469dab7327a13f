import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatAddress, isWildcard, ownAddress, parseListenAddress } from './listen-address.ts';

const refusal = expect.objectContaining({ code: 'malformed_address' });
const port = fc.integer({ min: 0, max: 65_535 });
const name = fc.domain();
const address = fc.tuple(fc.oneof(fc.ipV4(), fc.ipV6(), name), port);

it.each([
  ['0.0.0.0:1', true],
  ['[::]:1', true],
  ['[0:0:0:0:0:0:0:0]:1', true],
  ['127.0.0.1:1', false],
  ['[::1]:1', false],
  ['0.example:1', false],
])('%s stands for every address of the machine: %s', (text, every) => {
  expect(isWildcard(parseListenAddress(text))).toBe(every);
});

describe('an address to listen on', () => {
  it.each([
    ['0.0.0.0:7443', { host: '0.0.0.0', port: 7443, text: '0.0.0.0:7443' }],
    ['[::]:7443', { host: '::', port: 7443, text: '[::]:7443' }],
    ['hub.example:0', { host: 'hub.example', port: 0, text: 'hub.example:0' }],
    ['[::ffff:1.2.3.4]:1', { host: '::ffff:1.2.3.4', port: 1, text: '[::ffff:1.2.3.4]:1' }],
  ])('%s is read', (text, parsed) => {
    expect(parseListenAddress(text)).toEqual(parsed);
  });

  it.each([
    '',
    '7443',
    ':7443',
    'hub.example',
    'hub.example:',
    'hub.example:65536',
    'hub.example:-1',
    'hub.example:1e3',
    'hub.example: 7443',
    ' hub.example:7443',
    'hub.example:7443\n',
    '::1:7443',
    '[::1]7443',
    '[hub.example]:7443',
    '[1.2.3.4]:7443',
    '[::1:7443',
    'hub_1.example:7443',
    'https://hub.example:7443',
    '127.1:7443',
    '256.0.0.1:7443',
    '0x7f.0.0.1:7443',
    'hub.0x1:7443',
    `${'a'.repeat(254)}:1`,
  ])('%j is refused', (text) => {
    expect(() => parseListenAddress(text)).toThrow(refusal);
  });

  it('comes back as it was written', () => {
    fc.assert(
      fc.property(address, ([host, number]) => {
        const text = formatAddress(host, number);
        expect(parseListenAddress(text)).toEqual({ host, port: number, text });
      }),
    );
  });

  it('stands in a URL as it is', () => {
    fc.assert(
      fc.property(address, ([host, number]) => {
        const url = new URL(`https://${parseListenAddress(formatAddress(host, number)).text}/`);
        expect(Number(url.port || 443)).toBe(number);
      }),
    );
  });

  it('is nothing else that anyone could write, and any other text is refused by its code', () => {
    const texts = fc.oneof(
      fc.string(),
      address.map(([host, number]) => `${host}:${number}x`),
    );
    fc.assert(
      fc.property(texts, (text) => {
        try {
          expect(parseListenAddress(text).text).toMatch(/:[0-9]{1,5}$/);
        } catch (error) {
          expect(error).toMatchObject({ code: 'malformed_address' });
        }
      }),
    );
  });
});

it.each([
  ['0.0.0.0:7443', '127.0.0.1:7443'],
  ['[::]:7443', '[::1]:7443'],
  ['10.0.0.1:7443', '10.0.0.1:7443'],
  ['hub.example:7443', 'hub.example:7443'],
])('what was opened on %s is found on its own machine at %s', (opened, found) => {
  expect(ownAddress(parseListenAddress(opened))).toEqual(parseListenAddress(found));
});
