/** I5: a host counts as converged when a verifier has seen it authenticate with the version, and not because it says so. */
import { readJson } from '../machines/exchange.ts';
import { assertThat, type Check } from './invariant.ts';

/** Kept apart from the product: what the bearers that reached the hub really were. */
const notePresented: Check = {
  onHandling: ({ ledger }, { request, host, bearer }) => {
    if (request.path !== '/v1/heartbeat' || host === undefined || bearer === undefined) return;
    const { held } = readJson(request.body) as { readonly held?: Record<string, { readonly step: number }> };
    ledger.presented.add(`${host} ${bearer.life} ${bearer.version}`);
    ledger.claimed.add(`${host} ${bearer.life} ${bearer.version} ${held?.['master']?.step ?? 0}`);
  },
};

const provenWasPresented: Check = {
  onCommit: ({ ledger }, before, after) => {
    for (const { id, life, proven_version } of after.hosts.values()) {
      if (proven_version === null || before.hosts.get(id)?.proven_version === proven_version) continue;
      const isProven = ledger.presented.has(`${id} ${life} ${proven_version}`);
      assertThat(isProven, 'I5', () => `${id} counts as proven on version ${proven_version}, which it never presented`);
    }
  },
};

const ackedWasPresented: Check = {
  onCommit: ({ ledger }, before, after) => {
    for (const { host, present, acked_step } of after.assignments.values()) {
      if (acked_step <= (before.assignments.get(host)?.acked_step ?? 0)) continue;
      const life = after.hosts.get(host)?.life ?? 0;
      const isProven = ledger.claimed.has(`${host} ${life} ${present} ${acked_step}`);
      assertThat(
        isProven,
        'I5',
        () => `step ${acked_step} of ${host} counts as applied without a beat under version ${present}`,
      );
    }
  },
};

export const anAckIsAProof: readonly Check[] = [notePresented, provenWasPresented, ackedWasPresented];
