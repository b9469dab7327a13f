/** Secrets and their rotations. */
import { parseInstant } from '@rollcall/core/time';
import { routes } from '@rollcall/wire';
import type { Hub } from '../../hub.ts';
import { createSecret, showSecret } from '../../operations/create-secret.ts';
import { cutRotation, leaveRotation, pauseRotation, resumeRotation } from '../../operations/rotation/hold.ts';
import { retireRotation } from '../../operations/rotation/retire.ts';
import { startRotation } from '../../operations/rotation/start.ts';
import { advanceRotation } from '../../operations/rotation/step.ts';
import { listRotations } from '../../store/rotations.ts';
import { showRotation, toRotationRow } from '../../views/rotations.ts';
import type { OperatorRegister } from './register-operator.ts';

export function registerRotationRoutes(on: OperatorRegister, hub: Hub): void {
  on(routes.listSecrets, async () => {
    const master = await showSecret(hub, hub.db);
    return { secrets: master.versions.length === 0 ? [] : [master] };
  });
  on(routes.createSecret, async ({ body, actor }) => createSecret(hub, body, actor));

  on(routes.listRotations, async () => ({ rotations: (await listRotations(hub.db, hub.vault)).map(toRotationRow) }));
  on(routes.showRotation, async ({ name }) => showRotation(hub, name));
  on(routes.startRotation, async ({ body, actor }) => {
    const narrowByMs = body.narrowBy === undefined ? null : parseInstant(body.narrowBy);
    const input = { reason: body.reason ?? 'planned', leave: body.leave ?? [], narrowByMs } as const;
    return showRotation(hub, (await startRotation(hub, input, actor)).id);
  });
  on(routes.advanceRotation, async ({ name, body, actor }) => {
    await advanceRotation(hub, name, body.from, actor);
    return showRotation(hub, name);
  });
  on(routes.pauseRotation, async ({ name, body, actor }) => {
    await pauseRotation(hub, name, body.reason, actor);
    return showRotation(hub, name);
  });
  on(routes.resumeRotation, async ({ name, actor }) => {
    await resumeRotation(hub, name, actor);
    return showRotation(hub, name);
  });
  on(routes.leaveRotation, async ({ name, body, actor }) => {
    await leaveRotation(hub, name, body, actor);
    return showRotation(hub, name);
  });
  on(routes.cutRotation, async ({ name, body, actor }) => {
    await cutRotation(hub, name, { untilMs: parseInstant(body.until), leave: body.leave }, actor);
    return showRotation(hub, name);
  });
  on(routes.retireRotation, async ({ name, body, actor }) => {
    await retireRotation(hub, name, body, actor);
    return showRotation(hub, name);
  });
}
