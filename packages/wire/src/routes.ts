/**
 * Every route of every listener, in one table: the hub registers from it, the command line calls through it, the
 * documentation and the test that every route is authenticated read it.
 */
import { Type } from 'typebox';
import { agentReloadAnswer, agentStatusAnswer } from './agent-status.ts';
import { acceptTimeAnswer, auditQuery, hubStatusAnswer, listAuditAnswer } from './audit.ts';
import { certificateAnswer, certificateBody, challengeAnswer, challengeBody } from './certificates.ts';
import { enrolAnswer, enrolBody, trustBundle } from './enrol.ts';
import { heartbeatAnswer, heartbeatBody } from './heartbeat.ts';
import { hostRoutes } from './host-routes.ts';
import { nullable } from './hosts.ts';
import { addOperatorBody, listOperatorsAnswer, operatorRow, operatorToken } from './operators.ts';
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
  cutBody,
  leaveBody,
  listRotationsAnswer,
  pauseBody,
  readinessAnswer,
  retireBody,
  rollbackBody,
  rotationStatus,
  startRotationAnswer,
  startRotationBody,
} from './rotations.ts';
import { get, nothing, post, put } from './route.ts';
import { clearRungBody, decideRungBody, listRungsAnswer, rung, rungRow } from './rungs.ts';
import { createSecretBody, holdersBody, listSecretsAnswer, secretRow } from './secrets.ts';
import { hostId, word } from './text-kinds.ts';

/** A shared token proves membership only: the id that comes with it is declared, and no proof of anything. */
const whoAmIAnswer = Type.Object({
  rung,
  host: nullable(hostId()),
  declaredHost: nullable(hostId()),
});
const okAnswer = Type.Object({ status: word() });
const versionAnswer = Type.Object({ version: word() });
/** Prometheus text exposition; not JSON. */
const metricsText = Type.Unknown();
/** OpenAPI 3.1, made from this very table. */
const openApiAnswer = Type.Object({ openapi: word() }, { additionalProperties: true });

