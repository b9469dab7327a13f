/** `hub init`, once for all runs of this process: keys and authority, and an image of the database that each run begins with. */
import { SecretBytes } from '@rollcall/core/keys';
import { createFoundation, createVault, generateP256KeyPair, migrate, storeFoundation } from '@rollcall/hub/parts';
import { createDice } from './engine/dice.ts';
import { START_MS } from './engine/machine-clock.ts';
import { Scheduler } from './engine/scheduler.ts';
import { Trace } from './engine/trace.ts';
import type { HubFace } from './machines/network.ts';
import { connect, openMemory } from './machines/parked-database.ts';

export interface Founded {
  readonly image: Uint8Array;
  readonly kek: SecretBytes<'kek'>;
  readonly hubRoot: Uint8Array;
  readonly hubTrust: ReturnType<typeof createFoundation>['trust'];
  readonly face: HubFace;
}

/** Before the traps are set: a P-256 key pair comes from the system, and nothing of a run follows from its bytes. */
export async function found(): Promise<Founded> {
  const dice = createDice('foundation');
  const scheduler = new Scheduler(dice, new Trace(), (_task, error) => {
    throw error;
  });
  const kek = new SecretBytes('kek', dice.bytes(32));
  const vault = createVault(kek, dice.bytes);
  const foundation = createFoundation({
    trustDomain: 'fleet.example',
    listen: '127.0.0.1:7443',
    random: dice.bytes,
    generateKeyPair: generateP256KeyPair,
    nowMs: START_MS - 86_400_000,
  });
  const sqlite = openMemory();
  const faults = { fail: () => undefined, delayMs: () => 0 };
  scheduler.spawn('init', 'init', async () => {
    const db = connect(sqlite, scheduler, faults, { onCommit: () => undefined });
    await migrate(db);
    await storeFoundation(db, vault, foundation);
  });
  while (await scheduler.step(0));
  const { trust, root, authority } = foundation;
  const face = { trustDomain: trust.trustDomain, root: authority.certificateDer, spki: trust.spki[0] as Uint8Array };
  return { image: Uint8Array.from(sqlite.serialize()), kek, hubRoot: root.public, hubTrust: trust, face };
}
