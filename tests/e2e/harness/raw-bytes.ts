/** Bytes as they are, to a listener that may not like them: what came back, and whether it closed. */
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Address } from './exchange.ts';

export interface Talked {
  /** Everything that came, as latin1. */
  readonly text: string;
  /** Status of the last answer; 0 where none came. */
  readonly status: number;
  /** How many answers came. */
  readonly answers: number;
  readonly isClosed: boolean;
}

/** For the first byte of an answer: a busy machine lets it wait for longer than an answer pauses. */
const FIRST_MS = 5_000;

/** Sends, and waits until the other side closes, or has begun to answer and is silent for `quietMs`. */
export async function sendBytes(
  address: Address,
  bytes: string | Uint8Array,
  { quietMs = 100, plain = false }: { readonly quietMs?: number; readonly plain?: boolean } = {},
): Promise<Talked> {
  const socket = await open(address, plain);
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    let timer: NodeJS.Timeout;
    const end = (isClosed: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      const text = Buffer.concat(parts).toString('latin1');
      const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((match) => Number(match[1]));
      const final = statuses.filter((status) => status >= 200);
      resolve({ text, status: final.at(-1) ?? 0, answers: final.length, isClosed });
    };
    const wait = (ms: number) => {
      clearTimeout(timer);
      timer = setTimeout(() => end(false), ms);
    };
    socket.on('data', (part: Buffer) => {
      parts.push(part);
      wait(quietMs);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => end(true));
    socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
    wait(FIRST_MS);
  });
}

/** A connection on which nothing was sent yet. */
export function open(address: Address, plain = false): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const isTls = 'port' in address && !plain;
    const socket: Socket = !('port' in address)
      ? connectPlain(address.socket)
      : isTls
        ? connectTls({ host: '127.0.0.1', port: address.port, rejectUnauthorized: false })
        : connectPlain(address.port, '127.0.0.1');
    socket.once('error', reject);
    socket.once(isTls ? 'secureConnect' : 'connect', () => {
      socket.removeListener('error', reject);
      resolve(socket);
    });
  });
}
