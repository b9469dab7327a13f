/** A hub's operator socket that answers from a table, and refuses to answer or to be asked anything but the contract. */

import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AnswerOf, problem, type Route, type RouteName, routes } from '@rollcall/wire';
import { readAll } from './adapters/node-io.ts';
import { schemaFaults } from './schema-check.fixture.ts';

export interface Asked {
  readonly route: RouteName;
  readonly path: string;
  readonly body: unknown;
  readonly headers: IncomingMessage['headers'];
}

export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly title?: string;
  readonly hint?: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

export type Answer<Name extends RouteName> =
  | AnswerOf<(typeof routes)[Name]>
  | { readonly refusal: Refusal }
  | { readonly raw: string; readonly status?: number }
  | 'hang'
  | 'drop';

export type Answers = { readonly [Name in RouteName]?: Answer<Name> | ((asked: Asked) => Answer<Name>) };

export interface FakeOperator {
  readonly socketPath: string;
  readonly asked: readonly Asked[];
  close(): Promise<void>;
}

export async function startFakeOperator(answers: Answers): Promise<FakeOperator> {
  const dir = mkdtempSync(join(tmpdir(), 'rollcall-cli-'));
  const socketPath = join(dir, 'operator.sock');
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    answer(answers, asked, request, response).catch((error: unknown) => {
      response.writeHead(500).end(JSON.stringify({ fault: String(error) }));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(socketPath, resolve);
  });
  return {
    socketPath,
    asked,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
      rmSync(dir, { recursive: true });
    },
  };
}

async function answer(
  answers: Answers,
  asked: Asked[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [path = '', query = ''] = (request.url ?? '').split('?');
  const [name, route] = findRoute(request.method ?? '', path);
  const bytes = await readAll(request, 1_000_000);
  const body: unknown = bytes.length === 0 ? undefined : JSON.parse(Buffer.from(bytes).toString());
  const faults = [...schemaFaults(route.body, body, 'body'), ...schemaFaults(route.query, readQuery(query), 'query')];
  if (faults.length > 0) throw new Error(`asked outside of the contract: ${faults.join('; ')}`);
  const one = { route: name, path: request.url ?? '', body, headers: request.headers };
  asked.push(one);
  const given = answers[name] as Answer<RouteName> | ((asked: Asked) => Answer<RouteName>) | undefined;
  const chosen = typeof given === 'function' ? given(one) : given;
  if (chosen === 'hang') return;
  if (chosen === 'drop') return void response.destroy();
  if (chosen === undefined) throw new Error(`no answer for ${name}`);
  if ('raw' in (chosen as object))
    return send(response, (chosen as { status?: number }).status ?? 200, 'text/plain', (chosen as { raw: string }).raw);
  if ('refusal' in (chosen as object)) return send(response, ...refuse((chosen as { refusal: Refusal }).refusal));
  send(response, 200, 'application/json', checked(route.answer, chosen));
}

function findRoute(method: string, path: string): [RouteName, Route] {
  const found = (Object.entries(routes) as [RouteName, Route][]).find(
    ([, route]) =>
      route.listener === 'operator' &&
      route.method === method &&
      new RegExp(`^${route.path.replace(/:[a-z]+/g, '[^/]+')}$`).test(path),
  );
  if (found === undefined) throw new Error(`no route ${method} ${path}`);
  return found;
}

function readQuery(query: string): Record<string, string> | undefined {
  return query === '' ? undefined : Object.fromEntries(new URLSearchParams(query));
}

function refuse({
  status,
  code,
  title = 'The hub refused.',
  hint = 'Do something else.',
  details = {},
}: Refusal): [number, string, string] {
  const document = {
    type: `https://rollcall.example/errors/${code}`,
    title,
    status,
    code,
    hint,
    details,
    requestId: 'r-1',
  };
  return [status, 'application/problem+json', checked(problem, document)];
}

function checked(schema: unknown, value: unknown): string {
  const faults = schemaFaults(schema, value);
  if (faults.length > 0) throw new Error(`the fixture is outside of the contract: ${faults.join('; ')}`);
  return JSON.stringify(value);
}

function send(response: ServerResponse, status: number, contentType: string, text: string): void {
  response.writeHead(status, { 'content-type': contentType, 'content-length': Buffer.byteLength(text) }).end(text);
}
