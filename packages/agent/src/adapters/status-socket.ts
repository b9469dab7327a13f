/** The agent's own Unix socket: whoever may enter its state directory may ask how it is (design 8). */
import { chmod, rename, unlink } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import { RollcallError } from '@rollcall/core/errors';
import { type JsonValue, parseJson, readMember, readObject } from '@rollcall/core/json';
import { limits } from '@rollcall/core/limits';
import { type AgentStatusAnswer, routes } from '@rollcall/wire';
import { SOCKET_NAME, systemCode, unwritable } from '../state/files-on-disk.ts';
import { assertSocketPath } from './unix-socket-path.ts';

export interface StatusSocket {
  close(): Promise<void>;
}

/** Only the holder of the directory's lock may call this: it takes the place of what stands there. */
export async function serveStatus(directory: string, describe: () => AgentStatusAnswer): Promise<StatusSocket> {
  const path = `${directory}/${SOCKET_NAME}`;
  const temporary = `${directory}/.status`;
  assertSocketPath(path);
  const server = createStatusServer(describe);
  try {
    await unlink(temporary).catch(() => undefined);
    await listen(server, temporary);
    // Private before it can be found under its name.
    await chmod(temporary, 0o600);
    await rename(temporary, path);
  } catch (error) {
    server.close();
    throw unwritable(path, error);
  }
  return {
    close: async () => {
      await unlink(path).catch(() => undefined);
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** Asks the agent that runs on a state directory. Throws `agent_not_running`, `file_unreadable`, or `malformed_json`. */
export async function askStatus(directory: string): Promise<AgentStatusAnswer> {
  const socketPath = `${directory}/${SOCKET_NAME}`;
  assertSocketPath(socketPath);
  const answer = parseJson(await get(socketPath));
  readMember(readObject(answer, 'status'), 'host');
  return answer as JsonValue & AgentStatusAnswer;
}

function createStatusServer(describe: () => AgentStatusAnswer): Server {
  const server = createServer({ maxHeaderSize: limits.headerBytes }, (asked, answer) => {
    const path = asked.url?.split('?', 1)[0];
    const isStatus = path === routes.agentStatus.path;
    const status = !isStatus ? 404 : asked.method === 'GET' ? 200 : 405;
    answer.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store', connection: 'close' });
    answer.end(JSON.stringify(status === 200 ? describe() : { status }));
  });
  server.requestTimeout = limits.requestTimeoutMs;
  server.headersTimeout = limits.headersTimeoutMs;
  return server;
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => resolve());
  });
}

function get(socketPath: string): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => {
      const cause = systemCode(error) ?? 'unknown';
      const code = cause === 'EACCES' || cause === 'EPERM' ? 'file_unreadable' : 'agent_not_running';
      reject(new RollcallError(code, { file: socketPath, cause }, { cause: error }));
    };
    const asked = request(
      { socketPath, path: routes.agentStatus.path, method: 'GET', timeout: limits.headersTimeoutMs },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.once('error', fail);
        answer.once('end', () => resolve(Buffer.concat(chunks)));
      },
    );
    asked.once('timeout', () => asked.destroy(new Error('no answer')));
    asked.once('error', fail);
    asked.end();
  });
}
