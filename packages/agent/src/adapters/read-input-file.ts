/** What an operator hands over: a file, or standard input as `-`. Links are followed, since that is how such files are mounted. */
import { open } from 'node:fs/promises';
import { concatBytes } from '@rollcall/core/bytes';
import { RollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';

const STANDARD_INPUT = '-';

/** Throws `file_unreadable`, or `too_large`; never shows a byte of the content. */
export async function readInputFile(path: string): Promise<Uint8Array> {
  return path === STANDARD_INPUT ? readAll(process.stdin, 'standard input') : readFileStream(path);
}

async function readFileStream(path: string): Promise<Uint8Array> {
  try {
    const handle = await open(path, 'r');
    return await readAll(handle.createReadStream(), path);
  } catch (error) {
    if (error instanceof RollcallError) throw error;
    const cause = (error as { readonly code?: string }).code ?? 'unknown';
    throw new RollcallError('file_unreadable', { file: path, cause }, { cause: error });
  }
}

async function readAll(stream: AsyncIterable<unknown>, file: string): Promise<Uint8Array> {
  let bytes: Uint8Array = new Uint8Array();
  for await (const chunk of stream) {
    bytes = concatBytes(bytes, chunk as Uint8Array);
    if (bytes.length > limits.secretFileMaxBytes) throw new RollcallError('too_large', { file });
  }
  return bytes;
}
