/** pino as the `Log` port: JSON lines on standard error, with what could carry a secret redacted by name as well (I12). */
import type { Log } from '@rollcall/core/ports';
import { destination, pino } from 'pino';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

const REDACTED = ['authorization', 'token', 'master', 'secret', 'password', 'proof', 'value', 'keys', 'private'];

export interface LeveledLog extends Log {
  setLevel(level: LogLevel): void;
}

export function createLog(level: LogLevel): LeveledLog {
  const logger = pino(
    {
      level,
      base: null,
      redact: REDACTED.flatMap((name) => [name, `*.${name}`]),
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    // Synchronous: the line that says why a process ends must be out before it has ended.
    destination({ fd: 2, sync: true }),
  );
  return {
    debug: (message, fields) => logger.debug(fields ?? {}, message),
    info: (message, fields) => logger.info(fields ?? {}, message),
    warn: (message, fields) => logger.warn(fields ?? {}, message),
    error: (message, fields) => logger.error(fields ?? {}, message),
    setLevel: (next) => {
      logger.level = next;
    },
  };
}
