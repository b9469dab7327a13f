/** Reading the configuration again: what an agent takes while it runs, and what waits for its next start (design 8). */
import { isRollcallError, RollcallError } from '@rollcall/core/errors';
import type { Log } from '@rollcall/core/ports';
import { type AgentReloadAnswer, agentConfigTable, compareConfig } from '@rollcall/wire';
import type { LogLevel } from './adapters/pino-log.ts';

/** Throws what is wrong with the configuration, which then changes nothing. */
export type Reload = () => Promise<AgentReloadAnswer>;

export function createReload<Options extends { readonly logLevel?: LogLevel }>(
  started: Options & { readonly reload?: () => Promise<Options> },
  setLevel: (level: LogLevel) => void,
  log: Log,
): Reload {
  let level = started.logLevel;
  return async () => {
    try {
      if (started.reload === undefined) throw new RollcallError('config_absent');
      const next = await started.reload();
      const { changed, needRestart } = compareConfig(
        agentConfigTable,
        { ...started, logLevel: level } as Readonly<Record<string, unknown>>,
        next as Readonly<Record<string, unknown>>,
      );
      level = next.logLevel;
      setLevel(level ?? 'info');
      log.info('the configuration was read again', { changed, needRestart });
      return { changed: [...changed], needRestart: [...needRestart] };
    } catch (error) {
      const problems = isRollcallError(error) ? error.details['problems'] : undefined;
      log.error('the configuration was not taken; the running one stays', {
        code: isRollcallError(error) ? error.code : 'internal',
        ...(Array.isArray(problems) ? { problems: problems as readonly string[] } : {}),
      });
      throw error;
    }
  };
}
