/** The agent's own Unix socket: whoever may enter its state directory may ask how it is (design 8). */
import { chmod, rename, unlink } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { type ErrorCode, errorTable, isRollcallError, RollcallError } from '@rollcall/core/errors';
import { type JsonValue, parseJson, readMember, readObject } from '@rollcall/core/json';
import { limits } from '@rollcall/core/limits';
import { type AgentReloadAnswer, type AgentStatusAnswer, type Route, routes } from '@rollcall/wire';
import { SOCKET_NAME, systemCode, unwritable } from '../state/files-on-disk.ts';
import { assertSocketPath } from './unix-socket-path.ts';

export interface StatusSocket {
  close(): Promise<void>;
}

/** What the socket is asked for. */
export interface StatusAgent {
  readonly describe: () => AgentStatusAnswer;
  /** Throws what is wrong with the configuration. */
  readonly reload: () => Promise<AgentReloadAnswer>;
}

/** Only the holder of the directory's lock may call this: it takes the place of what stands there. */
export async function serveStatus(directory: string, agent: StatusAgent): Promise<StatusSocket> {
  const path = `${directory}/${SOCKET_NAME}`;
  const temporary = `${directory}/.status`;
  assertSocketPath(path);
  const server = createStatusServer(agent);
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
  const { json } = await ask(directory, routes.agentStatus);
  readMember(readObject(json, 'status'), 'host');
  return json as JsonValue & AgentStatusAnswer;
}

/** The same, and the code that the agent refused with. */
export async function askReload(directory: string): Promise<AgentReloadAnswer> {
  const { status, json } = await ask(directory, routes.agentReload);
  const answer = readObject(json, 'reload');
  if (status === 200) return json as JsonValue & AgentReloadAnswer;
  const code = readMember(answer, 'code');
  const problems = readMember(answer, 'problems');
  // An agent before this verb answers 404 with nothing but its status.
  if (typeof code !== 'string' || !Object.hasOwn(errorTable, code))
    throw new RollcallError('hub_answer_unusable', { status });
  throw new RollcallError(code as ErrorCode, Array.isArray(problems) ? { problems: problems.map(String) } : {});
}

function createStatusServer(agent: StatusAgent): Server {
  const server = createServer({ maxHeaderSize: limits.headerBytes }, (asked, answer) => {
    respond(agent, asked).then(
      ({ status, json }) => {
        const headers = { 'content-type': 'application/json', 'cache-control': 'no-store', connection: 'close' };
        answer.writeHead(status, headers).end(JSON.stringify(json));
      },
      () => answer.destroy(),
    );
  });
  server.requestTimeout = limits.requestTimeoutMs;
  server.headersTimeout = limits.headersTimeoutMs;
  return server;
}

interface Answered {
  readonly status: number;
  readonly json: unknown;
}

async function respond({ describe, reload }: StatusAgent, asked: IncomingMessage): Promise<Answered> {
  const path = asked.url?.split('?', 1)[0];
  const route = [routes.agentStatus, routes.agentReload].find((candidate) => candidate.path === path);
  if (route === undefined) return { status: 404, json: { status: 404 } };
  if (asked.method !== route.method) return { status: 405, json: { status: 405 } };
  if (route === routes.agentStatus) return { status: 200, json: describe() };
  try {
    return { status: 200, json: await reload() };
  } catch (error) {
    const code = isRollcallError(error) ? error.code : 'internal';
    const problems = isRollcallError(error) ? (error.details['problems'] ?? []) : [];
    return { status: errorTable[code].status, json: { status: errorTable[code].status, code, problems } };
  }
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => resolve());
  });
}

async function ask(directory: string, route: Route): Promise<{ readonly status: number; readonly json: JsonValue }> {
  const socketPath = `${directory}/${SOCKET_NAME}`;
  assertSocketPath(socketPath);
  const { status, body } = await exchange(socketPath, route);
  return { status, json: parseJson(body) };
}

function exchange(socketPath: string, route: Route): Promise<{ readonly status: number; readonly body: Uint8Array }> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => {
      const cause = systemCode(error) ?? 'unknown';
      const code = cause === 'EACCES' || cause === 'EPERM' ? 'file_unreadable' : 'agent_not_running';
      reject(new RollcallError(code, { file: socketPath, cause }, { cause: error }));
    };
    const asked = request(
      { socketPath, path: route.path, method: route.method, timeout: limits.headersTimeoutMs },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.once('error', fail);
        answer.once('end', () => resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(chunks) }));
      },
    );
    asked.once('timeout', () => asked.destroy(new Error('no answer')));
    asked.once('error', fail);
    asked.end();
  });
}
