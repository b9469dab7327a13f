import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hubStatus } from './answers.fixture.ts';
import type { Answer } from './fake-operator.fixture.ts';
import { resolveHubAddress } from './hub-address.ts';
import { systemError, transcript } from './transcript.fixture.ts';

function withDirectory<T>(act: (dir: string) => Promise<T>): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), 'rollcall-cli-'));
  return act(dir).finally(() => rmSync(dir, { recursive: true }));
}

describe('where the hub is', () => {
  it.each([
    [{}, {}, '/run/rollcall/operator.sock'],
    [{}, { ROLLCALL_HUB: 'unix:/a/b.sock' }, '/a/b.sock'],
    [{}, { ROLLCALL_HUB: '' }, '/run/rollcall/operator.sock'],
    [{ hub: 'unix:/c.sock' }, { ROLLCALL_HUB: 'unix:/a/b.sock' }, '/c.sock'],
    [{ hub: 'unix:///c.sock' }, {}, '/c.sock'],
    [{ hub: 'unix:c.sock' }, {}, 'c.sock'],
    [{ dir: '/data' }, { ROLLCALL_HUB: 'unix:/a/b.sock' }, '/data/operator.sock'],
    [{ dir: '/data//' }, {}, '/data/operator.sock'],
    [{ dir: '/' }, {}, '//operator.sock'],
    [{ hub: `unix:/${'x'.repeat(106)}` }, {}, `/${'x'.repeat(106)}`],
  ])('%j with %j is %s', (options, env, path) => {
    expect(resolveHubAddress(options, env)).toEqual({ kind: 'socket', path });
  });

  it.each([
    [{ hub: 'https://hub:7445' }, 'hub', 7445],
    [{ hub: 'https://10.0.0.5' }, '10.0.0.5', 443],
    [{ hub: 'https://[::1]:7445/' }, '::1', 7445],
  ])('%j is TLS to %s, port %d', (options, host, port) => {
    expect(resolveHubAddress(options, {})).toEqual({ kind: 'tls', host, port });
    expect(resolveHubAddress({}, { ROLLCALL_HUB: options.hub })).toEqual({ kind: 'tls', host, port });
  });

  it.each([
    [{ hub: '/c.sock' }, 'usage'],
    [{ hub: 'unix:' }, 'usage'],
    [{ hub: 'tcp://hub:1' }, 'usage'],
    [{ hub: 'unix:/a\0b' }, 'usage'],
    [{ hub: `unix:/${'x'.repeat(107)}` }, 'usage'],
    [{ hub: 'unix:/a', dir: '/b' }, 'usage'],
    [{ hub: 'http://hub:7443' }, 'hub_address_unsupported'],
    [{ hub: 'HTTP://hub' }, 'hub_address_unsupported'],
    [{ hub: 'https://' }, 'usage'],
    [{ hub: 'https://hub:7443/v1' }, 'usage'],
    [{ hub: 'https://ada@hub:7443' }, 'usage'],
    [{ hub: 'https://hub:7443/?a' }, 'usage'],
    [{ hub: 'https://hub:99999' }, 'usage'],
  ])('%j is refused: %s', (options, code) => {
    expect(() => resolveHubAddress(options, {})).toThrow(expect.objectContaining({ code }));
  });
});

describe('a hub that cannot be reached', () => {
  it('is not there', () =>
    withDirectory(async (dir) => {
      const run = await transcript(['hub', 'status', '--dir', dir]);
      expect(run).toMatchObject({ exit: 1, stdout: '' });
      expect(run.stderr).toContain('hub_unreachable: The hub cannot be reached: there is no such socket.');
      expect(run.stderr).toContain('rollcall hub start');
    }));

  it('has left its socket behind', () =>
    withDirectory(async (dir) => {
      // A file that was once a socket refuses connections exactly as one whose process was killed.
      writeFileSync(join(dir, 'plain.sock'), '');
      const run = await transcript(['hub', 'status', '--hub', `unix:${join(dir, 'plain.sock')}`, '--json']);
      expect(run).toMatchObject({
        exit: 1,
        json: { error: { code: 'hub_unreachable', details: { system: 'ECONNREFUSED' } } },
      });
    }));

  it.each(['ENOENT', 'ECONNREFUSED', 'EACCES', 'EPERM', 'ENOTSOCK', 'ENOTDIR', 'EAGAIN'])(
    '%s has a hint of its own',
    async (system) => {
      const send = () => Promise.reject(systemError(system));
      const run = await transcript(['host', 'list', '--json'], { send });
      expect(run).toMatchObject({ exit: 1, json: { error: { code: 'hub_unreachable', details: { system } } } });
      const hints = await Promise.all(
        ['ENOENT', 'ECONNREFUSED', 'EACCES'].map(async (each) => {
          const { json } = await transcript(['host', 'list', '--json'], {
            send: () => Promise.reject(systemError(each)),
          });
          return (json as { error: { hint: string } }).error.hint;
        }),
      );
      expect(new Set(hints).size).toBe(3);
    },
  );
});

