/** What the hub checks about itself; never what a host can cause (design 8, 11 on `/readyz`). */
import type { HubCheck } from '@rollcall/core/rotation';
import { sql } from 'kysely';
import type { Hub } from './hub.ts';

export type SelfChecks = () => Promise<HubCheck[]>;

/** `areJobsAlive`: whether the periodic jobs ran lately. `certificateEndsAtMs`: of the fleet listener. */
export function createSelfChecks(
  hub: Hub,
  observed: { readonly areJobsAlive: () => boolean; readonly certificateEndsAtMs: number },
): SelfChecks {
  return async () => [
    {
      code: 'database',
      ok: await succeeds(sql`select 1`.execute(hub.db)),
      hint: 'The database does not answer: see its disk and its modes.',
    },
    {
      code: 'generation_store',
      ok: await succeeds(hub.generations.catchUp()),
      hint: 'Generations of the master cannot be read: is this the key-encryption key of this database?',
    },
    {
      code: 'pin_store',
      ok: await succeeds(everyPinReadable(hub)),
      hint: 'A pin, a host state or an assignment cannot be read: see `rollcall host list` for the flag `unreadable`.',
    },
    {
      code: 'jobs',
      ok: observed.areJobsAlive(),
      hint: 'The periodic jobs stand still: restart the hub, and read its log.',
    },
    {
      code: 'hub_time',
      ok: !hub.clock.read().jumped,
      hint: 'The wall clock jumped: nothing is opened or issued. Set the clock right, then `rollcall hub accept-time`.',
    },
    {
      code: 'certificate_life',
      ok: hub.clock.now() < observed.certificateEndsAtMs,
      hint: 'The certificate of the fleet listener has ended: restart the hub, which makes a new one.',
    },
  ];
}

/** Anybody may ask for this: only what changed is read, and one look is shared by all who ask (docs/decisions/009). */
async function everyPinReadable(hub: Hub): Promise<void> {
  await hub.roll.catchUp();
  for (const { status, pinState, isAssignmentReadable } of hub.roll.entries()) {
    if (status === 'unreadable' || pinState === 'unreadable' || !isAssignmentReadable) throw new Error('unreadable');
  }
}

async function succeeds(check: Promise<unknown>): Promise<boolean> {
  try {
    await check;
    return true;
  } catch {
    return false;
  }
}
