/** SIGHUP: the live keys of the configuration are taken anew, the others are named, and a bad file changes nothing (design 8). */
import { isRollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import { compareConfig, hubConfigTable } from '@rollcall/wire';
import type { LeveledLog, LogLevel } from './adapters/log.ts';
import type { Settings } from './hub.ts';

export const DEFAULT_LOG_LEVEL: LogLevel = 'info';

/** The part of the options that settings come from. */
export interface LiveOptions {
  readonly beatMs?: number | undefined;
  readonly verifyWindowMs?: number | undefined;
  readonly quietWindowMs?: number | undefined;
  readonly firstUseMinAgeMs?: number | undefined;
  readonly logLevel?: LogLevel | undefined;
}

export function settingsOf(options: LiveOptions): Settings {
  return {
    beatMs: options.beatMs ?? limits.beatMs,
    verifyWindowMs: options.verifyWindowMs ?? limits.verifyWindowMs,
    quietWindowMs: options.quietWindowMs ?? limits.quietWindowMs,
    firstUseMinAgeMs: options.firstUseMinAgeMs ?? limits.firstUseMinAgeMs,
  };
}

/** One at a time, in the order in which it was asked. Never rejects: whoever sends a signal awaits nothing. */
export function createReload<Options extends LiveOptions>(
  started: Options & { readonly reload?: (() => Promise<Options>) | undefined },
  settings: Settings,
  log: LeveledLog,
): () => Promise<void> {
  let running: Options = started;
  let last = Promise.resolve();
  const once = async () => {
    if (started.reload === undefined)
      return log.warn('there is no configuration file to read again', { code: 'config_absent' });
    try {
      const next = await started.reload();
      const changes = compareConfig(
        hubConfigTable,
        running as Readonly<Record<string, unknown>>,
        next as Readonly<Record<string, unknown>>,
      );
      Object.assign(settings, settingsOf(next));
      log.setLevel(next.logLevel ?? DEFAULT_LOG_LEVEL);
      // What waits for a start goes on differing from what runs.
      running = { ...running, ...liveOf(next) };
      log.info('the configuration was read again', { ...changes });
    } catch (error) {
      log.error('the configuration was not taken; the running one stays', describe(error));
    }
  };
  return () => {
    last = last.then(once);
    return last;
  };
}

function liveOf({ beatMs, verifyWindowMs, quietWindowMs, firstUseMinAgeMs, logLevel }: LiveOptions): LiveOptions {
  return { beatMs, verifyWindowMs, quietWindowMs, firstUseMinAgeMs, logLevel };
}

function describe(error: unknown): { readonly code: string; readonly problems?: readonly string[] } {
  if (!isRollcallError(error)) return { code: 'internal' };
  const problems = error.details['problems'] ?? error.details['reason'];
  return { code: error.code, ...(problems === undefined ? {} : { problems: [problems].flat().map(String) }) };
}
