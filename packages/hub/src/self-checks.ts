/** What the hub checks about itself; never what a host can cause (design 8, 11 on `/readyz`). */
import type { HubCheck } from '@rollcall/core/rotation';
import { sql } from 'kysely';
import type { Hub } from './hub.ts';
import { listNames } from './list-names.ts';
import type { RollEntry } from './roll.ts';
import type { ServerCertificate } from './server-certificate.ts';

export type SelfChecks = () => Promise<HubCheck[]>;

/** `areJobsAlive`: whether the periodic jobs ran lately. */
export function createSelfChecks(
  hub: Hub,
  observed: {
    readonly areJobsAlive: () => boolean;
    readonly certificate: Pick<ServerCertificate, 'hasEnded' | 'isLate'>;
  },
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
    await checkRows(hub),
    await checkTokens(hub),
    {
      code: 'weak_secrets',
      ok: hub.tokens.weak().length === 0,
      hint: `${listNames(hub.tokens.weak())} can be guessed: it was imported with --weak. Rotate it: \`rollcall rotation start NAME\`.`,
      isWarning: true,
    },
    checkRungs(hub),
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
      ok: !observed.certificate.hasEnded,
      hint: 'The certificate of the fleet listener has ended: restart the hub, which makes a new one.',
    },
    {
      code: 'certificate_renewal',
      ok: !observed.certificate.isLate,
      hint: 'The certificate of the fleet listener should have been renewed at half of its life: see the log of the hub, and the end of its authority.',
      isWarning: true,
    },
  ];
}

/** Anybody may ask for this: only what changed is read, and one look is shared by all who ask (docs/decisions/009). */
async function checkRows(hub: Hub): Promise<HubCheck> {
  if (!(await succeeds(hub.roll.catchUp()))) {
    return {
      code: 'pin_store',
      ok: false,
      hint: 'Pins and hosts cannot be read: see the database, its disk and its modes.',
    };
  }
  const unreadable = [...hub.roll.entries()].filter(isUnreadable).map(({ id }) => id);
  const hint = `Rows of ${listNames(unreadable)} were not written by this hub, or are damaged: \`rollcall host show HOST\` says which, \`rollcall host reenrol HOST\` begins it anew.`;
  return { code: 'pin_store', ok: unreadable.length === 0, hint };
}

/** After `checkRows`, which reads them. */
function checkRungs({ roll }: Hub): HubCheck {
  const scopes = [
    ['the fleet', roll.fleetRungs] as const,
    ...[...roll.entries()].map(({ id, rungs }) => [id, rungs] as const),
  ];
  const unreadable = scopes.filter(([, rungs]) => Object.values(rungs).includes('unreadable')).map(([id]) => id);
  const hint = `What was decided about rungs for ${listNames(unreadable)} cannot be read, so nobody is let in by them: decide anew, \`rollcall rung accept\` or \`rollcall rung refuse\`.`;
  return { code: 'rung_policy', ok: unreadable.length === 0, hint };
}

async function checkTokens(hub: Hub): Promise<HubCheck> {
  const isRead = await succeeds(hub.tokens.catchUp());
  const unreadable = hub.tokens.unreadable();
  const hint =
    unreadable.length === 0
      ? 'Shared tokens cannot be read: see the database, its disk and its modes.'
      : `Rows of ${listNames(unreadable)} were not written by this hub, or are damaged: nobody is let in by it. Restore the database, or give whoever holds it another one: \`rollcall secret create\`.`;
  return { code: 'token_store', ok: isRead && unreadable.length === 0, hint };
}

function isUnreadable({ status, pinState, isAssignmentReadable, areHostTokensReadable }: RollEntry): boolean {
  return status === 'unreadable' || pinState === 'unreadable' || !isAssignmentReadable || !areHostTokensReadable;
}

async function succeeds(check: Promise<unknown>): Promise<boolean> {
  try {
    await check;
    return true;
  } catch {
    return false;
  }
}
