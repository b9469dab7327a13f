/** A hub on SQLite, in this process, with hosts in every state that is refused; and what each of them presents. */
import { join } from 'node:path';
import { encodeBase64url } from '@rollcall/core/bytes';
import { deriveHostKey, encodeToken, SecretBytes } from '@rollcall/core/keys';
import {
  type Actor,
  addHost,
  assembleHub,
  createFoundation,
  createSecret,
  createVault,
  evictHost,
  generateP256KeyPair,
  type Hub,
  migrate,
  openSqlite,
  systemRandom as random,
  removeHost,
  retireRotation,
  startRotation,
  storeFoundation,
  suspendHost,
} from '@rollcall/hub/parts';

export interface RefusedRoll {
  readonly hub: Hub;
  /** The first one is what the others are compared with. */
  readonly classes: readonly RefusedClass[];
  close(): Promise<void>;
}

export interface RefusedClass {
  readonly name: string;
  /** `rawHeaders` of requests, all of one length. */
  readonly requests: readonly (readonly string[])[];
}

const HOSTS_PER_CLASS = 16;
const actor: Actor = { id: 'bench', kind: 'operator', rung: 'unix-socket', verified: false };
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

export async function createRefusedRoll(dir: string): Promise<RefusedRoll> {
  const { db, close } = await openSqlite(join(dir, 'hub.db'), { create: true });
  const vault = createVault(new SecretBytes('kek', random(32)), random);
  await migrate(db);
  const wish = { trustDomain: 'bench.example', listen: '127.0.0.1:0', random, generateKeyPair: generateP256KeyPair };
  await storeFoundation(db, vault, createFoundation({ ...wish, nowMs: Date.now() }));
  const clock = {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    sleep: async () => undefined,
    after: () => () => undefined,
  };
  const ask = async () => 'refused' as const;
  const ports = { vault, clock, random, log: silent, nudgeRotation: () => undefined, ask: { replica: ask, host: ask } };
  const { hub } = await assembleHub(db, {}, ports);
  const retired = random(32);
  await createSecret(hub, { name: 'master', value: encodeBase64url(retired) }, actor);

  const idsOf = (name: string) =>
    Array.from({ length: HOSTS_PER_CLASS }, (_, n) => `${name.padEnd(10, 'x')}-${String(n).padStart(3, '0')}`);
  const addAll = async (name: string, existing: boolean) => {
    for (const host of idsOf(name)) await addHost(hub, { host, existing }, actor);
  };
  for (const name of ['active', 'suspended', 'evicted', 'removed']) await addAll(name, true);
  await addAll('invited', false);
  // The first generation is retired; the second one is in force.
  await startRotation(hub, { secret: 'master', reason: 'leak', leave: [], narrowByMs: null }, actor);
  await retireRotation(hub, 'master', { now: true, leave: [...hub.roll.entries()].map(({ id }) => id) }, actor);
  for (const id of idsOf('suspended')) await suspendHost(hub, id, actor);
  for (const id of idsOf('evicted')) await evictHost(hub, id, false, actor);
  for (const id of idsOf('removed')) await removeHost(hub, id, actor);

  const current = hub.generations.read(2).value.reveal();
  const bearerOf = (master: Uint8Array, life: number) => (id: string) =>
    encodeToken('rcb', deriveHostKey(master, 'heartbeat', id, life));
  const wrong = () => encodeToken('rcb', random(32));
  const made = (name: string, of: string, bearer: (id: string) => string): RefusedClass => ({
    name,
    requests: idsOf(of).map((id) => toRawHeaders(id, bearer(id))),
  });
  return {
    hub,
    classes: [
      made('unknown host', 'unknown', wrong),
      made('unknown host, again', 'strange', wrong),
      made('known host, wrong bearer', 'active', wrong),
      made('known host, another life', 'active', bearerOf(current, 2)),
      made('known host, retired generation', 'active', bearerOf(retired, 1)),
      made('suspended, its right bearer', 'suspended', bearerOf(current, 1)),
      made('evicted, its former bearer', 'evicted', bearerOf(current, 1)),
      made('invited, by the master', 'invited', bearerOf(current, 1)),
      made('removed, its former bearer', 'removed', bearerOf(current, 1)),
    ],
    close,
  };
}

function toRawHeaders(host: string, bearer: string): readonly string[] {
  return ['Host', 'hub', 'Authorization', `Bearer ${bearer}`, 'X-Rollcall-Host', host].map(flat);
}

/** A text that was put together is a tree of its parts until it is read, and reading it the first time takes longer. */
function flat(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}
