/** For tests: a request over plain HTTP whose headers go out as they are written, twice where they stand twice. */
import { request } from 'node:http';

export interface RawAnswer {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly body: string;
}

export function rawRequest(
  port: number,
  path: string,
  headers: readonly (readonly [string, string])[],
  body?: string,
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const lines = ['Host', 'test', 'Connection', 'close', ...headers.flat()];
    if (body !== undefined) lines.push('Content-Length', String(body.length));
    const method = body === undefined ? 'GET' : 'POST';
    const asked = request({ host: '127.0.0.1', port, path, method, agent: false, headers: lines }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (part: string) => {
        text += part;
      });
      answer.once('error', reject);
      answer.once('end', () =>
        resolve({ status: answer.statusCode ?? 0, contentType: answer.headers['content-type'], body: text }),
      );
    });
    asked.once('error', reject);
    asked.end(body);
  });
}
