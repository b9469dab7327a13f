/** For tests: a caller of a listener over TLS, whose headers go out as they are written; it believes any certificate, and shows it. */
import { request } from 'node:https';
import type { TLSSocket } from 'node:tls';

export interface TlsCalled {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly body: string;
  readonly protocol: string | null;
  /** DER. */
  readonly leaf: Uint8Array;
}

export type Headers = readonly (readonly [string, string])[];

export function callTls(
  port: number,
  path: string,
  headers: Headers = [],
  sent: { readonly method?: string; readonly body?: string; readonly maxVersion?: 'TLSv1.2' } = {},
): Promise<TlsCalled> {
  return new Promise((resolve, reject) => {
    const { method = 'GET', body, maxVersion } = sent;
    const lines = ['Host', 'test', 'Connection', 'close', ...headers.flat()];
    if (body !== undefined) lines.push('Content-Length', String(body.length));
    const tls = maxVersion === undefined ? {} : { maxVersion, minVersion: maxVersion };
    const options = { host: '127.0.0.1', port, path, method, agent: false, headers: lines, rejectUnauthorized: false };
    const asked = request({ ...options, ...tls }, (answer) => {
      const socket = answer.socket as TLSSocket;
      const leaf = Uint8Array.from(socket.getPeerCertificate().raw);
      const protocol = socket.getProtocol();
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (part: string) => {
        text += part;
      });
      answer.once('error', reject);
      answer.once('end', () =>
        resolve({
          status: answer.statusCode ?? 0,
          contentType: answer.headers['content-type'],
          body: text,
          protocol,
          leaf,
        }),
      );
    });
    asked.once('error', reject);
    asked.end(body);
  });
}
