/** Sinks: files with a token for other programs on the host, and how such a program is told to read them again (design 4). */
import { limits } from '@rollcall/core/limits';
import { type ConfigKind, duration, oneOf } from './config-kinds.ts';
import { type ConfigList, type ItemProblem, listOf } from './config-list.ts';

export interface SinkConfig {
  readonly name: string;
  /** Becomes a symbolic link to a directory beside it. */
  readonly path: string;
  readonly secret: string;
  /** Of each file: 0o400, 0o440, 0o600 or 0o640. */
  readonly mode: number;
  /** A name, or the decimal of an id. Without one: whoever the agent runs as. */
  readonly owner?: string;
  readonly group?: string;
  readonly reload?: SinkReload;
}

export type SinkReload =
  | { readonly by: 'signal'; readonly pidFile: string; readonly signal: ReloadSignal }
  | { readonly by: 'unit'; readonly unit: string; readonly timeoutMs: number }
  | { readonly by: 'command'; readonly command: readonly string[]; readonly timeoutMs: number };

export const reloadSignals = ['HUP', 'USR1', 'USR2'] as const;
export type ReloadSignal = (typeof reloadSignals)[number];

const name: ConfigKind<string> = {
  parse: (value) => (typeof value === 'string' && /^[a-z0-9-]{1,64}$/.test(value) ? value : undefined),
  accepts: 'must be 1 to 64 of a-z 0-9 -',
  isText: true,
};

const secret: ConfigKind<string> = {
  parse: (value) => (value === 'master' ? undefined : name.parse(value)),
  accepts: 'must be the name of a shared token: 1 to 64 of a-z 0-9 -, and not master, which no file ever holds',
  isText: true,
};

const sinkPath: ConfigKind<string> = {
  parse: (value) =>
    isPlainPath(value) && Buffer.byteLength(lastPart(value)) <= limits.sinkNameBytes ? value : undefined,
  accepts: `must be an absolute path without . or .. or a slash at its end; its last part has at most ${limits.sinkNameBytes} bytes`,
  isText: true,
};

const absolutePath: ConfigKind<string> = {
  parse: (value) => (isPlainPath(value) ? value : undefined),
  accepts: 'must be an absolute path without . or .. or a slash at its end',
  isText: true,
};

/** YAML reads 0640 as the number 640; both are what a person means by it. */
const mode: ConfigKind<number> = {
  parse: (value) => modes.get(String(value).replace(/^0/, '')),
  accepts: 'must be 0640, 0600, 0440 or 0400: its owner reads, its group may, others never do',
  isText: true,
};
const modes: ReadonlyMap<string, number> = new Map(
  ['640', '600', '440', '400'].map((text) => [text, Number.parseInt(text, 8)]),
);

const account: ConfigKind<string> = {
  parse: (value) => {
    const text = typeof value === 'number' ? String(value) : value;
    if (typeof text !== 'string') return undefined;
    if (/^(?:0|[1-9]\d{0,9})$/.test(text)) return Number(text) <= HIGHEST_ID ? text : undefined;
    return /^[A-Za-z_][A-Za-z0-9_.-]{0,63}\$?$/.test(text) ? text : undefined;
  },
  accepts: 'must be a name of an account, or its number',
  isText: true,
};
/** One below the highest of 32 bits, which means "leave it" to the system. */
const HIGHEST_ID = 4_294_967_294;

const unit: ConfigKind<string> = {
  parse: (value) =>
    typeof value === 'string' && /^[A-Za-z0-9][A-Za-z0-9:_.@\\-]{0,254}$/.test(value) ? value : undefined,
  accepts: 'must be the name of a systemd unit, for example nginx.service',
  isText: true,
};

const command: ConfigKind<readonly string[]> = {
  parse: (value) => (isCommand(value) ? value : undefined),
  accepts: `must be a list of texts, the program with its absolute path first, at most ${limits.sinkCommandArguments}; no shell reads it`,
  isText: false,
};

const timeout: ConfigKind<number> = {
  parse: (value) => {
    const ms = duration.parse(value);
    return ms !== undefined && ms >= 1 && ms <= limits.sinkReloadTimeoutMaxMs ? ms : undefined;
  },
  accepts: 'must be a duration with its unit, of at most 5m: 500ms, 10s, 1m',
  isText: true,
};

