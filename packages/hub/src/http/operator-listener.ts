/** The operators' listener: a Unix socket whose file mode is the credential (design 8). */
import { parseHostId } from '@rollcall/core/keys';
import { parseInstant } from '@rollcall/core/time';
import { limits } from '@rollcall/core/limits';
import { routes } from '@rollcall/wire';
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import type { Hub } from '../hub.ts';
import { acceptFirstUse, showExposure } from '../operations/accept-first-use.ts';
import { addHost, reenrolHost } from '../operations/add-host.ts';
import { createSecret, showSecret } from '../operations/create-secret.ts';
import { approvePin, confirmPin, rejectPin } from '../operations/decide-pin.ts';
import { evictHost, removeHost } from '../operations/end-host.ts';
import { retireRotation } from '../operations/rotation/retire.ts';
import { startRotation } from '../operations/rotation/start.ts';
import { advanceRotation } from '../operations/rotation/step.ts';
import type { SelfChecks } from '../self-checks.ts';
import { type Actor, listAudit } from '../store/audit.ts';
import { listRotations } from '../store/rotations.ts';
import { listHostRows, showHost } from '../views/hosts.ts';
import { listPendingPins, showPin } from '../views/pins.ts';
import { showReadiness, showRotation, toRotationRow } from '../views/rotations.ts';
import { prepare, register } from './register.ts';
import { ajvOptions, httpOptions } from './server-options.ts';
import type { HubStatus } from '../hub-status.ts';

export function createOperatorListener(hub: Hub, checks: SelfChecks, status: HubStatus): FastifyInstance {
  const app = Fastify({
    http: httpOptions,
    bodyLimit: limits.operatorBodyBytes,
    ajv: { customOptions: ajvOptions },
  });
  prepare(app, hub.log);

  register(app, routes.hubStatus, () => status());
  register(app, routes.readiness, async () => showReadiness(hub, await checks()));

  register(app, routes.listHosts, async () => ({ hosts: await listHostRows(hub) }));
  register(app, routes.addHost, ({ body, request }) => addHost(hub, body, actorOf(request)));
  register(app, routes.showHost, ({ params }) => showHost(hub, hostOf(params)));
  register(app, routes.reenrolHost, ({ params, body, request }) =>
    reenrolHost(hub, hostOf(params), body.tokenLifeMs, actorOf(request)),
  );
  register(app, routes.evictHost, ({ params, body, request }) =>
    evictHost(hub, hostOf(params), body.ban === true, actorOf(request)),
  );
  register(app, routes.removeHost, ({ params, request }) => removeHost(hub, hostOf(params), actorOf(request)));

  register(app, routes.listPins, async () => ({ pending: await listPendingPins(hub) }));
  register(app, routes.showPin, ({ params }) => showPin(hub, hostOf(params)));
  register(app, routes.approvePin, ({ params, body, request }) =>
    approvePin(hub, hostOf(params), body.fingerprint, actorOf(request)),
  );
  register(app, routes.confirmPin, ({ params, body, request }) =>
    confirmPin(hub, hostOf(params), body.fingerprint, actorOf(request)),
  );
  register(app, routes.rejectPin, ({ params, body, request }) =>
    rejectPin(hub, hostOf(params), body.fingerprint, actorOf(request)),
  );
  register(app, routes.exposure, () => showExposure(hub));
  register(app, routes.acceptFirstUse, ({ body, request }) => acceptFirstUse(hub, body, actorOf(request)));

  register(app, routes.listSecrets, async () => {
    const master = await showSecret(hub, hub.db);
    return { secrets: master.versions.length === 0 ? [] : [master] };
  });
  register(app, routes.createSecret, ({ body, request }) => createSecret(hub, body, actorOf(request)));

  register(app, routes.listRotations, async () => ({ rotations: (await listRotations(hub.db)).map(toRotationRow) }));
  register(app, routes.startRotation, async ({ body, request }) => {
    const narrowByMs = body.narrowBy === undefined ? null : parseInstant(body.narrowBy);
    const input = { reason: body.reason ?? 'planned', leave: body.leave ?? [], narrowByMs } as const;
    const rotation = await startRotation(hub, input, actorOf(request));
    return showRotation(hub, rotation.id);
  });
  register(app, routes.showRotation, ({ params }) => showRotation(hub, params['id'] ?? ''));
  register(app, routes.advanceRotation, async ({ params, body, request }) => {
    await advanceRotation(hub, params['id'] ?? '', body.from, actorOf(request));
    return showRotation(hub, params['id'] ?? '');
  });
  register(app, routes.retireRotation, async ({ params, body, request }) => {
    await retireRotation(hub, params['id'] ?? '', body, actorOf(request));
    return showRotation(hub, params['id'] ?? '');
  });
  register(app, routes.listAudit, async ({ query }) => ({
    records: await listAudit(hub.db, Number(query.after ?? 0), pageOf(query.limit)),
  }));
  return app;
}

function pageOf(limit: string | undefined): number {
  return Math.min(Math.max(Number(limit ?? limits.auditPageRecords), 1), limits.auditPageRecords);
}

function hostOf(params: Readonly<Record<string, string>>): string {
  return parseHostId(params['host']);
}

const ACTOR = /^[A-Za-z0-9@._ -]{1,64}$/;

/** Node tells no credentials of a Unix peer, so the audit names its actor as declared (design 8). */
function actorOf(request: FastifyRequest): Actor {
  const declared = request.headers['x-rollcall-actor'];
  const id = typeof declared === 'string' && ACTOR.test(declared) ? declared : 'unknown';
  return { id, kind: 'operator', rung: 'unix-socket', verified: false };
}
