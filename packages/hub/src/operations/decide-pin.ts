/** An operator's word about a pin: approve, confirm, reject (design 3). */

import { RollcallError } from '@rollcall/core/errors';
import { decideApproval, decideConfirmation, decideRejection } from '@rollcall/core/pins';
import { assertTimeTrusted } from '@rollcall/core/rotation';
import { parseWrapPublicKey } from '@rollcall/core/seal';
import type { PinChangeAnswer } from '@rollcall/wire';
import type { Hub } from '../hub.ts';
import { refresh } from '../refresh.ts';
import { type Actor, appendAudit } from '../store/audit.ts';
import { readHost, updateHost } from '../store/hosts.ts';
import { deletePendings, findObserved, findPendings, findPin, writePin } from '../store/pins.ts';
import type { Tx } from '../store/schema.ts';
import { readHeldPins } from './held-pins.ts';
import { takePin } from './take-pin.ts';

/** `effect`: `taken` at once, or `when_published` for a key that the hub has not seen yet. */
export async function approvePin(hub: Hub, id: string, fingerprint: string, actor: Actor): Promise<PinChangeAnswer> {
  assertTimeTrusted(hub.clock.read());
  return change(hub, id, async (tx) => {
    const host = await readHost(tx, hub.vault, id);
    const held = await readHeldPins(tx, hub.vault, host);
    const seen = [...(await findPendings(tx, hub.vault, id)), ...(await findObserved(tx, hub.vault, id))];
    const decision = decideApproval(
      held,
      fingerprint,
      seen.map((key) => key.fingerprint),
    );
    const replaced = held.pin.state === 'pinned' ? held.pin.fingerprint : null;
    if (decision.kind === 'recorded') {
      await updateHost(tx, hub.vault, { ...host, approved_fingerprint: decision.approved });
      await record(hub, tx, {
        action: 'pin.approved',
        id,
        actor,
        details: { fingerprint, replaces: replaced, seen: false },
      });
      return 'when_published';
    }
    const key = seen.find((candidate) => candidate.fingerprint === decision.pin.fingerprint);
    if (key === undefined) throw new RollcallError('internal');
    const after = await takePin(
      hub,
      tx,
      host,
      decision.pin,
      parseWrapPublicKey({ suite: 'x25519', public: key.public }),
    );
    await record(hub, tx, {
      action: 'pin.approved',
      id,
      actor,
      details: { fingerprint, replaces: replaced, seen: true, life: after.life },
    });
    return 'taken';
  });
}

/** A first-use pin that a person read on the host itself. */
export function confirmPin(hub: Hub, id: string, fingerprint: string, actor: Actor): Promise<PinChangeAnswer> {
  return change(hub, id, async (tx) => {
    const host = await readHost(tx, hub.vault, id);
    const decision = decideConfirmation(await readHeldPins(tx, hub.vault, host), fingerprint);
    if (decision.kind === 'already_confirmed') return 'already_confirmed';
    const pin = await findPin(tx, hub.vault, id);
    if (pin === undefined) throw new RollcallError('pin_absent');
    await writePin(tx, hub.vault, { ...pin, anchor: decision.anchor });
    await record(hub, tx, { action: 'pin.confirmed', id, actor, details: { fingerprint } });
    return 'confirmed';
  });
}

export function rejectPin(hub: Hub, id: string, fingerprint: string, actor: Actor): Promise<PinChangeAnswer> {
  return change(hub, id, async (tx) => {
    const host = await readHost(tx, hub.vault, id);
    const decision = decideRejection(await readHeldPins(tx, hub.vault, host), fingerprint);
    for (const rejected of decision.rejected) await deletePendings(tx, id, rejected);
    if (decision.withdrawsApproval) await updateHost(tx, hub.vault, { ...host, approved_fingerprint: null });
    await record(hub, tx, { action: 'pin.rejected', id, actor, details: { fingerprint } });
    return 'rejected';
  });
}

async function change(hub: Hub, id: string, act: (tx: Tx) => Promise<string>): Promise<PinChangeAnswer> {
  const answer = await hub.db.transaction().execute(async (tx) => {
    const effect = await act(tx);
    const { life } = await readHost(tx, hub.vault, id);
    const pin = await findPin(tx, hub.vault, id);
    return {
      host: id,
      effect,
      life,
      pin: pin === undefined ? null : { fingerprint: pin.fingerprint, anchor: pin.anchor },
    };
  });
  await refresh(hub);
  return answer;
}

async function record(
  hub: Hub,
  tx: Tx,
  act: {
    action: string;
    id: string;
    actor: Actor;
    details: Readonly<Record<string, string | number | boolean | null>>;
  },
): Promise<void> {
  const { action, id, actor, details } = act;
  await appendAudit(tx, { at: hub.clock.now(), actor, action, target: id, outcome: 'done', details });
}
