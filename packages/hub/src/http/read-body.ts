/** The body of a request on the bare server, bounded while it comes in. */
import type { IncomingMessage } from 'node:http';
import { RollcallError } from '@rollcall/core/errors';

const JSON_TYPE = /^application\/json *(?:;|$)/i;

/** Called once, one of the two. By the events of the request itself: a promise, and what waits for it, would cost each beat. */
export interface BodyReceiver {
  readonly onBody: (body: Buffer) => void;
  readonly onError: (error: RollcallError) => void;
}

/**
 * Throws `unsupported_media_type`, or `too_large`: by its length before a byte was read where one is given. A body that never
 * ends is ended by the timeouts of the server; its receiver goes with the request.
 */
export function readBody(request: IncomingMessage, maxBytes: number, { onBody, onError }: BodyReceiver): void {
  const { headers } = request;
  if (!JSON_TYPE.test(headers['content-type'] ?? '')) throw new RollcallError('unsupported_media_type');
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw new RollcallError('too_large');
  const parts: Buffer[] = [];
  let length = 0;
  request.on('data', (part: Buffer) => {
    const isFirstBeyond = length <= maxBytes && length + part.length > maxBytes;
    length += part.length;
    if (length <= maxBytes) parts.push(part);
    else if (isFirstBeyond) onError(new RollcallError('too_large'));
  });
  request.on('end', () => {
    if (length <= maxBytes) onBody(parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts));
  });
}
