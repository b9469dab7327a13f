import { RollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import { describe, expect, it } from 'vitest';
import type { LogLevel } from './adapters/log.ts';
import { createReload, settingsOf } from './reload.ts';

interface Options {
  readonly dir: string;
  readonly listen?: string;
  readonly beatMs?: number;
  readonly verifyWindowMs?: number;
  readonly firstUseMinAgeMs?: number;
  readonly logLevel?: LogLevel;
}

function setup(started: Options, ...found: (Options | Error)[]) {
  const lines: unknown[] = [];
  const levels: string[] = [];
  const note = (level: string) => (_message: string, fields?: object) => lines.push({ level, ...fields });
  const setLevel = (level: string) => void levels.push(level);
  const log = { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error'), setLevel };
  const settings = settingsOf(started);
  const reload = async () => {
    const next = found.shift();
    if (next === undefined || next instanceof Error) throw next ?? new Error('read too often');
    return next;
  };
  const options = found.length === 0 ? started : { ...started, reload };
  return { settings, lines, levels, reload: createReload<Options>(options, settings, log) };
}

describe('a reload of the hub', () => {
  it('writes the live settings where they are read, and names what waits for a start', async () => {
    const started: Options = { dir: '/d', listen: 'a:1', beatMs: 1_000 };
    const { settings, lines, reload } = setup(
      started,
      { dir: '/d', listen: 'a:2', beatMs: 2_000, verifyWindowMs: 60_000 },
      { dir: '/d', listen: 'a:2' },
    );
    await reload();
    expect(settings).toEqual({
      beatMs: 2_000,
      verifyWindowMs: 60_000,
      quietWindowMs: limits.quietWindowMs,
      firstUseMinAgeMs: limits.firstUseMinAgeMs,
    });
    await reload();
    expect(settings).toEqual(settingsOf({}));
    expect(lines).toEqual([
      { level: 'info', changed: ['beat', 'verify_window'], needRestart: ['listen'] },
      { level: 'info', changed: ['beat', 'verify_window'], needRestart: ['listen'] },
    ]);
  });

  it('takes the level of the log, and the usual one where none is said any more', async () => {
    const started: Options = { dir: '/d', logLevel: 'warn' };
    const { levels, lines, reload } = setup(started, { dir: '/d', logLevel: 'debug' }, { dir: '/d' });
    await reload();
    await reload();
    expect(levels).toEqual(['debug', 'info']);
    expect(lines).toEqual([
      { level: 'info', changed: ['log_level'], needRestart: [] },
      { level: 'info', changed: ['log_level'], needRestart: [] },
    ]);
  });

  it('that cannot be taken keeps what runs, and says why, line by line', async () => {
    const problems = ['hub.yaml:3: beat: must be a duration'];
    const { settings, lines, reload } = setup(
      { dir: '/d', beatMs: 1_000 },
      new RollcallError('config_invalid', { problems }),
      new RollcallError('file_unreadable', { file: '/c', reason: 'there is no such file' }),
      new Error('hunter2'),
      { dir: '/d', beatMs: 3_000 },
    );
    for (let round = 0; round < 3; round += 1) await reload();
    expect(settings.beatMs).toBe(1_000);
    expect(lines).toEqual([
      { level: 'error', code: 'config_invalid', problems },
      { level: 'error', code: 'file_unreadable', problems: ['there is no such file'] },
      { level: 'error', code: 'internal' },
    ]);
    await reload();
    expect(settings.beatMs).toBe(3_000);
  });

  it('takes one after the other, in the order in which they were asked', async () => {
    const { settings, lines, reload } = setup({ dir: '/d' }, { dir: '/d', beatMs: 1 }, { dir: '/d', beatMs: 2 });
    await Promise.all([reload(), reload()]);
    expect(settings.beatMs).toBe(2);
    expect(lines).toHaveLength(2);
  });

  it('without a file says so', async () => {
    const { lines, reload } = setup({ dir: '/d' });
    await reload();
    expect(lines).toEqual([{ level: 'warn', code: 'config_absent' }]);
  });
});
