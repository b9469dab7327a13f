/** A verifier saw the host authenticate with a generation: the one fact that convergence rests on (I5). */
import type { Hub } from '../hub.ts';
import { MASTER } from '../live-generations.ts';
import { ackStep } from '../store/assignments.ts';
import { appendAudit } from '../store/audit.ts';
import { readHost, updateHost } from '../store/hosts.ts';

export interface MasterProof {
  /** As verified. */
  readonly host: string;
  readonly life: number;
  readonly version: number;
  /** The step that was reported under this version, when it is the wanted one. */
  readonly step: number | null;
}

export async function proveMaster(hub: Hub, proof: MasterProof): Promise<void> {
  await hub.db.transaction().execute(async (tx) => {
    const now = hub.clock.now();
    const host = await readHost(tx, hub.vault, proof.host);
    // Between the verification and this transaction the host may have begun a new life: then it proved nothing.
    if (host.life !== proof.life || host.status !== 'active') return;
    const rises = host.proven_version === null || proof.version > host.proven_version;
    if (rises || host.former_life_until !== null) {
      // The first proof of the new life ends the former one (design 3, Life).
      await updateHost(tx, hub.vault, {
        ...host,
        former_life_until: null,
        proven_version: rises ? proof.version : host.proven_version,
      });
    }
    const acked =
      proof.step !== null &&
      (await ackStep(tx, hub.vault, { host: host.id, secret: MASTER, step: proof.step, at: now }));
    if (!rises && !acked) return;
    await appendAudit(tx, {
      at: now,
      actor: { id: host.id, kind: 'host', rung: 'derived', verified: true },
      action: 'host.proved',
      target: host.id,
      outcome: 'done',
      details: { secret: MASTER, version: proof.version, step: acked ? proof.step : null },
    });
  });
  await hub.roll.reload(proof.host);
}
