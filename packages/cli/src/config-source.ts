/** The configuration file that an operator names with `--config`. */
import { decodeUtf8 } from '@rollcall/core/bytes';
import { RollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import type { ConfigSource } from '@rollcall/wire';
import { readPlainFile } from './input-file.ts';
import type { Context, VerbOptions } from './verb.ts';

export const configOption: VerbOptions = {
  flags: '--config <file>',
  description: 'configuration file; flags and ROLLCALL_… variables override it',
};

/** Throws `file_unreadable`, or `config_invalid` for what is not text. */
export async function readConfigSource(
  context: Pick<Context, 'io'>,
  file: string | undefined,
): Promise<ConfigSource | undefined> {
  if (file === undefined) return undefined;
  const text = decodeUtf8(await readPlainFile(context, file, limits.configFileMaxBytes));
  if (text === undefined) throw new RollcallError('config_invalid', { problems: [`${file}: not UTF-8`] });
  return { file, text };
}

/** What flags gave, without what they did not: that must not hide what a file or variable says. */
export function given<T extends object>(flags: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
