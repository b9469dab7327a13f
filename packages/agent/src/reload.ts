/** Reading the configuration again: what an agent takes while it runs, and what waits for its next start (design 8). */
import { isRollcallError, RollcallError } from '@rollcall/core/errors';
import type { Log } from '@rollcall/core/ports';
import { type AgentReloadAnswer, agentConfigTable, compareConfig, type SinkConfig } from '@rollcall/wire';
import type { LogLevel } from './adapters/pino-log.ts';

/** Throws what is wrong with the configuration, which then changes nothing. */
export type Reload = () => Promise<AgentReloadAnswer>;

/** What a running agent takes. */
export interface LiveOptions {
  readonly logLevel?: LogLevel;
  readonly sinks?: readonly SinkConfig[];
}

/** `take` is given what was read: it takes what is live, and leaves the rest. */
export function createReload<Options extends LiveOptions>(
  started: Options & { readonly reload?: () => Promise<Options> },
  take: (next: LiveOptions) => void,
  log: Log,
): Reload {
  let live: LiveOptions = pickLive(started);
  return async () => {
    try {
      if (started.reload === undefined) throw new RollcallError('config_absent');
      const next = await started.reload();
      const running = { ...started, ...NOTHING_LIVE, ...live } as unknown as Readonly<Record<string, unknown>>;
      const { changed, needRestart } = compareConfig(
        agentConfigTable,
        running,
        next as Readonly<Record<string, unknown>>,
      );
      live = pickLive(next);
      take(live);
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

/** Takes away what was in force at start. */
const NOTHING_LIVE = { logLevel: undefined, sinks: undefined };

function pickLive({ logLevel, sinks }: LiveOptions): LiveOptions {
  return { ...(logLevel === undefined ? {} : { logLevel }), ...(sinks === undefined ? {} : { sinks }) };
}
