/** The agent's own Unix socket: whoever may enter its state directory may ask how it is (design 8). */
import { chmod, rename, unlink } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestListener, request, type Server } from 'node:http';
import { type ErrorCode, errorTable, isRollcallError, RollcallError } from '@rollcall/core/errors';
import { type JsonValue, parseJson, readMember, readObject } from '@rollcall/core/json';
import { limits } from '@rollcall/core/limits';
import {
  type AgentProbeAnswer,
  type AgentReloadAnswer,
  type AgentStatusAnswer,
  agentRoutes,
  type Route,
  routes,
} from '@rollcall/wire';
import { SOCKET_NAME, systemCode, unwritable } from '../state/files-on-disk.ts';
import { harden, httpOptions } from './host-server.ts';
import { assertSocketPath } from './unix-socket-path.ts';

export interface StatusSocket {
  close(): Promise<void>;
}

/** What the socket is asked for. */
export interface StatusAgent {
  readonly describe: () => AgentStatusAnswer;
  /** Throws what is wrong with the configuration. */
  readonly reload: () => Promise<AgentReloadAnswer>;
  /** Throws why there is nothing to probe. */
  readonly probe?: () => Promise<AgentProbeAnswer>;
  /** The host's own routes, each with its credential as over TCP. */
  readonly handle?: RequestListener;
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
  return (await askVerb(directory, routes.agentReload)) as JsonValue & AgentReloadAnswer;
}

export async function askProbe(directory: string): Promise<AgentProbeAnswer> {
  return (await askVerb(directory, agentRoutes.probe)) as JsonValue & AgentProbeAnswer;
}

async function askVerb(directory: string, route: Route): Promise<JsonValue> {
  const { status, json } = await ask(directory, route);
  const answer = readObject(json, 'answer');
  if (status === 200) return json;
  const code = readMember(answer, 'code');
  const problems = readMember(answer, 'problems');
  // An agent before this verb answers 404 with nothing but its status.
  if (typeof code !== 'string' || !Object.hasOwn(errorTable, code))
    throw new RollcallError('hub_answer_unusable', { status });
  throw new RollcallError(code as ErrorCode, Array.isArray(problems) ? { problems: problems.map(String) } : {});
}

function createStatusServer(agent: StatusAgent): Server {
  const server = createServer(httpOptions, (asked, answer) => {
    const route = localRoute(asked);
    if (route === undefined && agent.handle !== undefined) {
      agent.handle(asked, answer);
      return;
    }
    respond(agent, asked, route).then(
      ({ status, json }) => {
        const headers = { 'content-type': 'application/json', 'cache-control': 'no-store', connection: 'close' };
        answer.writeHead(status, headers).end(JSON.stringify(json));
      },
      () => answer.destroy(),
    );
  });
  harden(server);
  return server;
}

/** Whoever may open the socket may ask these. */
const localRoutes: readonly Route[] = [routes.agentStatus, routes.agentReload, agentRoutes.probe];

function localRoute({ url = '' }: IncomingMessage): Route | undefined {
  const path = url.split('?', 1)[0];
  return localRoutes.find((route) => route.path === path);
}

interface Answered {
  readonly status: number;
  readonly json: unknown;
}

async function respond(
  { describe, reload, probe }: StatusAgent,
  asked: IncomingMessage,
  route: Route | undefined,
): Promise<Answered> {
  if (route === undefined) return { status: 404, json: { status: 404 } };
  if (asked.method !== route.method) return { status: 405, json: { status: 405 } };
  if (route === routes.agentStatus) return { status: 200, json: describe() };
  try {
    if (route === routes.agentReload) return { status: 200, json: await reload() };
    if (probe === undefined) throw new RollcallError('listener_not_configured');
    return { status: 200, json: await probe() };
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

/** A probe is as many requests as there are versions. */
function timeoutMs(route: Route): number {
  return route === agentRoutes.probe ? limits.operatorCallMs : limits.headersTimeoutMs;
}

function exchange(socketPath: string, route: Route): Promise<{ readonly status: number; readonly body: Uint8Array }> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => {
      const cause = systemCode(error) ?? 'unknown';
      const isForeign = cause === 'EACCES' || cause === 'EPERM';
      const hint = 'Ask as the user that the agent runs as: `sudo -u USER rollcall …`, or become that user.';
      const code = isForeign ? 'file_unreadable' : 'agent_not_running';
      reject(new RollcallError(code, { file: socketPath, cause, ...(isForeign ? { hint } : {}) }, { cause: error }));
    };
    const asked = request(
      { socketPath, path: route.path, method: route.method, timeout: timeoutMs(route) },
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
