/** The parts of a hub that shared tokens and rungs need: the same whether a listener is opened beside them or a simulator drives them. */
import type { Random } from '@rollcall/core/ports';
import { createAttendance } from './attendance.ts';
import type { Hub } from './hub.ts';
import type { HubClock } from './hub-clock.ts';
import type { Vault } from './kek/vault.ts';
import { createLiveTokens } from './live-tokens.ts';
import { noScanRoots } from './references.ts';
import { createRungSightings } from './rung-sightings.ts';
import type { Db } from './store/schema.ts';
import { createTokenHits } from './token-hits.ts';
import { createTokenProbes } from './token-probes.ts';
import { createTokenReports } from './token-reports.ts';

export type TokenParts = Pick<
  Hub,
  'attendance' | 'tokens' | 'tokenHits' | 'tokenReports' | 'tokenProbes' | 'references' | 'rungSightings'
>;

export async function createTokenParts(deps: {
  readonly db: Db;
  readonly vault: Vault;
  readonly clock: HubClock;
  readonly random: Random;
}): Promise<TokenParts> {
  const tokens = createLiveTokens(deps);
  // Tokens that cannot be read stop no hub: it says so in its readiness, and lets nobody in by one (design 4).
  await tokens.reload().catch(() => undefined);
  const attendance = createAttendance(deps.clock);
  return {
    attendance,
    tokens,
    tokenHits: await createTokenHits({ ...deps, attendance }),
    tokenReports: await createTokenReports(deps),
    tokenProbes: createTokenProbes(deps.random),
    references: noScanRoots,
    rungSightings: await createRungSightings({ ...deps, attendance }),
  };
}
