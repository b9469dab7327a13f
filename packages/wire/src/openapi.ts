/** The table of routes as an OpenAPI 3.1 document: what the hub serves at `/v1/openapi.json`, and `docs/openapi.json`. */
import { limits } from '@rollcall/core/limits';
import type { TSchema } from 'typebox';
import { envelope, hubKeyRecord } from './heartbeat.ts';
import { addHostAnswer, hostChangeAnswer, hostRow } from './hosts.ts';
import { pendingPin, pinChangeAnswer } from './pins.ts';
import { problem, unauthenticatedBody } from './problem.ts';
import { rotationRow, rotationStatus } from './rotations.ts';
import { type Listener, nothing, type Route, type RouteAuth } from './route.ts';
import { routes } from './routes.ts';
import { secretRow } from './secrets.ts';
import { version } from './version.ts';

export interface OpenApiDocument {
  readonly openapi: string;
  readonly [field: string]: unknown;
}

/**
 * Of the hub's listeners. The agent's socket is a place of its own, with a path that means something else on the hub; the
 * `rollcall agent status` command speaks to it.
 */
export function createOpenApi(table: Readonly<Record<string, Route>> = routes): OpenApiDocument {
  const described = Object.entries(table).filter(([, { listener }]) => listener !== 'agent');
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [name, route] of described) {
    const path = route.path.replace(PARAMETER, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describeRoute(name, route) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Rollcall hub',
      version,
      description:
        'Unknown fields are ignored, in both directions. Bytes are base64url without padding, fingerprints lower-case hex, times RFC 3339 in UTC, numbers whole and below 2^53; a JSON text with a duplicate key is refused. What is signed or sealed in a message is told in PROTOCOL.md.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    tags: listeners.map(({ tag, description }) => ({ name: tag, description })),
    paths,
    components: {
      schemas: Object.fromEntries(Object.entries(components).map(([name, schema]) => [name, bareSchema(schema, name)])),
      securitySchemes,
    },
  };
}

const listeners: readonly { readonly tag: Exclude<Listener, 'agent'>; readonly description: string }[] = [
  { tag: 'fleet', description: 'TLS 1.3, for agents.' },
  { tag: 'operator', description: 'A Unix socket whose mode is the credential, and TCP with operator tokens.' },
  { tag: 'metrics', description: 'Plain HTTP, loopback by default.' },
];

/** Shapes that several routes share. */
const components: Readonly<Record<string, TSchema>> = {
  AddedHost: addHostAnswer,
  Envelope: envelope,
  HostChange: hostChangeAnswer,
  HostRow: hostRow,
  HubKey: hubKeyRecord,
  PendingPin: pendingPin,
  PinChange: pinChangeAnswer,
  Problem: problem,
  Rotation: rotationRow,
  RotationStatus: rotationStatus,
  Secret: secretRow,
};

const names: ReadonlyMap<unknown, string> = new Map(Object.entries(components).map(([name, schema]) => [schema, name]));

const securitySchemes = {
  hostBearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'rcb_…, with the id of the host in X-Rollcall-Host; or rch_…, a token of one host, which needs none.',
  },
  hostId: { type: 'apiKey', in: 'header', name: 'X-Rollcall-Host' },
  operatorToken: { type: 'http', scheme: 'bearer', description: 'rco_…, over TCP. The Unix socket asks for none.' },
} as const;

function securityOf(auth: RouteAuth): readonly Readonly<Record<string, readonly string[]>>[] {
  switch (auth) {
    case 'host':
      return [{ hostBearer: [], hostId: [] }];
    case 'viewer':
    case 'operator':
    case 'admin':
      return [{ operatorToken: [] }, {}];
    default:
      return [];
  }
}

const PARAMETER = /:([a-z]+)/g;

function describeRoute(name: string, route: Route): Readonly<Record<string, unknown>> {
  const { auth, listener, summary, body, answer } = route;
  const isRole = auth === 'viewer' || auth === 'operator' || auth === 'admin';
  return {
    operationId: name,
    tags: [listener],
    summary,
    ...(isRole ? { description: `Takes the role ${auth}, or a higher one.` } : {}),
    security: securityOf(auth),
    ...parametersOf(route),
    ...(body === nothing ? {} : { requestBody: { required: true, content: json(body) } }),
    responses: {
      200: { description: 'Done.', content: listener === 'metrics' ? { 'text/plain': {} } : json(answer) },
      ...(auth === 'open' || auth === 'public' ? {} : { 401: unauthenticated }),
      default: {
        description: 'What went wrong, by a code of docs/errors.md.',
        content: { 'application/problem+json': { schema: reference('Problem') } },
      },
    },
  };
}

const unauthenticated = {
  description: 'The same bytes, whatever was wrong.',
  content: { 'application/json': { schema: { const: JSON.parse(unauthenticatedBody) as unknown } } },
} as const;

function parametersOf({ path, query }: Route): { readonly parameters?: readonly unknown[] } {
  const inPath = [...path.matchAll(PARAMETER)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string', maxLength: limits.hostIdCharacters },
  }));
  const { properties = {} } = query as { readonly properties?: Readonly<Record<string, TSchema>> };
  const fields = Object.entries(properties);
  const inQuery = fields.map(([name, schema]) => ({ name, in: 'query', required: false, schema: bareSchema(schema) }));
  const parameters = [...inPath, ...inQuery];
  return parameters.length === 0 ? {} : { parameters };
}

function json(schema: TSchema): Readonly<Record<string, unknown>> {
  return { 'application/json': { schema: bareSchema(schema) } };
}

function reference(name: string): { readonly $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}

/** Plain JSON schema: without our `kind`, and with shared shapes by their names. `own`: the one that is being defined. */
function bareSchema(value: unknown, own?: string): unknown {
  if (Array.isArray(value)) return value.map((item) => bareSchema(item));
  if (typeof value !== 'object' || value === null) return value;
  const name = names.get(value);
  if (name !== undefined && name !== own) return reference(name);
  const fields = Object.entries(value).filter(([key, item]) => !(key === 'kind' && typeof item === 'string'));
  return Object.fromEntries(fields.map(([key, item]) => [key, bareSchema(item)]));
}
