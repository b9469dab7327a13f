/** Secrets and their rotations. */
import { parseInstant } from '@rollcall/core/time';
import { routes } from '@rollcall/wire';
import type { Hub } from '../../hub.ts';
import { createSecret, listSecretRows, showSecret } from '../../operations/create-secret.ts';
import { cutRotation, leaveRotation, pauseRotation, resumeRotation } from '../../operations/rotation/hold.ts';
import { retireRotation } from '../../operations/rotation/retire.ts';
import { advanceRotation, rollBackRotation, startRotation } from '../../operations/rotation/walk.ts';
import { changeHolders } from '../../operations/token/create-token.ts';
import { listRotations } from '../../store/rotations.ts';
import { showRotation, toRotationRow } from '../../views/rotations.ts';
import type { OperatorRegister } from './register-operator.ts';

export function registerRotationRoutes(on: OperatorRegister, hub: Hub): void {
  on(routes.listSecrets, async () => ({ secrets: await listSecretRows(hub) }));
  on(routes.showSecret, async ({ name }) => showSecret(hub, hub.db, name));
  on(routes.createSecret, async ({ body, actor }) => createSecret(hub, body, actor));
  on(routes.changeHolders, async ({ name, body, actor }) => changeHolders(hub, name, body, actor));

  on(routes.listRotations, async () => ({ rotations: (await listRotations(hub.db, hub.vault)).map(toRotationRow) }));
  on(routes.showRotation, async ({ name }) => showRotation(hub, name));
  on(routes.startRotation, async ({ body, actor }) => {
    const { reason = 'planned', leave = [], narrowBy, ...rest } = body;
    const narrowByMs = narrowBy === undefined ? null : parseInstant(narrowBy);
    const { id, supersedes } = await startRotation(hub, { ...rest, reason, leave, narrowByMs }, actor);
    const status = await showRotation(hub, id);
    return supersedes === null ? status : { ...status, superseded: supersedes };
  });
  on(routes.advanceRotation, async ({ name, body, actor }) => {
    await advanceRotation(hub, name, body.from, actor);
    return showRotation(hub, name);
  });
  on(routes.rollBackRotation, async ({ name, body, actor }) => {
    await rollBackRotation(hub, name, body.reason, actor);
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
    const wish = { untilMs: parseInstant(body.until), leave: body.leave };
    await cutRotation(hub, name, wish, actor);
    return showRotation(hub, name);
  });
  on(routes.retireRotation, async ({ name, body, actor }) => {
    await retireRotation(hub, name, body, actor);
    return showRotation(hub, name);
  });
}
