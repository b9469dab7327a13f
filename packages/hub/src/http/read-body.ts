/** The body of a request on the bare server, bounded while it comes in. */
import type { IncomingMessage } from 'node:http';
import { RollcallError } from '@rollcall/core/errors';

const JSON_TYPE = /^application\/json *(?:;|$)/i;

/**
 * Throws `unsupported_media_type`, or `too_large`: by its length before a byte was read where one is given. A body that never
 * ends is ended by the timeouts of the server; its promise goes with the request.
 */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const { headers } = request;
  if (!JSON_TYPE.test(headers['content-type'] ?? '')) throw new RollcallError('unsupported_media_type');
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw new RollcallError('too_large');
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let length = 0;
    request.on('data', (part: Buffer) => {
      length += part.length;
      if (length <= maxBytes) parts.push(part);
      else reject(new RollcallError('too_large'));
    });
    request.on('end', () => resolve(parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)));
  });
}
