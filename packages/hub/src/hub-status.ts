/** `rollcall hub status`: the hub about itself. */
import { encodeBase64url } from '@rollcall/core/bytes';
import type { HubRootFile } from '@rollcall/core/keys';
import type { HubRootFileJson, HubStatusAnswer } from '@rollcall/wire';
import type { Hub } from './hub.ts';
import type { SelfChecks } from './self-checks.ts';

/** Where it listens. Read at every answer. */
export interface HubFacts {
  readonly version: string;
  fleetAddress: string;
  metricsAddress: string;
  operatorsAddress?: string;
}

export type HubStatus = () => Promise<HubStatusAnswer>;

export function createHubStatus(hub: Hub, checks: SelfChecks, facts: HubFacts): HubStatus {
  const startedAt = new Date(hub.clock.now()).toISOString();
  return async () => ({
    ...facts,
    startedAt,
    time: new Date(hub.clock.now()).toISOString(),
    hubRoot: toHubRootJson(hub.identity.hubTrust),
    hubKey: { kid: hub.hubKey.kid, serial: hub.hubKey.serial },
    checks: (await checks()).map(({ code, ok, hint }) => ({ name: code, ok, detail: ok ? '' : hint })),
  });
}

export function toHubRootJson(trust: HubRootFile): HubRootFileJson {
  return {
    v: 1,
    trustDomain: trust.trustDomain,
    root: encodeBase64url(trust.root),
    spki: trust.spki.map(encodeBase64url),
    hubs: [...trust.hubs],
  };
}
