/** I11: key material is durable before it is shown to anyone, and one disk makes one wrap key. */
import { decodeBase64url } from '@rollcall/core/bytes';
import { restoreWrapKey } from '@rollcall/core/seal';
import type { AgentMachine } from '../machines/agent-machine.ts';
import { readJson } from '../machines/exchange.ts';
import { assertThat, type Check } from './invariant.ts';

/** What is shown would be there after a power cut at this moment. */
const shownKeysAreDurable: Check = {
  onRequest: (_world, machine, { body }) => {
    const shown =
      body === undefined
        ? undefined
        : (readJson(body) as { readonly wrapKey?: { readonly public: string } }).wrapKey?.public;
    if (shown === undefined) return;
    const isDurable = durableKeys(machine).has(shown);
    assertThat(isDurable, 'I11', () => `${machine.name} showed a key that is not on its disk`);
  },
};

/** What a host says that it holds is on its disk: memory changes only after the disk has. */
const whatIsHeldIsDurable: Check = {
  onRequest: (_world, machine, { body, path }) => {
    if (path !== '/v1/heartbeat' || body === undefined) return;
    const { held } = readJson(body) as { readonly held: Readonly<Record<string, { readonly step: number }>> };
    const step = held['master']?.step;
    const isDurable = step === undefined || durableSteps(machine).has(step);
    assertThat(isDurable, 'I11', () => `${machine.name} says that it holds step ${step}, which is not on its disk`);
  },
};

const oneDiskMakesOneKey: Check = {
  onAgentState: (_world, machine, state) => {
    const key = state.durable.wrapKeys[0]?.public.fingerprint;
    if (key === undefined || !state.onDisk) return;
    const former = keyOf.get(machine.lineage);
    keyOf.set(machine.lineage, key);
    assertThat(former === undefined || former === key, 'I11', () => `${machine.name} made a second key over its first`);
  },
};

const keyOf = new WeakMap<object, string>();

/** Nothing valid is given up before its replacement has been proven: whoever holds an assignment holds one from then on. */
const nothingIsGivenUp: Check = {
  onAgentState: (_world, machine, { durable, onDisk }) => {
    const holds = durable.assignments.has('master');
    assertThat(holds || !holders.has(machine.lineage), 'I11', () => `${machine.name} gave up what it held`);
    if (holds && onDisk) holders.add(machine.lineage);
  },
};

const holders = new WeakSet<object>();

/** The state before stays until the next one is proven to be there: one damaged file is no lost host. */
const oneDamagedFileIsSurvived: Check = {
  onEnded: (_world, { name, disk }, code) => {
    const isLost = code === 'state_torn' && disk.damages === 1 && disk.completedWrites > 1 && !disk.hasFailed;
    assertThat(!isLost, 'I11', () => `${name} was lost with one damaged file`);
  },
};

interface Durable {
  /** base64url. */
  readonly publicKey: string;
  readonly step: number;
}

const readSlots = new WeakMap<Uint8Array, Durable | null>();

/** What a power cut leaves whatever happens. */
function durable({ disk }: AgentMachine): readonly Durable[] {
  const found: Durable[] = [];
  for (const [name, bytes] of disk.durableContents()) {
    if (!name.startsWith('state-')) continue;
    const known = readSlots.get(bytes);
    const slot = known === undefined ? readSlot(bytes) : known;
    readSlots.set(bytes, slot);
    if (slot !== null) found.push(slot);
  }
  return found;
}

const durableKeys = (machine: AgentMachine) => new Set(durable(machine).map(({ publicKey }) => publicKey));
const durableSteps = (machine: AgentMachine) => new Set(durable(machine).map(({ step }) => step));

function readSlot(slot: Uint8Array): Durable | null {
  try {
    const text = Buffer.from(slot).toString('utf8');
    const { state } = JSON.parse(text.slice(text.indexOf('\n') + 1)) as {
      state: { wrapKeys: { private: string }[]; assignments: { secret: string; step: number }[] };
    };
    const secret = decodeBase64url(state.wrapKeys[0]?.private ?? '') as Uint8Array;
    return {
      publicKey: Buffer.from(restoreWrapKey(secret).public.bytes).toString('base64url'),
      step: state.assignments.find((assignment) => assignment.secret === 'master')?.step ?? 0,
    };
  } catch {
    return null;
  }
}

export const persistBeforeUse: readonly Check[] = [
  shownKeysAreDurable,
  whatIsHeldIsDurable,
  oneDiskMakesOneKey,
  nothingIsGivenUp,
  oneDamagedFileIsSurvived,
];
