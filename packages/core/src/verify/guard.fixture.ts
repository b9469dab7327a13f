/** For tests of the guards: a verifier of two versions, and a caller that sends headers as they are, twice where it says so. */
import { type IncomingHttpHeaders, request } from 'node:http';
import { createTokenVerifier, type TokenVerifier } from './token.ts';

export const current = `rcf_${'c'.repeat(40)}`;
export const retiring = `rcf_${'r'.repeat(40)}`;

export function widenedVerifier(): TokenVerifier {
  return createTokenVerifier({
    current: { version: 4, value: current },
    retiring: { version: 3, value: retiring },
  });
}

export interface Called {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** `headers` are names and values in turn. */
export function call(
  port: number,
  path: string,
  headers: readonly string[] = [],
  sent: { readonly method?: string; readonly body?: string } = {},
): Promise<Called> {
  return new Promise((resolve, reject) => {
    const { method = 'GET', body } = sent;
    const all = ['Host', 'test', 'Connection', 'close', ...headers];
    if (body !== undefined) all.push('Content-Length', String(body.length));
    const asked = request(
      { host: '127.0.0.1', port, path, method, agent: false, setHost: false, headers: all },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8');
        answer.on('data', (part: string) => {
          text += part;
        });
        answer.once('error', reject);
        answer.once('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: text }));
      },
    );
    asked.once('error', reject);
    asked.end(body);
  });
}

/** What must be refused, whichever server the guard stands in front of: a name, and the headers. */
export const refusedHeaders: readonly (readonly [string, readonly string[]])[] = [
  ['no token', []],
  ['an empty token', ['X-Node-Token', '']],
  ['a blank token', ['X-Node-Token', '   ']],
  ['another token', ['X-Node-Token', `rcf_${'x'.repeat(40)}`]],
  ['a token cut short', ['X-Node-Token', current.slice(0, -1)]],
  ['the right token twice', ['X-Node-Token', current, 'X-Node-Token', current]],
  ['the right token and an empty one', ['X-Node-Token', current, 'x-node-token', '']],
  ['an empty one and the right token', ['X-Node-Token', '', 'x-node-token', current]],
  ['another token and the right one', ['X-Node-Token', 'x'.repeat(44), 'X-NODE-TOKEN', current]],
  ['both versions', ['X-Node-Token', current, 'X-Node-Token', retiring]],
  ['both versions in one line', ['X-Node-Token', `${current}, ${retiring}`]],
  ['the right token in another header', ['Authorization', `Bearer ${current}`]],
];
