import { encodeBase64url } from '@rollcall/core/bytes';
import { describe, expect, it } from 'vitest';
import { secret } from '../answers.fixture.ts';
import { transcript } from '../transcript.fixture.ts';

const answers = { createSecret: secret };
const value = 'correct-horse-battery-staple-0123456789';
const encoded = encodeBase64url(new TextEncoder().encode(value));
const words = ['secret', 'import', 'master', '--file'];

describe('rollcall secret import', () => {
  it.each([value, `${value}\n`, `${value}\r\n`, `${value} \t\n`])('trims what an editor left: %j', async (text) => {
    const { asked, exit } = await transcript([...words, '-'], { answers, stdin: text });
    expect(exit).toBe(0);
    expect(asked[0]?.body).toEqual({ name: 'master', value: encoded });
    const fromFile = await transcript([...words, '/m'], { answers, files: { '/m': { text } } });
    expect(fromFile.asked[0]?.body).toEqual({ name: 'master', value: encoded });
  });

  it('takes the scheme of a fleet that derives for itself', async () => {
    const more = ['--scheme', 'hmac-sha256', '--info', 'heartbeat=node-heartbeat', '--info', 'command=a=b'];
    const { asked } = await transcript([...words, '-', ...more], { answers, stdin: value });
    expect(asked[0]?.body).toEqual({
      name: 'master',
      value: encoded,
      scheme: { name: 'hmac-sha256', info: { heartbeat: 'node-heartbeat', command: 'a=b' } },
    });
    const plain = await transcript([...words, '-', '--scheme', 'hkdf'], { answers, stdin: value });
    expect(plain.asked[0]?.body).toMatchObject({ scheme: { name: 'hkdf' } });
  });

  it.each([
    [['--scheme', 'hmac-sha256'], 'usage'],
    [['--info', 'heartbeat=x'], 'usage'],
    [['--scheme', 'hmac-sha256', '--info', 'heartbeat=x', '--info', 'command=x'], 'usage'],
    [['--scheme', 'hmac-sha256', '--info', 'heartbeat=x', '--info', 'heartbeat=y'], 'usage'],
    [['--scheme', 'hmac-sha256', '--info', 'heartbeat'], 'malformed_secret_name'],
    [['--scheme', 'hmac-sha256', '--info', 'Heart Beat=x'], 'malformed_secret_name'],
  ])('refuses %j before it reads anything', async (more, code) => {
    const run = await transcript([...words, '-', ...more, '--json'], { answers, stdin: value });
    expect(run).toMatchObject({ exit: 2, json: { error: { code } }, asked: [] });
  });

  it.each([
    ['hunter2', 'weak_secret'],
    [`\ufeff${value}`, 'byte_order_mark'],
    ['', 'weak_secret'],
  ])('refuses %j, and does not print it', async (text, code) => {
    const run = await transcript([...words, '-', '--json'], { answers, stdin: text });
    expect(run).toMatchObject({ exit: 2, json: { error: { code } }, asked: [] });
    if (text !== '') expect(`${run.stdout}${run.stderr}`).not.toContain(text);
  });

  it.each([
    ['ENOENT', 'there is no such file'],
    ['EACCES', 'this user may not read it'],
    ['EISDIR', 'it is a directory'],
    ['EFBIG', 'more than 65536 bytes'],
    ['EIO', 'the system says EIO'],
  ])('says why a file cannot be read: %s', async (error, reason) => {
    const run = await transcript([...words, '/m'], { answers, files: { '/m': { error } } });
    expect(run).toMatchObject({ exit: 2, asked: [] });
    expect(run.stderr).toContain('file_unreadable');
    expect(run.stderr).toContain(reason);
    expect(run.stderr).toContain('/m');
  });

  it('bounds standard input', async () => {
    const run = await transcript([...words, '-', '--json'], { answers, stdin: 'x'.repeat(65_537) });
    expect(run).toMatchObject({ exit: 2, json: { error: { code: 'file_unreadable' } }, asked: [] });
  });

  it('does not let a secret be typed where it shows', async () => {
    const run = await transcript([...words, '-', '--json'], { answers, stdin: value, terminal: [] });
    expect(run).toMatchObject({ exit: 2, json: { error: { code: 'usage' } }, asked: [] });
  });

  it('says so when others can read the file, and goes on', async () => {
    const run = await transcript([...words, '/m'], { answers, files: { '/m': { text: value, mode: 0o644 } } });
    expect(run.exit).toBe(0);
    expect(run.stderr).toContain('others can read /m');
    expect((await transcript([...words, '/m'], { answers, files: { '/m': { text: value } } })).stderr).toBe('');
  });

  it('takes no value as an argument, and does not repeat one', async () => {
    const run = await transcript(['secret', 'import', 'master', value], { answers });
    expect(run).toMatchObject({ exit: 2, asked: [] });
    expect(`${run.stdout}${run.stderr}`).not.toContain(value);
  });
});

