/** One HTTP exchange over a connection of its own, kept to the byte: what node's client would hide is what tests look at. */
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Recorder } from './recorder.ts';

/** `localAddress`: of this machine, from which to call. */
export type Address = { readonly port: number; readonly localAddress?: string } | { readonly socket: string };

export interface Asked {
  readonly method: string;
  readonly path: string;
  /** In order, and as often as they are given. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly body?: string | Uint8Array;
}

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Everything that came, from the status line on. */
  readonly raw: Buffer;
  /** The body as JSON; throws where it is none. */
  readonly json: <T = Record<string, unknown>>() => T;
}

/** Rejects when the connection cannot be made, or ends without an answer. */
export async function exchange(address: Address, asked: Asked, recorder: Recorder): Promise<Answered> {
  const raw = await talk(address, encodeRequest(asked));
  recorder.keep('response', `${asked.method} ${asked.path}`, raw);
  if (raw.length === 0) throw new Error(`no answer to ${asked.method} ${asked.path}`);
  return parseAnswer(raw);
}

function encodeRequest({ method, path, headers = [], body }: Asked): Buffer {
  const bytes = body === undefined ? undefined : Buffer.from(body);
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: hub.test',
    'Connection: close',
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(bytes === undefined ? [] : ['Content-Type: application/json', `Content-Length: ${bytes.length}`]),
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), bytes ?? Buffer.alloc(0)]);
}

function talk(address: Address, request: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    // Whom the agent believes is tested in its own package; this client wants to see whatever the hub says.
    const socket: Socket =
      'port' in address
        ? connectTls({ host: '127.0.0.1', ...address, rejectUnauthorized: false })
        : connectPlain(address.socket);
    socket.setTimeout(15_000, () => socket.destroy(new Error('the hub did not answer')));
    socket.once('port' in address ? 'secureConnect' : 'connect', () => socket.write(request));
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    // A server that refuses a body it has not read may reset after its answer.
    socket.once('error', (error: Error) => (chunks.length > 0 ? resolve(Buffer.concat(chunks)) : reject(error)));
    socket.once('close', () => resolve(Buffer.concat(chunks)));
  });
}

function parseAnswer(raw: Buffer): Answered {
  const split = raw.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = raw.subarray(0, split).toString('latin1').split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const rest = raw.subarray(split + 4);
  const body = (headers['transfer-encoding'] === 'chunked' ? unchunk(rest) : rest).toString('utf8');
  return {
    status: Number(statusLine.split(' ')[1]),
    headers,
    body,
    raw,
    json: <T>() => JSON.parse(body) as T,
  };
}

function unchunk(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at);
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString('latin1'), 16);
    if (!(size > 0)) return Buffer.concat(parts);
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}
