/** The kinds of values in a configuration file: what each takes, and the words in which an error says so. */
import { isHostId } from '@rollcall/core/keys';
import { parseDuration } from '@rollcall/core/time';

export interface ConfigKind<Value> {
  /** `undefined` for what is not taken. */
  readonly parse: (value: unknown) => Value | undefined;
  /** Completes "must be". */
  readonly accepts: string;
  /** Whether a variable's text is taken as it is. */
  readonly isText: boolean;
}

/** Milliseconds. The unit is in the value. */
export const duration: ConfigKind<number> = {
  parse: (value) => (typeof value === 'string' ? orUndefined(() => parseDuration(value)) : undefined),
  accepts: 'must be a duration with its unit: 500ms, 10s, 5m, 24h, 7d',
  isText: true,
};

export const path: ConfigKind<string> = {
  parse: (value) => (typeof value === 'string' && value !== '' && !value.includes('\0') ? value : undefined),
  accepts: 'must be the path of a file or directory',
  isText: true,
};

export const address: ConfigKind<string> = {
  parse: (value) => (typeof value === 'string' && ADDRESS.test(value) ? value : undefined),
  accepts: 'must be HOST:PORT, for example 0.0.0.0:7443',
  isText: true,
};

export const hubAddress: ConfigKind<string> = {
  parse: (value) => (typeof value === 'string' && HUB.test(value) ? value : undefined),
  accepts: 'must be an address of the hub: https://HOST:PORT',
  isText: true,
};

export const host: ConfigKind<string> = {
  parse: (value) => (typeof value === 'string' && isHostId(value) ? value : undefined),
  accepts: 'must be a host id: 1 to 128 of A-Z a-z 0-9 . _ -, a letter or digit first and last',
  isText: true,
};

export const positive: ConfigKind<number> = {
  parse: (value) => (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 ? value : undefined),
  accepts: 'must be a whole number of 1 or more',
  isText: false,
};

export function oneOf<Word extends string>(...words: readonly Word[]): ConfigKind<Word> {
  return {
    parse: (value) => words.find((word) => word === value),
    accepts: `must be one of ${words.join(', ')}`,
    isText: true,
  };
}

const ADDRESS = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]{1,253}):[0-9]{1,5}$/;
const HUB = /^https:\/\/(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]{1,253})(?::[0-9]{1,5})?\/?$/;

function orUndefined<Value>(parse: () => Value): Value | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}
