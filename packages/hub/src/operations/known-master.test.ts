import { encodeBase64url } from '@rollcall/core/bytes';
import { describe, expect, it } from 'vitest';
import { enrolNew } from '../host.fixture.ts';
import { createTestHub, DAY_MS, operator, type TestHub } from '../hub.fixture.ts';
import { showReadiness } from '../views/rotations.ts';
import { addHost } from './add-host.ts';
import { createSecret } from './create-secret.ts';
import { evictHost, removeHost } from './end-host.ts';
import { importHosts } from './import-hosts.ts';
import { retireRotation } from './rotation/retire.ts';
import { startRotation } from './rotation/walk.ts';

const start = (hub: TestHub) =>
  startRotation(hub, { secret: 'master', reason: 'leak', leave: [], narrowByMs: hub.clock.now() + DAY_MS }, operator);
const evict = async (hub: TestHub, id: string) => (await evictHost(hub, id, false, operator)).heldSecrets;
const holding = async (hub: TestHub) => (await showReadiness(hub, [])).hostsHoldingMaster;

describe('a host of an older fleet', () => {
  it('knows the master: evicting it says so, and readiness counts it', async () => {
    const hub = await createTestHub();
    await addHost(hub, { host: 'old-1', existing: true }, operator);
    await importHosts(hub, { dryRun: false, hosts: [{ host: 'old-2', existing: true }] }, operator);
    await enrolNew(hub, 'agent-1');
    expect(await holding(hub)).toBe(2);
    expect(await evict(hub, 'old-1')).toEqual(['master']);
    expect((await removeHost(hub, 'old-2', operator)).heldSecrets).toEqual(['master']);
    // The control: one that enrolled holds its own keys, which are dead with its life.
    expect(await evict(hub, 'agent-1')).toEqual([]);
  });

  it('goes on knowing it when it enrols, or is taken off the roll and put on it again', async () => {
    const hub = await createTestHub();
    await addHost(hub, { host: 'old-1', existing: true }, operator);
    await removeHost(hub, 'old-1', operator);
    await enrolNew(hub, 'old-1');
    expect(await holding(hub)).toBe(1);
    expect(await evict(hub, 'old-1')).toEqual(['master']);
  });

  it('knows it until that version verifies no more, and then nothing that counts', async () => {
    const hub = await createTestHub();
    await addHost(hub, { host: 'old-1', existing: true }, operator);
    await addHost(hub, { host: 'old-2', existing: true }, operator);
    await start(hub);
    expect(await holding(hub)).toBe(2);
    // Who joins in the window knows the version that the fleet had, not the one that the hub drew.
    await addHost(hub, { host: 'old-3', existing: true }, operator);
    await retireRotation(hub, 'master', { now: true, leave: ['old-1', 'old-2', 'old-3'] }, operator);
    expect(await holding(hub)).toBe(0);
    expect(await evict(hub, 'old-1')).toEqual([]);
    expect(await evict(hub, 'old-3')).toEqual([]);
  });

  it('knows nothing that verifies once the window has closed by itself, retired or not', async () => {
    const hub = await createTestHub();
    await addHost(hub, { host: 'old-1', existing: true }, operator);
    await start(hub);
    expect(await holding(hub)).toBe(1);
    await hub.wall.advance(2 * DAY_MS);
    expect(await holding(hub)).toBe(0);
  });

  it('is remembered across a restart', async () => {
    const hub = await createTestHub();
    await addHost(hub, { host: 'old-1', existing: true }, operator);
    expect(await holding(await hub.restart())).toBe(1);
  });
});

describe('under the scheme that has no life', () => {
  it('the keys of every host outlive its eviction, until a rotation', async () => {
    const hub = await createTestHub({ master: false });
    const value = encodeBase64url(new Uint8Array(48).fill(7));
    const scheme = { name: 'hmac-sha256' as const, info: { heartbeat: 'h', command: 'c' } };
    await createSecret(hub, { name: 'master', value, scheme }, operator);
    await addHost(hub, { host: 'old-1', existing: true }, operator);
    await addHost(hub, { host: 'new-1' }, operator);
    await addHost(hub, { host: 'new-2' }, operator);
    expect(await evict(hub, 'old-1')).toEqual(['master']);
    expect(await evict(hub, 'new-1')).toEqual(['master']);
    await start(hub);
    await retireRotation(hub, 'master', { now: true, leave: ['new-2', 'old-1', 'new-1'] }, operator);
    expect(await evict(hub, 'new-2')).toEqual([]);
  });
});
