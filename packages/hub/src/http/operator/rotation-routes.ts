/** Secrets and their rotations. A rotation is of the master or of a shared token: `rotationOf` says which walk an act is on. */
import { RollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import { parseInstant } from '@rollcall/core/time';
import { routes } from '@rollcall/wire';
import type { Hub } from '../../hub.ts';
import { MASTER } from '../../live-generations.ts';
import { createSecret, listSecretRows, showSecret } from '../../operations/create-secret.ts';
import { cutRotation, leaveRotation, pauseRotation, resumeRotation } from '../../operations/rotation/hold.ts';
import { retireRotation } from '../../operations/rotation/retire.ts';
import { startRotation } from '../../operations/rotation/start.ts';
import { advanceRotation } from '../../operations/rotation/step.ts';
import { readRotation } from '../../operations/rotation/view.ts';
import { changeHolders } from '../../operations/token/create-token.ts';
import { advanceToken, rollBackToken, startToken } from '../../operations/token/rotate-token.ts';
import { listRotations } from '../../store/rotations.ts';
import { showRotation, toRotationRow } from '../../views/rotations.ts';
import type { OperatorRegister } from './register-operator.ts';

export function registerRotationRoutes(on: OperatorRegister, hub: Hub): void {
  on(routes.listSecrets, async () => ({ secrets: await listSecretRows(hub) }));
  on(routes.showSecret, async ({ name }) => showSecret(hub, hub.db, name));
  on(routes.createSecret, async ({ body, actor }) => createSecret(hub, body, actor));
  on(routes.changeHolders, async ({ name, body, actor }) => changeHolders(hub, name, body, actor));

  const isMaster = async (id: string) => (await readRotation(hub, hub.db, id)).secret === MASTER;
  on(routes.listRotations, async () => ({ rotations: (await listRotations(hub.db, hub.vault)).map(toRotationRow) }));
  on(routes.showRotation, async ({ name }) => showRotation(hub, name));
  on(routes.startRotation, async ({ body, actor }) => {
    const { secret, reason = 'planned', leave = [], auto = 'off', batch = limits.tokenBatch } = body;
    const narrowByMs = body.narrowBy === undefined ? null : parseInstant(body.narrowBy);
    const wish = { reason, leave, narrowByMs };
    const started =
      secret === MASTER
        ? await startRotation(hub, wish, actor)
        : await startToken(hub, { ...wish, secret, auto, batch }, actor);
    return showRotation(hub, started.id);
  });
  on(routes.advanceRotation, async ({ name, body, actor }) => {
    await ((await isMaster(name)) ? advanceRotation : advanceToken)(hub, name, body.from, actor);
    return showRotation(hub, name);
  });
  on(routes.rollBackRotation, async ({ name, body, actor }) => {
    // The way back of the master is a new generation.
    if (await isMaster(name)) throw new RollcallError('no_rollback');
    await rollBackToken(hub, name, body.reason, actor);
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
    if (!(await isMaster(name))) throw new RollcallError('no_previous_version');
    await retireRotation(hub, name, body, actor);
    return showRotation(hub, name);
  });
}
