/** `rollcall hub start`: what flags, environment and configuration file say together, checked, and read again on SIGHUP. */
import { assertHubConfig, type HubConfig, readHubConfig } from '@rollcall/wire';
import { configOption, given, readConfigSource } from '../config-source.ts';
import { type LogLevel, loadHub } from '../optional-package.ts';
import { optionalAge, optionalDuration } from '../time-option.ts';
import { usageError } from '../usage-error.ts';
import { type Context, defineVerb, type Verb } from '../verb.ts';

interface StartOptions {
  readonly config?: string;
  readonly dir?: string;
  readonly kekFile?: string;
  readonly listen?: string;
  readonly metrics?: string;
  readonly operators?: string;
  readonly beat?: string;
  readonly verifyWindow?: string;
  readonly quietWindow?: string;
  readonly firstUseMinAge?: string;
  readonly logLevel?: LogLevel;
}

export const start: Verb = defineVerb<StartOptions>({
  usage: 'start',
  summary: 'Run the hub until SIGTERM or Ctrl-C; its log goes to standard error',
  examples: [
    'rollcall hub start --dir /var/lib/rollcall --kek-file /etc/rollcall/kek',
    'rollcall hub start --config /etc/rollcall/hub.yaml     (SIGHUP reads it again)',
  ],
  options: [
    configOption,
    { flags: '--dir <dir>', description: 'data directory of the hub' },
    { flags: '--kek-file <file>', description: 'key-encryption key, where it is not the one that init made' },
    {
      flags: '--listen <host:port>',
      description: 'where to listen for hosts, where it is not the address that init was told',
    },
    { flags: '--metrics <host:port>', description: 'address for Prometheus' },
    { flags: '--operators <host:port>', description: 'address for operators with tokens; none by default' },
    { flags: '--beat <duration>', description: 'how often hosts are to beat, for example 10s' },
    { flags: '--verify-window <duration>', description: 'how long an old master goes on verifying; 7d by default' },
    { flags: '--quiet-window <duration>', description: 'nobody sent an old token for so long: it is dropped; 24h' },
    { flags: '--first-use-min-age <duration>', description: 'keys seen for less are exposed; 24h by default' },
    { flags: '--log-level <level>', description: 'what to log', choices: ['debug', 'info', 'warn', 'error', 'silent'] },
  ],
  run: async (context, _args, options) => {
    const hub = await loadHub(context.io);
    const read = () => readOptions(context, options);
    const reload = options.config === undefined ? {} : { reload: read };
    await hub.runHub({ ...(await read()), ...reload });
    return { json: { stopped: true }, text: ['The hub has stopped.'] };
  },
});

/** Flags over environment over file; contradictions are looked for in what comes of it. */
async function readOptions(context: Context, options: StartOptions): Promise<HubConfig & { readonly dir: string }> {
  const { beat, verifyWindow, quietWindow, firstUseMinAge, config: file, ...same } = options;
  const config: HubConfig = {
    ...readHubConfig(await readConfigSource(context, file), context.io.env),
    ...given({
      dir: same.dir,
      kekFile: same.kekFile,
      listen: same.listen,
      metrics: same.metrics,
      operators: same.operators,
      logLevel: same.logLevel,
      beatMs: optionalDuration('--beat', beat),
      verifyWindowMs: optionalDuration('--verify-window', verifyWindow),
      quietWindowMs: optionalDuration('--quiet-window', quietWindow),
      firstUseMinAgeMs: optionalAge('--first-use-min-age', firstUseMinAge),
    }),
  };
  assertHubConfig(config);
  const { dir } = config;
  if (dir === undefined)
    throw usageError('a hub needs its data directory', 'Name it: --dir DIR, or `dir:` in the file.');
  return { ...config, dir };
}