export const routes = {
  enrol: post('fleet', '/v1/enrol', 'self-proving', 'Redeem an enrolment token', enrolBody, enrolAnswer),
  heartbeat: post(
    'fleet',
    '/v1/heartbeat',
    'host',
    'A host is alive, and asks what to do',
    heartbeatBody,
    heartbeatAnswer,
  ),
  challenge: post(
    'fleet',
    '/v1/challenge',
    'self-proving',
    'A challenge that only the pinned key opens',
    challengeBody,
    challengeAnswer,
  ),
  issueCertificate: post(
    'fleet',
    '/v1/certificates',
    'self-proving',
    'A certificate, by proof of the pinned key',
    certificateBody,
    certificateAnswer,
  ),
  whoAmI: get('fleet', '/v1/whoami', 'host', 'Whom the credentials of a request prove', whoAmIAnswer),
  trustBundle: get('fleet', '/v1/trust-bundle', 'public', 'The fleet’s certificate authorities', trustBundle),
  health: get('fleet', '/healthz', 'open', 'The process answers', okAnswer),
  ready: get('fleet', '/readyz', 'open', 'The hub itself is fit to serve', okAnswer),
  version: get('fleet', '/version', 'open', 'The version that runs', versionAnswer),
  metrics: get('metrics', '/metrics', 'open', 'Prometheus metrics', metricsText),

  hubStatus: get('operator', '/v1/status', 'viewer', 'The hub about itself', hubStatusAnswer),
  readiness: get('operator', '/v1/readiness', 'viewer', 'Would retiring strand anyone?', readinessAnswer),
  acceptTime: post(
    'operator',
    '/v1/accept-time',
    'admin',
    'Say that the hub’s clock is right',
    nothing,
    acceptTimeAnswer,
  ),
  openApi: get('operator', '/v1/openapi.json', 'viewer', 'This interface, as an OpenAPI document', openApiAnswer),
  ...hostRoutes,
  listRungs: get('operator', '/v1/rungs', 'viewer', 'What is accepted, why, and who stands where', listRungsAnswer),
  /** `:name` is a rung. */
  decideRung: post(
    'operator',
    '/v1/rungs/:name',
    'operator',
    'Accept or refuse a rung, of the fleet or of one host',
    decideRungBody,
    rungRow,
  ),
  clearRung: post(
    'operator',
    '/v1/rungs/:name/clear',
    'operator',
    'Let what holds for the fleet hold for a host',
    clearRungBody,
    rungRow,
  ),
  listPins: get('operator', '/v1/pins', 'viewer', 'Pending changes of pins, with evidence', listPinsAnswer),
  showPin: get('operator', '/v1/pins/:host', 'viewer', 'The pin of a host', showPinAnswer),
  approvePin: post('operator', '/v1/pins/:host/approve', 'operator', 'Replace a pin', fingerprintBody, pinChangeAnswer),
  confirmPin: post(
    'operator',
    '/v1/pins/:host/confirm',
    'operator',
    'Confirm a first-use pin',
    fingerprintBody,
    pinChangeAnswer,
  ),
  rejectPin: post(
    'operator',
    '/v1/pins/:host/reject',
    'operator',
    'Drop a pending change',
    fingerprintBody,
    pinChangeAnswer,
  ),
  exposure: get('operator', '/v1/first-use', 'viewer', 'Who could be pinned without a race', exposureAnswer),
  acceptFirstUse: put(
    'operator',
    '/v1/first-use',
    'operator',
    'Turn first use on or off',
    acceptFirstUseBody,
    acceptFirstUseAnswer,
  ),
  listSecrets: get('operator', '/v1/secrets', 'viewer', 'Secrets and their versions', listSecretsAnswer),
  showSecret: get('operator', '/v1/secrets/:name', 'viewer', 'A secret and its versions, never a value', secretRow),
  changeHolders: post(
    'operator',
    '/v1/secrets/:name/holders',
    'operator',
    'Say who holds a shared token',
    holdersBody,
    secretRow,
  ),
  createSecret: post('operator', '/v1/secrets', 'admin', 'Create or import a secret', createSecretBody, secretRow),
  listRotations: get('operator', '/v1/rotations', 'viewer', 'Rotations, newest first', listRotationsAnswer),
  startRotation: post(
    'operator',
    '/v1/rotations',
    'operator',
    'Start a rotation',
    startRotationBody,
    startRotationAnswer,
  ),
  /** `:id` may be the name of a secret: its newest rotation. */
  showRotation: get('operator', '/v1/rotations/:id', 'viewer', 'Phase, gate and progress', rotationStatus),
  advanceRotation: post(
    'operator',
    '/v1/rotations/:id/advance',
    'operator',
    'Go on to the next phase',
    advanceBody,
    rotationStatus,
  ),
  retireRotation: post(
    'operator',
    '/v1/rotations/:id/retire',
    'operator',
    'End the old generation',
    retireBody,
    rotationStatus,
  ),
  pauseRotation: post(
    'operator',
    '/v1/rotations/:id/pause',
    'operator',
    'Switch nobody else',
    pauseBody,
    rotationStatus,
  ),
  resumeRotation: post('operator', '/v1/rotations/:id/resume', 'operator', 'Go on', nothing, rotationStatus),
  rollBackRotation: post(
    'operator',
    '/v1/rotations/:id/rollback',
    'operator',
    'Go back to the old version, callers first',
    rollbackBody,
    rotationStatus,
  ),
  leaveRotation: post(
    'operator',
    '/v1/rotations/:id/leave',
    'operator',
    'Go on without named hosts',
    leaveBody,
    rotationStatus,
  ),
  cutRotation: post(
    'operator',
    '/v1/rotations/:id/cut',
    'operator',
    'Shorten the window of the old generation',
    cutBody,
    rotationStatus,
  ),
  listOperators: get('operator', '/v1/operators', 'admin', 'Operators and their roles', listOperatorsAnswer),
  addOperator: post('operator', '/v1/operators', 'admin', 'Add an operator', addOperatorBody, operatorToken),
  removeOperator: post(
    'operator',
    '/v1/operators/:name/remove',
    'admin',
    'End an operator’s token',
    nothing,
    operatorRow,
  ),
  rotateOperatorToken: post(
    'operator',
    '/v1/operators/:name/rotate-token',
    'admin',
    'Replace an operator’s token',
    nothing,
    operatorToken,
  ),
  listAudit: {
    ...get('operator', '/v1/audit', 'viewer', 'Audit records, oldest first', listAuditAnswer),
    query: auditQuery,
  },

  agentStatus: get('agent', '/v1/status', 'local', 'The agent about itself', agentStatusAnswer),
  agentReload: post('agent', '/v1/reload', 'local', 'Read the configuration again', nothing, agentReloadAnswer),
} as const;

export type RouteName = keyof typeof routes;