const itemTable = {
  name: { key: 'name', kind: name, about: 'Its name in reports.', example: 'web', isRequired: true },
  path: {
    key: 'path',
    kind: sinkPath,
    about:
      'Becomes a link to a directory beside it, with the files present, accept, current, version, and next or retiring.',
    example: '/etc/rollcall/sinks/web',
    isRequired: true,
  },
  secret: { key: 'secret', kind: secret, about: 'Which shared token.', example: 'fleet', isRequired: true },
  mode: { key: 'mode', kind: mode, about: '0640 by default.', example: '0640' },
  owner: { key: 'owner', kind: account, about: 'Name or number; else whoever the agent runs as.', example: 'www-data' },
  group: { key: 'group', kind: account, about: 'Name or number.', example: 'www-data' },
  reloadPidFile: {
    key: 'reload_pid_file',
    kind: absolutePath,
    about: 'What to signal when the content has changed; or a unit, or a command, but one of them.',
    example: '/run/web.pid',
  },
  reloadSignal: { key: 'reload_signal', kind: oneOf(...reloadSignals), about: 'HUP by default.', example: 'HUP' },
  reloadUnit: {
    key: 'reload_unit',
    kind: unit,
    about: 'For `systemctl reload`.',
    example: 'web.service',
    isAlternative: true,
  },
  reloadCommand: {
    key: 'reload_command',
    kind: command,
    about: 'Run without a shell.',
    example: '[/usr/sbin/web, --reload]',
    isAlternative: true,
  },
  reloadTimeout: {
    key: 'reload_timeout',
    kind: timeout,
    about: 'After this it is ended; 10s by default.',
    example: '10s',
    isAlternative: true,
  },
} as const;

export const sinkList: ConfigList<SinkConfig> = listOf(itemTable, {
  maxItems: limits.sinksPerHost,
  problemsOf: (item) => {
    const ways = (['reloadPidFile', 'reloadUnit', 'reloadCommand'] as const).filter((way) => item[way] !== undefined);
    const [, second] = ways;
    return [
      ...(second === undefined
        ? []
        : [
            {
              name: second,
              problem: 'must not stand beside another way to reload: reload_pid_file, reload_unit, reload_command',
            },
          ]),
      ...(item.reloadSignal !== undefined && item.reloadPidFile === undefined
        ? [{ name: 'reloadSignal', problem: 'only with reload_pid_file' } as const]
        : []),
      ...(item.reloadTimeout !== undefined && item.reloadUnit === undefined && item.reloadCommand === undefined
        ? [{ name: 'reloadTimeout', problem: 'only with reload_unit or reload_command' } as const]
        : []),
    ];
  },
  build: ({ name, path, secret, mode, owner, group, ...rest }) => {
    const reload = reloadOf(rest);
    return {
      name,
      path,
      secret,
      mode: mode ?? DEFAULT_MODE,
      ...(owner === undefined ? {} : { owner }),
      ...(group === undefined ? {} : { group }),
      ...(reload === undefined ? {} : { reload }),
    };
  },
  problemsOfAll: (sinks) => sinks.flatMap((sink, index) => clashes(sink, index, sinks.slice(0, index))),
});

const DEFAULT_MODE = 0o640;

function reloadOf(given: {
  readonly reloadPidFile?: string;
  readonly reloadSignal?: ReloadSignal;
  readonly reloadUnit?: string;
  readonly reloadCommand?: readonly string[];
  readonly reloadTimeout?: number;
}): SinkReload | undefined {
  const { reloadPidFile: pidFile, reloadSignal, reloadUnit: unit, reloadCommand: command, reloadTimeout } = given;
  const timeoutMs = reloadTimeout ?? limits.sinkReloadTimeoutMs;
  if (pidFile !== undefined) return { by: 'signal', pidFile, signal: reloadSignal ?? 'HUP' };
  if (unit !== undefined) return { by: 'unit', unit, timeoutMs };
  return command === undefined ? undefined : { by: 'command', command, timeoutMs };
}

function clashes(sink: SinkConfig, index: number, earlier: readonly SinkConfig[]): readonly ItemProblem[] {
  const sameName = earlier.some(({ name }) => name === sink.name);
  const samePlace = earlier.some(({ path }) => isWithin(path, sink.path) || isWithin(sink.path, path));
  return [
    ...(sameName ? [{ index, name: 'name', problem: 'another sink has this name' }] : []),
    ...(samePlace ? [{ index, name: 'path', problem: 'another sink lies there, or within it, or around it' }] : []),
  ];
}

/** Whether it is `directory` or lies somewhere below. */
export function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith('/') ? directory : `${directory}/`);
}

function isPlainPath(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > limits.sinkPathCharacters || !/^\/[^\0\n]+$/.test(value))
    return false;
  return value
    .slice(1)
    .split('/')
    .every((part) => part !== '' && part !== '.' && part !== '..');
}

function lastPart(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function isCommand(value: unknown): value is readonly string[] {
  if (!Array.isArray(value) || value.length > limits.sinkCommandArguments) return false;
  const isText = (part: unknown) =>
    typeof part === 'string' && part.length <= limits.sinkArgumentCharacters && !part.includes('\0');
  return value.every(isText) && isPlainPath(value[0]);
}
