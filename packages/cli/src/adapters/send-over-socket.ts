/** One HTTP request over a Unix socket, on a connection of its own. */
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { limits } from '@rollcall/core/limits';
import type { SendRequest, SocketAnswer } from '../ports.ts';
import { readAll } from './node-io.ts';

export const sendOverSocket: SendRequest = ({ socketPath, method, path, headers, body, maxBytes, signal }) =>
  new Promise<SocketAnswer>((resolve, reject) => {
    const request: ClientRequest = httpRequest(
      {
        socketPath,
        method,
        path,
        headers: { ...headers, host: 'rollcall' },
        agent: false,
        maxHeaderSize: limits.headerBytes,
        signal,
      },
      (response) => {
        collect(response, maxBytes).then(resolve, reject);
      },
    );
    request.on('error', reject);
    request.end(body);
  });

async function collect(response: IncomingMessage, maxBytes: number): Promise<SocketAnswer> {
  const body = await readAll(response, maxBytes);
  // A peer that dies in the middle ends the stream without an error on some versions of Node.
  if (!response.complete) throw Object.assign(new Error('the answer was cut off'), { code: 'ECONNRESET' });
  return { status: response.statusCode ?? 0, contentType: response.headers['content-type'] ?? '', body };
}
