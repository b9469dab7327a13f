/** Reads and parses what an operator handed over. */
import { isRollcallError, RollcallError } from '@rollcall/core/errors';
import {
  parseEnrolmentToken,
  parseHostId,
  parseHubRootFile,
  parseMasterFile,
  parseTokenFile,
} from '@rollcall/core/keys';
import { limits } from '@rollcall/core/limits';
import { type Given, tokenDigest } from './start.ts';

export interface AgentFlags {
  /** A file that holds an enrolment token, or `-` for standard input. */
  readonly enrol?: string;
  readonly hub?: string;
  readonly host?: string;
  readonly hubRootFile?: string;
  readonly masterFile?: string;
  readonly life?: number;
}

/** How a named file is read: the adapter, or the simulator's. Throws `file_unreadable`. */
export type ReadInput = (path: string) => Promise<Uint8Array>;

export interface ReadGiven {
  readonly given: Given;
  /** Named files that are not there: an error for a host without an identity, and none for one that has it. */
  readonly absent: readonly RollcallError<'file_unreadable'>[];
}

/** Throws the code of what is wrong; no error holds a byte of a secret. */
export async function readGiven(flags: AgentFlags, read: ReadInput): Promise<ReadGiven> {
  const absent: RollcallError<'file_unreadable'>[] = [];
  const readIfThere = async <T>(path: string | undefined, parse: (bytes: Uint8Array) => T): Promise<T | undefined> => {
    if (path === undefined) return undefined;
    try {
      return parse(await read(path));
    } catch (error) {
      if (!isRollcallError(error, 'file_unreadable') || error.details['cause'] !== 'ENOENT')
        throw withFile(error, path);
      absent.push(error);
      return undefined;
    }
  };
  const enrolment = await readIfThere(flags.enrol, (bytes) => {
    const text = parseTokenFile(bytes);
    return { token: parseEnrolmentToken(text), digest: tokenDigest(text) };
  });
  const hubRoot = await readIfThere(flags.hubRootFile, parseHubRootFile);
  const master = await readIfThere(flags.masterFile, parseMasterFile);
  const { hub, host, life } = flags;
  return {
    given: {
      ...(enrolment === undefined ? {} : { enrolment }),
      ...(hub === undefined ? {} : { hubs: [parseHubAddress(hub)] }),
      ...(host === undefined ? {} : { host: parseHostId(host) }),
      ...(hubRoot === undefined ? {} : { hubRoot }),
      ...(master === undefined ? {} : { master }),
      ...(life === undefined ? {} : { life: parseLife(life) }),
    },
    absent,
  };
}

/** `https://NAME[:PORT][/PATH]`; throws `malformed_hub_address`. */
export function parseHubAddress(text: string): string {
  const url = text.length <= limits.hubAddressCharacters && URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url?.protocol === 'https:' && url.username === '' && url.password === '' && !/[?#\s]/.test(text);
  if (!isPlain) throw new RollcallError('malformed_hub_address');
  return text;
}

function parseLife(life: number): number {
  if (!Number.isSafeInteger(life) || life < 1)
    throw new RollcallError('usage', { what: '--life must be a whole number, 1 or more' });
  return life;
}

function withFile(error: unknown, file: string): unknown {
  if (!isRollcallError(error) || error.details['file'] !== undefined) return error;
  return new RollcallError(
    error.code,
    { ...error.details, file: file === '-' ? 'standard input' : file },
    { cause: error },
  );
}
