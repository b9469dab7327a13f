/** The load, as a process: kept connections, each with one request on its way at any time. No HTTP library: it must not be what is measured. */
import { connect, type Socket } from 'node:net';
import { answerParent } from '../heartbeat/process.ts';

const CONNECTIONS = 16;
/** Of an answer to `GET /v1/host`: headers of one length, then `ok`. */
const END = '\r\n\r\nok';

export interface Target {
  readonly name: string;
  readonly port: number;
  readonly headers: readonly string[];
}

interface Connection {
  readonly socket: Socket;
  readonly request: Buffer;
  received: string;
}

const targets = new Map<string, readonly Connection[]>();
let isRunning = false;
let count = 0;
let pending = 0;
let onIdle: () => void = () => undefined;

async function open({ name, port, headers }: Target): Promise<void> {
  const request = Buffer.from(`GET /v1/host HTTP/1.1\r\nHost: bench\r\n${headers.join('\r\n')}\r\n\r\n`);
  const opened = Array.from({ length: CONNECTIONS }, async () => {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true });
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    const connection: Connection = { socket, request, received: '' };
    socket.setEncoding('latin1').on('data', (part: string) => onData(connection, part));
    return connection;
  });
  targets.set(name, await Promise.all(opened));
}

function onData(connection: Connection, part: string): void {
  connection.received += part;
  if (!connection.received.endsWith(END)) {
    if (connection.received.startsWith('HTTP/1.1 4')) throw new Error(`refused: ${connection.received}`);
    return;
  }
  connection.received = '';
  count += 1;
  if (isRunning) connection.socket.write(connection.request);
  else {
    pending -= 1;
    if (pending === 0) onIdle();
  }
}

async function run(round: { readonly name: string; readonly ms: number }): Promise<{ count: number; ms: number }> {
  const { name, ms } = round;
  const connections = targets.get(name) ?? [];
  count = 0;
  pending = connections.length;
  isRunning = true;
  const startedAt = performance.now();
  for (const { socket, request } of connections) socket.write(request);
  await new Promise((resolve) => setTimeout(resolve, ms));
  isRunning = false;
  await new Promise<void>((resolve) => {
    onIdle = resolve;
  });
  return { count, ms: performance.now() - startedAt };
}

const answers = { open, run };
export type GuardLoadAnswers = typeof answers;
answerParent(answers);
