/** The load, as a process: kept TLS connections, each with one heartbeat on its way at any time. No HTTP library: it must not be what is measured. */
import { connect, type TLSSocket } from 'node:tls';
import { FIRST_SEQ } from './first-seq.ts';
import { answerParent } from './process.ts';

export interface Beats {
  readonly port: number;
  /** One request for each connection, whole, as text. */
  readonly requests: readonly string[];
}

export interface RoundResult {
  readonly beats: number;
  readonly ms: number;
  /** Length of the body of the last answer. */
  readonly answerBytes: number;
}

export interface LoadAnswers {
  /** Opens a connection for each request, and keeps it under a name. */
  open(target: { readonly name: string } & Beats): Promise<void>;
  run(round: { readonly name: string; readonly ms: number }): Promise<RoundResult>;
  [other: string]: (argument: never) => unknown;
}

interface Connection {
  readonly socket: TLSSocket;
  readonly request: Buffer;
  readonly seqAt: number;
  seq: number;
  received: number;
  expected: number;
  /** Called with each answer that came in whole. */
  onAnswer: (connection: Connection) => void;
}

/** A server does not wait for handshakes as long as it likes; nor may one that is slow have them all at once. */
const OPEN_AT_ONCE = 20;

const connections = new Map<string, readonly Connection[]>();
let lastAnswerBytes = 0;
let onFailure: (error: Error) => void = (error) => {
  throw error;
};

/** With a first beat: a connection that says nothing is not kept. */
async function openOne(port: number, text: string): Promise<Connection> {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
  socket.setNoDelay(true);
  await new Promise<void>((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
  return new Promise((onAnswer) => {
    const seqAt = text.indexOf(String(FIRST_SEQ));
    const connection = {
      socket,
      request: Buffer.from(text),
      seqAt,
      seq: FIRST_SEQ,
      received: 0,
      expected: 0,
      onAnswer,
    };
    socket.on('data', (chunk: Buffer) => receive(connection, chunk));
    socket.on('close', () => onFailure(new Error('a server closed a kept connection')));
    send(connection);
  });
}

const HEADER_END = Buffer.from('\r\n\r\n');

function receive(connection: Connection, chunk: Buffer): void {
  if (connection.expected === 0) {
    const headerEnd = chunk.indexOf(HEADER_END);
    const header = chunk.toString('latin1', 0, headerEnd);
    const length = /\r\ncontent-length: (\d+)/i.exec(header)?.[1];
    if (headerEnd < 0 || length === undefined || !header.startsWith('HTTP/1.1 200 ')) {
      onFailure(new Error(`not the answer to a heartbeat: ${chunk.toString('latin1').slice(0, 400)}`));
      return;
    }
    lastAnswerBytes = Number(length);
    connection.expected = headerEnd + HEADER_END.length + Number(length);
  }
  connection.received += chunk.length;
  if (connection.received < connection.expected) return;
  connection.received = 0;
  connection.expected = 0;
  connection.onAnswer(connection);
}

function send(connection: Connection): void {
  connection.seq += 1;
  connection.request.write(String(connection.seq), connection.seqAt, 'latin1');
  connection.socket.write(connection.request);
}

/** All connections at once for `ms`, and then until the last answer, so that the next round starts from rest. */
function run(held: readonly Connection[], ms: number): Promise<RoundResult> {
  return new Promise((resolve, reject) => {
    let beats = 0;
    let onTheWay = held.length;
    let endedAt: number | undefined;
    const startedAt = performance.now();
    onFailure = reject;
    const onAnswer = (connection: Connection) => {
      if (endedAt === undefined) {
        beats += 1;
        const now = performance.now();
        if (now - startedAt < ms) {
          send(connection);
          return;
        }
        endedAt = now;
      }
      onTheWay -= 1;
      if (onTheWay === 0) resolve({ beats, ms: endedAt - startedAt, answerBytes: lastAnswerBytes });
    };
    for (const connection of held) {
      connection.onAnswer = onAnswer;
      send(connection);
    }
  });
}

const answers: LoadAnswers = {
  open: async ({ name, port, requests }) => {
    const opened: Connection[] = [];
    for (let at = 0; at < requests.length; at += OPEN_AT_ONCE) {
      const some = requests.slice(at, at + OPEN_AT_ONCE);
      opened.push(...(await Promise.all(some.map((request) => openOne(port, request)))));
    }
    connections.set(name, opened);
  },
  run: ({ name, ms }) => run(connections.get(name) ?? [], ms),
};

answerParent(answers);
