/** The configuration of a hub. */
import { RollcallError } from '@rollcall/core/errors';
import { type ConfigOf, type ConfigSource, readConfig } from './config-file.ts';
import { address, duration, oneOf, path } from './config-kinds.ts';

export const hubConfigTable = {
  dir: { key: 'dir', kind: path, isLive: false, about: 'Data directory.', example: '/var/lib/rollcall' },
  kekFile: {
    key: 'kek_file',
    kind: path,
    isLive: false,
    about: 'Key-encryption key, outside the data directory.',
    example: '/etc/rollcall/kek',
  },
  listen: {
    key: 'listen',
    kind: address,
    isLive: false,
    about: 'Where to listen for hosts. They are told this address, or that of `hub init` where this is every address.',
    example: '0.0.0.0:7443',
  },
  metrics: {
    key: 'metrics',
    kind: address,
    isLive: false,
    about: 'Address for Prometheus; loopback by default.',
    example: '127.0.0.1:7444',
  },
  operators: {
    key: 'operators',
    kind: address,
    isLive: false,
    about: 'Address for operators with tokens; without it there is the socket in the data directory alone.',
    example: '0.0.0.0:7445',
  },
  beatMs: { key: 'beat', kind: duration, isLive: true, about: 'How often hosts are to beat.', example: '10s' },
  verifyWindowMs: {
    key: 'verify_window',
    kind: duration,
    isLive: true,
    about: 'How long an old master goes on verifying after a rotation starts.',
    example: '7d',
  },
  quietWindowMs: {
    key: 'quiet_window',
    kind: duration,
    isLive: true,
    about:
      'For how long nobody must have sent the old version of a shared token before it is dropped: longer than your slowest process sleeps.',
    example: '24h',
  },
  firstUseMinAgeMs: {
    key: 'first_use.min_age',
    kind: duration,
    isLive: true,
    about: 'A key that was first seen more lately than this is not taken on first use.',
    example: '24h',
  },
  logLevel: {
    key: 'log_level',
    kind: oneOf('debug', 'info', 'warn', 'error', 'silent'),
    isLive: true,
    about: 'What to log.',
    example: 'info',
  },
} as const;

export type HubConfig = ConfigOf<typeof hubConfigTable>;

/** Throws `config_invalid`, also for values that contradict each other. */
export function readHubConfig(
  source: ConfigSource | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): HubConfig {
  const config = readConfig(hubConfigTable, source, environment);
  assertHubConfig(config);
  return config;
}

/** Also over what flags have added. */
export function assertHubConfig(config: HubConfig): void {
  const { dir, kekFile, listen, metrics, operators, beatMs, verifyWindowMs } = config;
  const addresses = [listen, metrics, operators].filter((given) => given !== undefined && !given.endsWith(':0'));
  const problems = [
    verifyWindowMs !== undefined && beatMs !== undefined && verifyWindowMs < beatMs
      ? 'verify_window: must not be shorter than beat, or no host could come along'
      : undefined,
    new Set(addresses).size === addresses.length
      ? undefined
      : 'listen, metrics, operators: must be different addresses',
    dir !== undefined && kekFile !== undefined && isBelow(kekFile, dir)
      ? 'kek_file: must lie outside dir, or a copy of the data would carry its own key'
      : undefined,
  ].filter((problem) => problem !== undefined);
  if (problems.length > 0) throw new RollcallError('config_invalid', { problems });
}

function isBelow(file: string, dir: string): boolean {
  const base = dir.endsWith('/') ? dir : `${dir}/`;
  return file.startsWith(base);
}
