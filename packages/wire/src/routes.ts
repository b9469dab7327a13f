/**
 * Every route of every listener, in one table: the hub registers from it, the command line calls through it, the
 * documentation and the test that every route is authenticated read it.
 */
import { type Static, type TSchema, Type } from 'typebox';
import { agentStatusAnswer } from './agent-status.ts';
import { auditQuery, hubStatusAnswer, listAuditAnswer } from './audit.ts';
import { enrolAnswer, enrolBody, trustBundle } from './enrol.ts';
import { heartbeatAnswer, heartbeatBody } from './heartbeat.ts';
import {
  addHostAnswer,
  addHostBody,
  evictBody,
  hostChangeAnswer,
  listHostsAnswer,
  reenrolBody,
  showHostAnswer,
} from './hosts.ts';
import {
  acceptFirstUseAnswer,
  acceptFirstUseBody,
  exposureAnswer,
  fingerprintBody,
  listPinsAnswer,
  pinChangeAnswer,
  showPinAnswer,
} from './pins.ts';
import {
  advanceBody,
  listRotationsAnswer,
  readinessAnswer,
  retireBody,
  rotationStatus,
  startRotationBody,
} from './rotations.ts';
import { createSecretBody, listSecretsAnswer, secretRow } from './secrets.ts';
import { word } from './text-kinds.ts';

/**
 * `host`: a live credential of a host. `self-proving`: the body carries its own proof. `public`: anyone may know it.
 * `open`: says no more than that the process is there. `operator`: whoever may open the operator's socket.
 * `local`: whoever may open the agent's socket.
 */
export type RouteAuth = 'host' | 'self-proving' | 'public' | 'open' | 'operator' | 'local';

export type Listener = 'fleet' | 'operator' | 'metrics' | 'agent';

export interface Route<
  Body extends TSchema = TSchema,
  Answer extends TSchema = TSchema,
  Query extends TSchema = TSchema,
> {
  readonly listener: Listener;
  readonly method: 'GET' | 'POST' | 'PUT';
  /** With `:host` or `:id` for parameters. */
  readonly path: string;
  readonly auth: RouteAuth;
  readonly summary: string;
  readonly body: Body;
  readonly query: Query;
  readonly answer: Answer;
}

export type BodyOf<R extends Route> = Static<R['body']>;
export type QueryOf<R extends Route> = Static<R['query']>;
export type AnswerOf<R extends Route> = Static<R['answer']>;

/** The body or query of a route that takes none. */
export const nothing = Type.Undefined();
const okAnswer = Type.Object({ status: word() });
const versionAnswer = Type.Object({ version: word() });
/** Prometheus text exposition; not JSON. */
const metricsText = Type.Unknown();

export const routes = {
  enrol: post('fleet', '/v1/enrol', 'self-proving', 'Redeem an enrolment token', enrolBody, enrolAnswer),
  heartbeat: post('fleet', '/v1/heartbeat', 'host', 'A host is alive, and asks what to do', heartbeatBody, heartbeatAnswer),
  trustBundle: get('fleet', '/v1/trust-bundle', 'public', 'The fleet’s certificate authorities', trustBundle),
  health: get('fleet', '/healthz', 'open', 'The process answers', okAnswer),
  ready: get('fleet', '/readyz', 'open', 'The hub itself is fit to serve', okAnswer),
  version: get('fleet', '/version', 'open', 'The version that runs', versionAnswer),
  metrics: get('metrics', '/metrics', 'open', 'Prometheus metrics', metricsText),

  hubStatus: get('operator', '/v1/status', 'operator', 'The hub about itself', hubStatusAnswer),
  readiness: get('operator', '/v1/readiness', 'operator', 'Would retiring strand anyone?', readinessAnswer),
  listHosts: get('operator', '/v1/hosts', 'operator', 'The roll', listHostsAnswer),
  addHost: post('operator', '/v1/hosts', 'operator', 'Put a host on the roll', addHostBody, addHostAnswer),
  showHost: get('operator', '/v1/hosts/:host', 'operator', 'Everything about one host', showHostAnswer),
  reenrolHost: post('operator', '/v1/hosts/:host/reenrol', 'operator', 'Issue a new enrolment token', reenrolBody, addHostAnswer),
  evictHost: post('operator', '/v1/hosts/:host/evict', 'operator', 'End all credentials of a host', evictBody, hostChangeAnswer),
  removeHost: post('operator', '/v1/hosts/:host/remove', 'operator', 'Take a host off the roll', nothing, hostChangeAnswer),
  listPins: get('operator', '/v1/pins', 'operator', 'Pending changes of pins, with evidence', listPinsAnswer),
  showPin: get('operator', '/v1/pins/:host', 'operator', 'The pin of a host', showPinAnswer),
  approvePin: post('operator', '/v1/pins/:host/approve', 'operator', 'Replace a pin', fingerprintBody, pinChangeAnswer),
  confirmPin: post('operator', '/v1/pins/:host/confirm', 'operator', 'Confirm a first-use pin', fingerprintBody, pinChangeAnswer),
  rejectPin: post('operator', '/v1/pins/:host/reject', 'operator', 'Drop a pending change', fingerprintBody, pinChangeAnswer),
  exposure: get('operator', '/v1/first-use', 'operator', 'Who could be pinned without a race', exposureAnswer),
  acceptFirstUse: put('operator', '/v1/first-use', 'operator', 'Turn first use on or off', acceptFirstUseBody, acceptFirstUseAnswer),
  listSecrets: get('operator', '/v1/secrets', 'operator', 'Secrets and their versions', listSecretsAnswer),
  createSecret: post('operator', '/v1/secrets', 'operator', 'Create or import a secret', createSecretBody, secretRow),
  listRotations: get('operator', '/v1/rotations', 'operator', 'Rotations, newest first', listRotationsAnswer),
  startRotation: post('operator', '/v1/rotations', 'operator', 'Start a rotation', startRotationBody, rotationStatus),
  /** `:id` may be the name of a secret: its newest rotation. */
  showRotation: get('operator', '/v1/rotations/:id', 'operator', 'Phase, gate and progress', rotationStatus),
  advanceRotation: post('operator', '/v1/rotations/:id/advance', 'operator', 'Go on to the next phase', advanceBody, rotationStatus),
  retireRotation: post('operator', '/v1/rotations/:id/retire', 'operator', 'End the old generation', retireBody, rotationStatus),
  listAudit: {
    ...get('operator', '/v1/audit', 'operator', 'Audit records, oldest first', listAuditAnswer),
    query: auditQuery,
  },

  agentStatus: get('agent', '/v1/status', 'local', 'The agent about itself', agentStatusAnswer),
} as const;

export type RouteName = keyof typeof routes;

function get<Answer extends TSchema>(
  listener: Listener,
  path: string,
  auth: RouteAuth,
  summary: string,
  answer: Answer,
): Route<typeof nothing, Answer, typeof nothing> {
  return { listener, method: 'GET', path, auth, summary, body: nothing, query: nothing, answer };
}

function post<Body extends TSchema, Answer extends TSchema>(
  listener: Listener,
  path: string,
  auth: RouteAuth,
  summary: string,
  body: Body,
  answer: Answer,
): Route<Body, Answer, typeof nothing> {
  return { listener, method: 'POST', path, auth, summary, body, query: nothing, answer };
}

function put<Body extends TSchema, Answer extends TSchema>(
  listener: Listener,
  path: string,
  auth: RouteAuth,
  summary: string,
  body: Body,
  answer: Answer,
): Route<Body, Answer, typeof nothing> {
  return { ...post(listener, path, auth, summary, body, answer), method: 'PUT' };
}
