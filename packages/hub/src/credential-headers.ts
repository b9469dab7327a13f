/** The credentials of a request, as its headers bring them. Nothing of it is verified. */
import { limits } from '@rollcall/core/limits';

interface CredentialHeaders {
  authorization: string | undefined;
  host: string | undefined;
  tokens: readonly string[];
  /** Something that may come once came twice, or more tokens than a host can hold. */
  isDoubled: boolean;
}

const NONE: readonly string[] = [];

/** Read from the raw headers, since node drops a second one. */
export function readHeaders(rawHeaders: readonly string[]): CredentialHeaders {
  const read: CredentialHeaders = { authorization: undefined, host: undefined, tokens: NONE, isDoubled: false };
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const value = rawHeaders[at + 1] as string;
    switch ((rawHeaders[at] as string).toLowerCase()) {
      case 'authorization':
        read.isDoubled ||= read.authorization !== undefined;
        read.authorization = value;
        break;
      case 'x-rollcall-host':
        read.isDoubled ||= read.host !== undefined;
        read.host = value;
        break;
      case 'x-node-token':
        read.isDoubled ||= read.tokens.length >= limits.namedSecrets;
        read.tokens = [...read.tokens, value];
        break;
    }
  }
  return read;
}