describe('a hub that does not answer', () => {
  it.each(['drop', 'hang'] as const)('%s: a reading verb says that nothing was changed', async (hubStatus) => {
    const run = await transcript(['hub', 'status', '--json'], { answers: { hubStatus }, late: hubStatus === 'hang' });
    expect(run).toMatchObject({
      exit: 1,
      json: { error: { code: 'hub_no_answer', hint: expect.stringContaining('Nothing was changed') } },
    });
  });

  it.each(['drop', 'hang'] as const)('%s: a changing verb says that it may have been done', async (removeHost) => {
    const run = await transcript(['host', 'remove', 'agent-7', '--yes', '--json'], {
      answers: { removeHost },
      late: removeHost === 'hang',
    });
    expect(run).toMatchObject({
      exit: 1,
      json: { error: { code: 'hub_no_answer', hint: expect.stringContaining('may have been carried out') } },
    });
  });
});

describe('an answer of another kind', () => {
  it.each<[string, Answer<'hubStatus'>]>([
    ['text', { raw: 'hello' }],
    ['nothing', { raw: '' }],
    ['a list', { raw: '[]' }],
    ['null', { raw: 'null' }],
    ['another object', { raw: '{"status":"ok"}' }],
    ['doubled keys', { raw: '{"version":"1","version":"2"}' }],
    ['half of it', { raw: JSON.stringify(hubStatus).slice(0, -2) }],
  ])('%s is unusable', async (_, answer) => {
    const run = await transcript(['hub', 'status', '--json'], { answers: { hubStatus: answer } });
    expect(run).toMatchObject({ exit: 1, json: { error: { code: 'hub_answer_unusable' } } });
  });

  it('is usable with fields that a later hub adds', async () => {
    const run = await transcript(['hub', 'status', '--json'], {
      answers: { hubStatus: { raw: JSON.stringify({ ...hubStatus, more: 1 }) } },
    });
    expect(run).toMatchObject({ exit: 0, json: { more: 1 } });
  });

  it('is larger than is taken', async () => {
    const run = await transcript(['host', 'list', '--json'], { send: () => Promise.reject(systemError('EFBIG')) });
    expect(run).toMatchObject({ exit: 1, json: { error: { code: 'hub_answer_unusable' } } });
  });
});

describe('a refusal', () => {
  const refused = (code: string, status = 409) =>
    ({ answers: { addHost: { refusal: { status, code, title: 'No.', hint: 'Else.' } } } }) as const;
  const words = ['host', 'add', 'agent-7', '--json'];

  it.each([
    ['malformed_request', 2],
    ['not_found', 1],
    ['no_current_version', 3],
    ['a_code_of_the_future', 1],
  ])('%s exits %d, in the words of the hub', async (code, exit) => {
    const run = await transcript(words, refused(code));
    expect(run).toMatchObject({ exit, json: { error: { code, message: 'No.', hint: 'Else.' } } });
    expect(run.stderr).toContain(`${code}: No.`);
  });

  it('without a problem document is told by its status', async () => {
    const run = await transcript(words, {
      answers: { addHost: { raw: '{"error":"node token invalid"}', status: 401 } },
    });
    expect(run).toMatchObject({ exit: 1, json: { error: { code: 'operator_refused' } } });
  });

  it('cannot write on the terminal what a terminal obeys', async () => {
    const bare = {
      status: 409,
      code: 'not_found',
      title: 'x\u001b[2Jy',
      hint: 'h',
      details: { k: '\u001b]0;z\u0007' },
    };
    const run = await transcript(['host', 'add', 'a'], {
      answers: { addHost: { raw: JSON.stringify({ ...bare, type: 't', requestId: 'r' }), status: 409 } },
    });
    expect(run.stderr).toContain('x<1b>[2Jy');
    expect(run.stderr).not.toContain('\u001b');
  });
});

describe('the actor', () => {
  it('is the user of the system, as a header can carry it', async () => {
    const { asked } = await transcript(['hub', 'status'], { answers: { hubStatus } });
    expect(asked[0]?.headers['x-rollcall-actor']).toBe('ada');
  });
});
