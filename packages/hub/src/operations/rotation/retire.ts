/** `rotation retire [--now] [--leave NAME…]`: the previous generation verifies no more, and its value is destroyed (design 5). */

import { RollcallError } from '@rollcall/core/errors';
import { decideRetire, phases } from '@rollcall/core/rotation';
import type { Hub } from '../../hub.ts';
import { MASTER } from '../../live-generations.ts';
import { refresh } from '../../refresh.ts';
import type { Actor } from '../../store/audit.ts';
import { destroyGeneration, masterSubject } from './master-subject.ts';
import { readRotation, viewRotation } from './view.ts';
import { enterPhase, narrowAtOnce, recordRotation, storeRotation } from './write.ts';

export async function retireRotation(
  hub: Hub,
  id: string,
  request: { readonly now: boolean; readonly leave: readonly string[] },
  actor: Actor,
): Promise<void> {
  await hub.db.transaction().execute(async (tx) => {
    const running = await readRotation(hub, tx, id);
    if (running.secret !== MASTER) throw new RollcallError('not_retired');
    const view = await viewRotation(hub, tx, running);
    const { rotation, generations, sweep } = view;
    const { destroys, left, stranded } = decideRetire({ ...request, left: rotation.left }, sweep);
    const previous = generations.find((generation) => generation.version === destroys);
    if (previous === undefined) throw new RollcallError('no_previous_version');
    await destroyGeneration(hub, tx, previous);
    await recordRotation(hub, tx, rotation, actor, 'generation.retired', {
      version: destroys,
      now: request.now,
      left,
      stranded,
    });
    if (phases[rotation.phase].rollback !== null) {
      const after = { ...narrowAtOnce(rotation, hub.clock.now()), left };
      await enterPhase(hub, tx, { subject: masterSubject, view, after, actor, because: 'retired' });
    } else await storeRotation(hub, tx, { ...rotation, left }, rotation.phase);
    await hub.clock.save(tx);
  });
  await refresh(hub);
  hub.nudgeRotation();
}
