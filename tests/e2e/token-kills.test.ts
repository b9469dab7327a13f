/**
 * A shared token is rotated while hub and agents are killed (-9) in each of its phases, and callers go on without a pause, each with
 * what its host's file tells it. None is refused (I1), the rotation completes, and nothing is done twice in a way that shows.
 */
import { createTokenVerifier } from '@rollcall/core/verify';
import type { AuditRecord } from '@rollcall/wire';
import { expect, it } from 'vitest';
import { readLog } from './harness/fleet.ts';
import { refusedOf, startCallers, takenBy } from './harness/token-callers.ts';
import { createTokenFleet, type HostName, hosts, type TokenFleet, verifierNames } from './harness/token-fleet.ts';

const phases = ['widening', 'rolling', 'proving', 'narrowing'] as const;

it('hub and agent are killed in each phase, and no valid caller is refused', { timeout: 240_000 }, async () => {
  const world = await createTokenFleet('2s');
  const { fleet, first } = world;
  try {
    const real = verifierNames.map((name) => ({ name, ask: (token: string) => world.ask(name, token) }));
    const tokens = Object.fromEntries(hosts.map((host) => [host, () => world.told(host)]));
    const callers = startCallers(tokens, [...real, naiveVerifier(world)]);
    await fleet.waitUntil('everybody is called', () =>
      verifierNames.every((name) => takenBy(callers.calls(), name) >= hosts.length),
    );

    const killed: string[] = [];
    const kill = async (host: HostName) => {
      await world.agent(host).kill('SIGKILL');
      await fleet.hub().kill('SIGKILL');
      world.startAgent(host);
      await fleet.startHub();
      killed.push((await world.rotation()).rotation.phase);
    };

    await world.start();
    await kill('a');
    await world.waitForGate();
    await world.advance();
    await kill('b');
    await fleet.waitUntil('one of them has switched', async () => (await world.rotation()).progress.rolled > 0);
    await kill('c');
    await world.waitForGate();
    await world.advance();
    await kill('a');
    await world.waitForGate();
    await world.advance();
    // It goes on from here by itself, but not while a verifier is away.
    await kill('b');
    await world.waitForPhase('done');
    expect(killed.slice(0, -1)).toEqual(['widening', 'rolling', 'rolling', 'proving']);
    expect(['narrowing', 'done']).toContain(killed.at(-1));

    await fleet.waitUntil('everybody is told the new one', () => hosts.every((host) => world.told(host) !== first));
    const calls = await callers.stop();
    const ofReal = calls.filter(({ to }) => to !== NAIVE);
    expect(refusedOf(ofReal)).toEqual([]);
    for (const name of verifierNames) expect(takenBy(ofReal, name)).toBeGreaterThan(20);
    // The control: the same callers at the same times, at one that takes the newest version alone.
    expect(refusedOf(calls).length).toBeGreaterThan(0);
    expect(takenBy(calls, NAIVE)).toBeGreaterThan(20);
    const unauthenticated = world.agents().flatMap((child) => readLog(child));
    expect(unauthenticated.filter((line) => line['code'] === 'unauthenticated')).toEqual([]);

    const [one] = new Set(hosts.map((host) => world.told(host)));
    for (const verifier of verifierNames) {
      expect([verifier, await world.ask(verifier, first)]).toEqual([verifier, 401]);
      expect([verifier, await world.ask(verifier, one ?? '')]).toEqual([verifier, 200]);
    }
    expect((await world.versions()).map(({ version, state }) => [version, state])).toEqual([
      [1, 'destroyed'],
      [2, 'current'],
    ]);
    expect(await stepsOf(world)).toEqual(phases);
  } finally {
    await fleet.close();
  }
});

const NAIVE = 'naive';

/** What is done where nobody takes a roll call: a new value is there, so the old one goes. */
function naiveVerifier(world: TokenFleet) {
  return {
    name: NAIVE,
    ask: async (token: string) => {
      const newest = hosts.map((host) => world.newest(host)).find((value) => value !== world.first) ?? world.first;
      try {
        createTokenVerifier({ current: { version: 1, value: newest } }).verify(token);
        return 200;
      } catch {
        return 401;
      }
    },
  };
}

/** The phases that were left, in the order in which the record has them. */
async function stepsOf({ fleet }: TokenFleet): Promise<readonly unknown[]> {
  const { records } = await fleet.ask<{ records: AuditRecord[] }>('GET', '/v1/audit?limit=500');
  return records.filter(({ action }) => action === 'rotation.advanced').map(({ details }) => details['out_of']);
}
