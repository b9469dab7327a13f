import { RollcallError } from '@rollcall/core/errors';
import { describe, expect, it } from 'vitest';
import { createReload } from './reload.ts';

interface Options {
  readonly stateDir: string;
  readonly logLevel?: 'debug' | 'info' | 'warn';
  readonly enrol?: string;
}

/** An agent that was started so, and what it finds when it reads again, one after the other. */
function setup(started: Options, ...found: (Options | RollcallError)[]) {
  const levels: string[] = [];
  const lines: unknown[] = [];
  const note = (message: string, fields?: object) => lines.push([message, fields]);
  const read = async () => {
    const next = found.shift();
    if (next instanceof RollcallError || next === undefined) throw next ?? new Error('read too often');
    return next;
  };
  const options = found.length === 0 ? started : { ...started, reload: read };
  const log = { debug: note, info: note, warn: note, error: note };
  return { levels, lines, reload: createReload(options, ({ logLevel = 'info' }) => levels.push(logLevel), log) };
}

describe('a reload', () => {
  it('takes the log level, and names what waits for the next start', async () => {
    const started: Options = { stateDir: '/s', enrol: '/a' };
    const { levels, reload } = setup(
      started,
      { stateDir: '/s', enrol: '/b', logLevel: 'debug' },
      { stateDir: '/s', enrol: '/b' },
    );
    expect(await reload()).toEqual({ changed: ['log_level'], needRestart: ['enrol'] });
    expect(await reload()).toEqual({ changed: ['log_level'], needRestart: ['enrol'] });
    expect(levels).toEqual(['debug', 'info']);
  });

  it('that finds nothing new changes nothing', async () => {
    const { levels, reload } = setup({ stateDir: '/s', logLevel: 'warn' }, { stateDir: '/s', logLevel: 'warn' });
    expect(await reload()).toEqual({ changed: [], needRestart: [] });
    expect(levels).toEqual(['warn']);
  });

  it('that cannot be taken keeps what runs, says so in the log, and can be repeated', async () => {
    const problems = ['agent.yaml:1: log_level: must be one of …'];
    const bad = new RollcallError('config_invalid', { problems });
    const { levels, lines, reload } = setup({ stateDir: '/s' }, bad, { stateDir: '/s', logLevel: 'warn' });
    await expect(reload()).rejects.toBe(bad);
    expect(levels).toEqual([]);
    expect(lines).toEqual([[expect.stringContaining('stays'), { code: 'config_invalid', problems }]]);
    expect(await reload()).toMatchObject({ changed: ['log_level'] });
  });

  it('of an agent without a file says that there is none', async () => {
    const { reload } = setup({ stateDir: '/s' });
    await expect(reload()).rejects.toMatchObject({ code: 'config_absent' });
  });
});
