/** I4 for shared tokens: what is in force at a host is what the hub issued under that step, value by value, and steps only rise. */
import { decodeUtf8 } from '@rollcall/core/bytes';
import type { AgentMachine } from '../machines/agent-machine.ts';
import { assertThat, type Check } from './invariant.ts';

interface Held {
  readonly lineage: object;
  readonly epoch: number;
  readonly step: number;
}

/** What the machine held last of each secret, with the disk that it held it on. */
const heldBy = new WeakMap<AgentMachine, Map<string, Held>>();

const stepsOfTokensRise: Check = {
  onAgentState: (world, machine, { durable }) => {
    if (world.tokens === undefined) return;
    const known = heldBy.get(machine) ?? new Map<string, Held>();
    heldBy.set(machine, known);
    for (const [secret, { epoch, step }] of durable.assignments) {
      const held = known.get(secret);
      known.set(secret, { lineage: machine.lineage, epoch, step });
      if (secret === 'master' || held === undefined || held.lineage !== machine.lineage) continue;
      const isForward = epoch > held.epoch || (epoch === held.epoch && step >= held.step);
      assertThat(isForward, 'I4', () => `${machine.name} went back from step ${held.step} of ${secret} to ${step}`);
    }
  },
};

const seen = new WeakSet<object>();

const appliedTokensAreIssued: Check = {
  onAgentState: (world, { name, host }, { durable }) => {
    if (world.tokens === undefined) return;
    const { ledger } = world.tokens;
    for (const [secret, assignment] of durable.assignments) {
      if (secret === 'master' || seen.has(assignment)) continue;
      seen.add(assignment);
      const { epoch, step, accept, present } = assignment;
      const sets = `${JSON.stringify(accept.map(({ version }) => version))} ${present}`;
      const issued = ledger.issued.get(`${secret} ${host} ${epoch} ${step}`);
      assertThat(issued?.has(sets) === true, 'I4', () => `${name} applied ${sets} of ${secret}, which was not issued`);
      for (const { version, value } of accept) {
        const text = 'keys' in value ? undefined : decodeUtf8(value.reveal());
        const known = ledger.values.get(text ?? '');
        const isTrue = known?.secret === secret && known.version === version;
        assertThat(isTrue, 'I4', () => `${name} holds a value of version ${version} of ${secret} that is not its own`);
      }
    }
  },
};

export const tokensWholeAndForward: readonly Check[] = [stepsOfTokensRise, appliedTokensAreIssued];
