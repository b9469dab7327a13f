/** I4: a host applies an assignment once, whole or not at all, and never one that is not above what it holds. */
import type { AgentState } from '@rollcall/agent';
import { equalBytes } from '@rollcall/core/bytes';
import type { AgentMachine } from '../machines/agent-machine.ts';
import { ownHeartbeatKey } from '../own-derivation.ts';
import type { World } from '../world.ts';
import { assertThat, type Check } from './invariant.ts';

type Assignment = NonNullable<ReturnType<AgentState['durable']['assignments']['get']>>;

/** What the machine held last, with the disk that it held it on: another disk is another history. */
const heldBy = new WeakMap<AgentMachine, { readonly lineage: object; readonly assignment: Assignment }>();

const stepsRise: Check = {
  // What a start reads again is what it held, and nothing that it applied.
  onLoaded: (_world, machine, _wasEmpty, { durable }) => {
    const held = heldBy.get(machine);
    const assignment = durable.assignments.get('master');
    if (held?.lineage !== machine.lineage || assignment === undefined || !isSameStep(held.assignment, assignment))
      return;
    heldBy.set(machine, { lineage: machine.lineage, assignment });
    assertThat(
      textOf(assignment) === textOf(held.assignment),
      'I4',
      () => `${machine.name} holds two assignments of step ${assignment.epoch}/${assignment.step}`,
    );
  },
  onAgentState: (_world, machine, state) => {
    const assignment = state.durable.assignments.get('master');
    if (assignment === undefined) return;
    const held = heldBy.get(machine);
    heldBy.set(machine, { lineage: machine.lineage, assignment });
    if (held === undefined || held.assignment === assignment || held.lineage !== machine.lineage) return;
    const { epoch, step } = held.assignment;
    const ahead = assignment.epoch - epoch || assignment.step - step;
    assertThat(
      ahead >= 0,
      'I4',
      () => `${machine.name} went from step ${epoch}/${step} back to ${assignment.epoch}/${assignment.step}`,
    );
    assertThat(ahead > 0, 'I4', () => `${machine.name} applied step ${epoch}/${step} a second time`);
  },
};

/** What is in force is what the hub issued under that step: the same versions, and the true keys of each. */
const appliedIsIssued: Check = {
  onAgentState: (world, machine, state) => {
    const assignment = state.durable.assignments.get('master');
    if (assignment === undefined || seen.has(assignment)) return;
    seen.add(assignment);
    const { epoch, step } = assignment;
    const issued = world.ledger.issued.get(`${machine.host} ${epoch} ${step}`);
    assertThat(issued !== undefined, 'I4', () => `${machine.name} applied step ${epoch}/${step}, which nobody issued`);
    const applied = textOf(assignment);
    assertThat(
      issued.has(applied),
      'I4',
      () => `${machine.name} applied ${applied} where ${[...issued].join()} was issued`,
    );
    for (const { version, value } of assignment.accept) assertTrueKey(world, machine, version, value);
  },
};

const seen = new WeakSet<Assignment>();

function assertTrueKey(
  { ledger }: World,
  { name, host }: AgentMachine,
  version: number,
  value: Assignment['accept'][number]['value'],
): void {
  const key = 'keys' in value ? value.keys['heartbeat'] : undefined;
  const life = 'life' in value ? value.life : 0;
  const masters = [...ledger.masters.values()].filter((master) => master.version === version);
  const isTrue =
    key !== undefined && masters.some(({ bytes }) => equalBytes(key.reveal(), ownHeartbeatKey(bytes, host, life)));
  assertThat(isTrue, 'I4', () => `${name} holds a key of version ${version} that is not its own`);
}

function isSameStep(a: Assignment, b: Assignment): boolean {
  return a.epoch === b.epoch && a.step === b.step;
}

function textOf({ accept, present }: Assignment): string {
  return `${JSON.stringify(accept.map(({ version }) => version))} ${present}`;
}

export const wholeAndForward: readonly Check[] = [stepsRise, appliedIsIssued];
