import { utf8 } from '@rollcall/core/bytes';
import { isRollcallError, RollcallError } from '@rollcall/core/errors';
import { encodeHubRootFile } from '@rollcall/core/keys';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { enrolment, host, hubRoot, hubs, spki, trustDomain } from './fleet.fixture.ts';
import { parseHubAddress, readGiven } from './read-given.ts';

const token = enrolment();
const rootFile = encodeHubRootFile({ trustDomain, root: hubRoot.public, spki: [spki], hubs });

function files(contents: Readonly<Record<string, string | Uint8Array>>) {
  return async (path: string) => {
    const content = contents[path];
    if (content === undefined) throw new RollcallError('file_unreadable', { file: path, cause: 'ENOENT' });
    return typeof content === 'string' ? utf8(content) : content;
  };
}

describe('what an operator hands over', () => {
  it.each(['', '\n', '\r\n', '  \n\n'])('may end a token with %j', async (end) => {
    const { given } = await readGiven({ enrol: '-' }, files({ '-': `${token.text}${end}` }));
    expect(given.enrolment?.digest).toBe(token.digest);
    expect(given.enrolment?.token.host).toBe(host);
  });

  it('is a token with a byte-order mark: a clear error that does not print it', async () => {
    const error = await readGiven({ enrol: '/t' }, files({ '/t': `\ufeff${token.text}` })).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code: 'byte_order_mark', details: { file: '/t' } });
    expect(JSON.stringify(error) + String((error as Error).stack)).not.toContain(token.text.slice(0, 20));
  });

  it('is all that a host of an older fleet needs', async () => {
    const flags = { hub: 'https://hub.example:7443', host, hubRootFile: '/r', masterFile: '/m', life: 3 };
    const { given, absent } = await readGiven(flags, files({ '/r': rootFile, '/m': `${'m'.repeat(40)}\n` }));
    expect(given).toMatchObject({ host, hubs: [flags.hub], life: 3, hubRoot: { trustDomain } });
    expect(given.master?.length).toBe(40);
    expect(absent).toEqual([]);
  });

  it('may be missing: the caller knows whether that matters', async () => {
    const { given, absent } = await readGiven({ enrol: '/t', masterFile: '/m' }, files({}));
    expect(given).toEqual({});
    expect(absent.map(({ details }) => details['file'])).toEqual(['/t', '/m']);
  });

  it.each<readonly [string, Parameters<typeof readGiven>[0], Parameters<typeof files>[0], string]>([
    ['a token cut short', { enrol: '/t' }, { '/t': token.text.slice(0, -3) }, 'malformed_token'],
    ['an empty token', { enrol: '/t' }, { '/t': '' }, 'malformed_file'],
    ['a short master', { masterFile: '/m' }, { '/m': 'short' }, 'weak_secret'],
    ['a root file that is none', { hubRootFile: '/r' }, { '/r': '{}' }, 'malformed_file'],
    ['no host id', { host: 'a b' }, {}, 'malformed_host_id'],
    ['a life of zero', { life: 0 }, {}, 'usage'],
    ['no https', { hub: 'http://hub.example' }, {}, 'malformed_hub_address'],
  ])('is refused: %s', async (_what, flags, contents, code) => {
    await expect(readGiven(flags, files(contents))).rejects.toMatchObject({ code });
  });

  it('is refused when a file is there and cannot be read', async () => {
    const unreadable = async () => {
      throw new RollcallError('file_unreadable', { file: '/t', cause: 'EACCES' });
    };
    await expect(readGiven({ enrol: '/t' }, unreadable)).rejects.toMatchObject({ code: 'file_unreadable' });
  });

  it('is taken or refused with an error of ours, whatever the bytes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 80 }),
        fc.constantFrom('enrol', 'masterFile', 'hubRootFile'),
        async (bytes, flag) => {
          await readGiven({ [flag]: '/f' }, files({ '/f': bytes })).catch((error: unknown) =>
            expect(isRollcallError(error)).toBe(true),
          );
        },
      ),
    );
  });
});

describe('the address of a hub', () => {
  it.each(['https://hub.example', 'https://hub.example:7443', 'https://[::1]:7443', 'https://10.0.0.1/fleet'])(
    'may be %s',
    (text) => {
      expect(parseHubAddress(text)).toBe(text);
    },
  );

  it.each([
    '',
    'hub.example',
    'http://hub.example',
    'https://user:pw@hub.example',
    'https://hub.example?x',
    'https://hub.example#x',
    `https://${'x'.repeat(300)}`,
  ])('is not %s', (text) => {
    expect(() => parseHubAddress(text)).toThrow(expect.objectContaining({ code: 'malformed_hub_address' }));
  });
});
