/** A new pin in force: the host's record, its step and everything that was about the former pin, in one transaction. */
import { limits } from '@rollcall/core/limits';
import type { NewPin } from '@rollcall/core/pins';
import type { WrapPublicKey } from '@rollcall/core/seal';
import type { Hub } from '../hub.ts';
import { deleteHostTokens } from '../store/host-tokens.ts';
import { type HostRecord, updateHost } from '../store/hosts.ts';
import { deleteObserved, deletePendings, writePin } from '../store/pins.ts';
import type { Tx } from '../store/schema.ts';
import { issueMasterStep } from './issue-master-step.ts';
import { issueHeldTokens } from './token/issue-token-steps.ts';

export async function takePin(
  hub: Pick<Hub, 'vault' | 'clock' | 'epoch' | 'generations' | 'tokenReports'>,
  tx: Tx,
  host: HostRecord,
  taken: NewPin,
  key: WrapPublicKey,
): Promise<HostRecord> {
  const now = hub.clock.now();
  const after: HostRecord = {
    ...host,
    // Whoever enrols is let in; an operator's word about a key says nothing about a host that he suspended.
    status: taken.anchor === 'enrolment' ? 'active' : host.status,
    life: taken.raisesLife ? host.life + 1 : host.life,
    // Only an operator's word leaves the former life a way to fetch what is sealed to the new pin (design 3, Life).
    former_life_until: taken.raisesLife && taken.anchor === 'operator' ? now + limits.formerLifeMs : null,
    approved_fingerprint: null,
    first_use_fingerprint: null,
    first_use_until: null,
    proven_version: taken.raisesLife ? null : host.proven_version,
  };
  await updateHost(tx, hub.vault, after);
  await writePin(tx, hub.vault, {
    host: host.id,
    suite: key.suite,
    public: key.bytes,
    fingerprint: key.fingerprint,
    anchor: taken.anchor,
    since: now,
  });
  // They are of the life that has ended.
  if (taken.raisesLife) {
    await deleteHostTokens(tx, host.id);
    // So is what was reported: until it is heard anew, what it has is not known. Should this transaction fail, its next beat says it.
    hub.tokenReports.forget(host.id);
  }
  await deletePendings(tx, host.id);
  await deleteObserved(tx, host.id);
  await issueMasterStep(hub, tx, host.id);
  await issueHeldTokens(hub, tx, host.id);
  return after;
}
