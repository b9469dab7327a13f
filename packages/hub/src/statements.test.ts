import type { JsonValue } from '@rollcall/core/json';
import { limits } from '@rollcall/core/limits';
import { verifyStatement } from '@rollcall/core/seal';
import { describe, expect, it } from 'vitest';
import { enrolNew } from './host.fixture.ts';
import { createTestHub, DAY_MS, MINUTE_MS, operator, type TestHub } from './hub.fixture.ts';
import { startRotation } from './operations/rotation/walk.ts';

function stated(hub: TestHub) {
  const context = { hubRoot: hub.identity.hubTrust.root, highestSerial: 0 };
  return (JSON.parse(hub.statements()) as JsonValue[]).map((json) => verifyStatement(json, context));
}

const inForce = (hub: TestHub) => stated(hub).find(({ kind }) => kind === 'generation-in-force');

describe('the hub states which generations are in force', () => {
  it('by its key, with the time that one goes on without its word', async () => {
    const hub = await createTestHub({ settings: { verifyWindowMs: DAY_MS } });
    expect(stated(hub).map(({ kind }) => kind)).toEqual(['tls-spki', 'generation-in-force']);
    expect(inForce(hub)).toMatchObject({ epoch: 1, body: { generations: [1], verifyWindowMs: DAY_MS } });
  });

  it('at once when a second one verifies, and when the first one does no more', async () => {
    const hub = await createTestHub();
    await enrolNew(hub, 'agent-7');
    expect(inForce(hub)?.body['generations']).toEqual([1]);
    await startRotation(hub, { secret: 'master', reason: 'planned', leave: [], narrowByMs: null }, operator);
    expect(new Set(inForce(hub)?.body['generations'] as number[])).toEqual(new Set([1, 2]));
    await hub.wall.advance(7 * DAY_MS);
    expect(inForce(hub)?.body['generations']).toEqual([2]);
  });

  it('anew each minute, and not at each beat', async () => {
    const hub = await createTestHub();
    const first = hub.statements();
    await hub.wall.advance(limits.resealMs - 1);
    expect(hub.statements()).toBe(first);
    await hub.wall.advance(MINUTE_MS);
    expect(hub.statements()).not.toBe(first);
  });

  it('not without a master, and not once they could not be read for 30 s', async () => {
    const without = await createTestHub({ master: false });
    expect(inForce(without)).toBeUndefined();
    const hub = await createTestHub();
    hub.tamper('update generations set created_at = created_at + 1');
    await hub.generations.reload().catch(() => undefined);
    expect(inForce(hub)).toBeDefined();
    await hub.wall.advance(limits.cachedYesMs);
    expect(stated(hub).map(({ kind }) => kind)).toEqual(['tls-spki']);
  });
});