describe('rollcall secret create and list', () => {
  it('makes the master without seeing it', async () => {
    const { asked, stdout } = await transcript(['secret', 'create', 'master'], { answers });
    expect(asked[0]?.body).toEqual({ name: 'master' });
    expect(stdout).toBe('master is made: version 4, scheme hkdf.\n');
  });

  it('lists versions by number', async () => {
    const { stdout } = await transcript(['secret', 'list'], { answers: { listSecrets: { secrets: [secret] } } });
    expect(stdout).toMatch(/master +3 +hkdf +previous +104 d ago +2026-12-05T12:00:00Z \(in 6 d\)\n/);
    expect(stdout).not.toContain('latest');
    expect((await transcript(['secret', 'list'], { answers: { listSecrets: { secrets: [] } } })).stdout).toContain(
      'secret create master',
    );
  });
});

describe('a shared token', () => {
  const token = { ...secret, name: 'fleet-token', holders: ['all', 'caller:deploy'], weak: false };
  const tokenAnswers = { createSecret: token, showSecret: token, changeHolders: token };
  const words = ['secret', 'import', 'fleet-token', '--file', '-'];
  const text = 'a-token-of-twenty-two-characters';

  it('is imported as it is, with who holds it', async () => {
    const run = await transcript([...words, '--holders', 'all', 'caller:deploy'], {
      answers: tokenAnswers,
      stdin: `${text}\n`,
    });
    expect(run.asked[0]?.body).toEqual({
      name: 'fleet-token',
      value: encodeBase64url(new TextEncoder().encode(text)),
      holders: ['all', 'caller:deploy'],
    });
    expect(`${run.stdout}${run.stderr}`).not.toContain(text);
  });

  it.each([
    [['--scheme', 'hkdf'], text, 'usage'],
    [['--holders', 'no/t'], text, 'malformed_member'],
    [[], `${text}\n${text}`, 'malformed_file'],
    [[], `\ufeff${text}`, 'byte_order_mark'],
    [[], '', 'malformed_file'],
    [[], 'gr\u00fcn-gr\u00fcn-gr\u00fcn-gr\u00fcn-gr\u00fcn', 'malformed_file'],
  ])('is refused before it is sent: %j %j', async (more, stdin, code) => {
    const run = await transcript([...words, ...more, '--json'], { answers: tokenAnswers, stdin });
    expect(run).toMatchObject({ exit: 2, json: { error: { code } }, asked: [] });
  });

  it.each(['two words here and more than 22', ''])('says what is to stand in its file, not in %j', async (text) => {
    const run = await transcript(['secret', 'import', 'api', '--file', '-', '--json'], { answers, stdin: text });
    expect(run).toMatchObject({ exit: 2, json: { error: { code: 'malformed_file' } }, asked: [] });
    expect(run.json).toMatchObject({ error: { hint: expect.stringContaining('One token') } });
  });

  it('says what comes next while nobody holds it', async () => {
    const stands = (holders: string[]) => ({ createSecret: { ...secret, name: 'api', holders } });
    const run = (holders: string[]) => transcript(['secret', 'create', 'api'], { answers: stands(holders) });
    expect((await run([])).stdout).toContain('rollcall secret hold api all');
    expect((await run(['all'])).stdout).not.toContain('secret hold');
  });

  it('tells whoever names a caller like a host how a caller is named', async () => {
    const refusal = { status: 404, code: 'host_unknown', details: { host: 'deploy' } };
    const answers = { changeHolders: { refusal }, createSecret: { refusal } };
    for (const words of [
      ['secret', 'hold', 'api', 'deploy'],
      ['secret', 'create', 'api', '--holders', 'deploy'],
    ]) {
      const run = await transcript([...words, '--json'], { answers });
      expect(run).toMatchObject({ exit: 1, json: { error: { code: 'host_unknown', details: { host: 'deploy' } } } });
      expect(run.json).toMatchObject({ error: { hint: expect.stringContaining('caller:NAME') } });
    }
  });

  it('shows who holds it, and takes who else does', async () => {
    const shown = await transcript(['secret', 'show', 'fleet-token'], { answers: tokenAnswers });
    expect(shown.stdout).toMatch(/held by +all, caller:deploy\n/);
    const held = await transcript(['secret', 'hold', 'fleet-token', 'agent-7', 'caller:cron'], {
      answers: tokenAnswers,
    });
    expect(held.asked[0]?.body).toEqual({ add: ['agent-7', 'caller:cron'] });
    const released = await transcript(['secret', 'release', 'fleet-token', 'agent-7'], { answers: tokenAnswers });
    expect(released.asked[0]?.body).toEqual({ remove: ['agent-7'] });
  });
});
