import type { References, Rotation } from '@rollcall/core/rotation';
import { describe, expect, it } from 'vitest';
import { createTestHub, operator, START_MS } from '../../hub.fixture.ts';
import { createSecret } from '../create-secret.ts';
import { viewToken } from './view-token.ts';

describe('the view of a rotation of a shared token', () => {
  /** Who lacks what, of proving since the hub began. */
  async function lacking(references?: (secret: string) => References | null): Promise<readonly string[]> {
    const made = await createTestHub();
    await createSecret(made, { name: 'api', holders: ['caller:deploy'] }, operator);
    const hub = references === undefined ? made : { ...made, references: { find: references } };
    const { gate } = await viewToken(hub, hub.db, proving);
    return gate.blockers.map(({ member, missing }) => `${member} ${missing}`);
  }

  const proving: Rotation = {
    id: 'r',
    secret: 'api',
    from: 1,
    to: 2,
    phase: 'proving',
    reason: 'planned',
    startedAtMs: START_MS,
    phaseStartedAtMs: START_MS,
    left: [],
    pausedBecause: null,
    canary: null,
  };
  const found = [{ where: 'infra/deploy.yaml:3', names: 1 }];

  it('asks no repository as it ships, since no scan root can be configured', async () => {
    const asIs = await lacking();
    expect(asIs).not.toEqual([]);
    expect(asIs.filter((line) => line.includes('reference'))).toEqual([]);
  });

  it('asks what a scan found of this very token, once there is one', async () => {
    const asIs = await lacking();
    expect(await lacking(() => ({ examinedAtMs: START_MS, found: [] }))).toEqual(asIs);
    expect(await lacking((secret) => (secret === 'api' ? { examinedAtMs: START_MS, found } : null))).toEqual(
      ['infra/deploy.yaml:3 reference_current', ...asIs].sort(),
    );
    expect(await lacking((secret) => (secret === 'other' ? { examinedAtMs: START_MS, found } : null))).toEqual(asIs);
    expect(await lacking(() => ({ examinedAtMs: null, found: [] }))).toEqual(
      ['references references_scanned', ...asIs].sort(),
    );
  });
});
