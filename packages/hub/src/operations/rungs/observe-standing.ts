/** Which rungs each host of the roll was seen on, read at the source in one pass. */
import { noPolicy, type Rung, type RungPolicy, type StandingHost } from '@rollcall/core/rungs';
import type { Hub } from '../../hub.ts';
import { listHostTokens, type StoredHostToken } from '../../store/host-tokens.ts';
import { type HostRecord, listRoll } from '../../store/hosts.ts';
import { FLEET, listRungPolicies } from '../../store/rung-rules.ts';
import type { Db } from '../../store/schema.ts';
import { liveTokensOf } from '../issue-host-token.ts';

export interface Standing {
  readonly fleet: RungPolicy;
  /** Every row that the registry query returns. */
  readonly hosts: readonly StandingHost[];
}

export async function observeStanding({ vault }: Pick<Hub, 'vault'>, db: Db): Promise<Standing> {
  const roll = await listRoll(db, vault);
  const tokens = await listHostTokens(db, vault);
  const policies = await listRungPolicies(db, vault);
  return {
    fleet: policies.get(FLEET) ?? noPolicy,
    hosts: roll.map((host) => ({
      id: host.id,
      status: host.status === 'removed' ? 'unreadable' : host.status,
      proven: host.status === 'unreadable' ? [] : provenOf(host, tokens.get(host.id) ?? []),
      policy: policies.get(host.id) ?? noPolicy,
    })),
  };
}

function provenOf(host: HostRecord, tokens: readonly StoredHostToken[]): readonly Rung[] {
  const isByToken = liveTokensOf(host, tokens).some(({ seenAtMs }) => seenAtMs !== null);
  return [
    ...(isByToken ? (['host-token'] as const) : []),
    ...(host.proven_version === null ? [] : (['derived'] as const)),
  ];
}
