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

const publicOf = new WeakMap<Uint8Array, string | null>();

/** Public halves, base64url, of what a power cut leaves whatever happens. */
function durableKeys({ disk }: AgentMachine): ReadonlySet<string> {
  const keys = new Set<string>();
  for (const [name, bytes] of disk.durableContents()) {
    if (!name.startsWith('state-')) continue;
    const known = publicOf.get(bytes);
    const key = known === undefined ? publicIn(bytes) : known;
    publicOf.set(bytes, key);
    if (key !== null) keys.add(key);
  }
  return keys;
}

function publicIn(slot: Uint8Array): string | null {
  try {
    const text = Buffer.from(slot).toString('utf8');
    const { state } = JSON.parse(text.slice(text.indexOf('\n') + 1)) as { state: { wrapKeys: { private: string }[] } };
    const secret = decodeBase64url(state.wrapKeys[0]?.private ?? '') as Uint8Array;
    return Buffer.from(restoreWrapKey(secret).public.bytes).toString('base64url');
  } catch {
    return null;
  }
}

export const persistBeforeUse: readonly Check[] = [shownKeysAreDurable, oneDiskMakesOneKey];
