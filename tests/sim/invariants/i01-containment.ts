/** I1: what verifiers accept is a superset of what callers present. */

import { equalBytes } from '@rollcall/core/bytes';
import type { Bearer } from '../ledger.ts';
import type { StoreSnapshot } from '../machines/store-snapshot.ts';
import type { World } from '../world.ts';
import { takenByHub } from './i01-containment-of-tokens.ts';
import { assertThat, type Check, type Handling } from './invariant.ts';

/** A host that presents a version which verifies, in its present life, is never refused. */
const noValidCallerIsRefused: Check = {
  onAnswered: (world, handling, { status }) => {
    const { request, host, bearer } = handling;
    if (status !== 401 || request.path !== '/v1/heartbeat' || host === undefined || bearer === undefined) return;
    const isValid = isValidThroughout(world, handling, host, bearer) && areTokensTaken(world, handling);
    assertThat(
      !isValid,
      'I1',
      () => `${host} was refused with version ${bearer.version} of life ${bearer.life}, which verifies`,
    );
  },
};

/** A version goes before its time only when every host that presents it is named as left. */
const nobodyIsCutOffUnnamed: Check = {
  onCommit: (world, before, after) => {
    const hubNowMs = world.hub.time?.now() ?? 0;
    for (const generation of before.generations.values()) {
      const then = after.generations.get(generation.version);
      const wasOpen = generation.state === 'previous' && hubNowMs < (generation.verify_until ?? 0);
      if (!wasOpen || then?.state !== 'destroyed') continue;
      const left = after.rotations.flatMap((rotation) => rotation.left);
      const stranded = hostsPresenting(world, before, generation.version).filter((host) => !left.includes(host));
      assertThat(
        stranded.length === 0,
        'I1',
        () => `version ${generation.version} went while ${stranded.join()} present it`,
      );
    }
  },
};

function isValidThroughout(world: World, handling: Handling, host: string, bearer: Bearer): boolean {
  const isOf = (snapshot: StoreSnapshot) => {
    const row = snapshot.hosts.get(host);
    return row?.status === 'active' && row.life === bearer.life;
  };
  const hubNowMs = world.hub.time?.now() ?? 0;
  return (
    isOf(handling.before) &&
    isOf(world.snapshot) &&
    isLiveIn(handling.before, bearer, hubNowMs) &&
    isLiveIn(world.snapshot, bearer, hubNowMs)
  );
}

/** Each credential must be good: a beat is refused with any that is not. */
function areTokensTaken(world: World, { request, before }: Handling): boolean {
  return request.tokens.every((text) => {
    const ledger = world.tokens?.ledger;
    const known = ledger?.values.get(text);
    if (ledger === undefined || known === undefined || ledger.hasEnded(known)) return false;
    return [before, world.snapshot].every((snapshot) =>
      takenByHub(ledger, snapshot, known.secret).includes(known.version),
    );
  });
}

function isLiveIn(snapshot: StoreSnapshot, { version, master }: Bearer, hubNowMs: number): boolean {
  const generation = snapshot.generations.get(version);
  if (generation?.master === undefined || !equalBytes(generation.master, master)) return false;
  if (generation.state === 'current') return true;
  return generation.state === 'previous' && hubNowMs < (generation.verify_until ?? 0);
}

/** By what is durable on the disk of the host's own machine. */
function hostsPresenting(world: World, snapshot: StoreSnapshot, version: number): readonly string[] {
  const hosts: string[] = [];
  for (const { name, host, state } of world.agents.values()) {
    const row = snapshot.hosts.get(host);
    if (name !== host || row?.status !== 'active' || world.ledger.tainted.has(host)) continue;
    const master = state?.durable.assignments.get('master');
    const value = master?.accept.find((accepted) => accepted.version === version)?.value;
    const isOfThisLife = value !== undefined && 'life' in value && value.life === row.life;
    if (master?.present === version && isOfThisLife) hosts.push(host);
  }
  return hosts;
}

export const containment: readonly Check[] = [noValidCallerIsRefused, nobodyIsCutOffUnnamed];
