/** What the hub holds about a host's wrap key, read at the source for a decision of core. */

import { RollcallError } from '@rollcall/core/errors';
import type { HeldPin, HeldPins } from '@rollcall/core/pins';
import type { Vault } from '../kek/vault.ts';
import type { HostRecord } from '../store/hosts.ts';
import { findPendings, findPin } from '../store/pins.ts';
import type { Db } from '../store/schema.ts';
import { orUnreadable } from '../store/trust-row.ts';

export async function readHeldPins(db: Db, vault: Vault, host: HostRecord): Promise<HeldPins> {
  if (host.status === 'removed') throw new RollcallError('host_unknown', { host: host.id });
  const pendings = await findPendings(db, vault, host.id);
  return {
    status: host.status,
    banned: host.banned === 1,
    pin: await readHeldPin(db, vault, host.id),
    approved: host.approved_fingerprint,
    firstUse: host.first_use_fingerprint,
    pendings: pendings.map(({ fingerprint, pinned }) => ({ fingerprint, challenges: pinned })),
  };
}

async function readHeldPin(db: Db, vault: Vault, host: string): Promise<HeldPin> {
  const pin = await orUnreadable(findPin(db, vault, host));
  if (pin === 'unreadable') return { state: pin };
  if (pin === undefined) return { state: 'none' };
  return { state: 'pinned', fingerprint: pin.fingerprint, anchor: pin.anchor, previous: null };
}
