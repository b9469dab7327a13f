/**
 * The roll in memory: for each host what a heartbeat needs to be answered without a look at the disk. What trust rests
 * on is a projection of the store, read anew after every transaction that touched the host; what was seen of the host
 * (liveness) lives here first, and is flushed in batches. Fields are flat: there is one entry for each host.
 */
import { limits } from '@rollcall/core/limits';
import { noPolicy, type RungPolicy } from '@rollcall/core/rungs';
import { createHostTokenIndex } from './host-token-entries.ts';
import type { HubClock } from './hub-clock.ts';
import type { Vault } from './kek/vault.ts';
import { MASTER } from './live-generations.ts';
import { applyLiveness, applyTrust, createEntry, type RollEntry, type StandingTrust } from './roll-entry.ts';
import { createSharedRun } from './shared-run.ts';
import { findAssignment, listAssignments } from './store/assignments.ts';
import { findHostTokens, listHostTokens } from './store/host-tokens.ts';
import { findHost, listRoll } from './store/hosts.ts';
import { listLiveness } from './store/liveness.ts';
import { findPin, listPins } from './store/pins.ts';
import { FLEET, findRungPolicy, listRungPolicies } from './store/rung-rules.ts';
import type { Db, Tx } from './store/schema.ts';
import { EVERY_HOST, listTrustChanges, readTrustVersion } from './store/trust-changes.ts';
import { orUnreadable } from './store/trust-row.ts';
import { projectTokens, readTokensOf, readTokensOfAll } from './token-entries.ts';

export { createEntry, type RollEntry } from './roll-entry.ts';

export interface Roll {
  get(id: string): RollEntry | undefined;
  entries(): IterableIterator<RollEntry>;
  /** Whose token has this digest, be it one that lets nobody in any more. */
  findByHostToken(digest: string): RollEntry | undefined;
  /** What was decided about rungs for all hosts that nothing else was decided for. */
  readonly fleetRungs: RungPolicy;
  /** Reads one host at the source. `undefined` when it is not on the roll. Rejects, and changes nothing, when the source does not answer. */
  reload(id: string): Promise<RollEntry | undefined>;
  reloadAll(): Promise<void>;
  /** Monotonic, when memory was as new as the store: it may say yes for 30 s after that (I8). */
  readonly asNewAtMs: number;
  /** Makes memory as new as the store was when this was called: reads again what changed, and nothing where nothing did. */
  catchUp(): Promise<void>;
}

export async function createRoll(deps: { db: Db; vault: Vault; clock: Pick<HubClock, 'monotonic'> }): Promise<Roll> {
  const { db, vault, clock } = deps;
  const held = new Map<string, RollEntry>();
  /** Every change up to this version is in memory; of some hosts later ones are too. */
  let readUpTo = 0;
  const readSince = new Map<string, number>();
  let asNewAtMs = Number.NEGATIVE_INFINITY;

  const hostTokens = createHostTokenIndex<RollEntry>();
  let fleetRungs = noPolicy;

  const project = (id: string, standing: StandingTrust): RollEntry => {
    const entry = held.get(id) ?? createEntry(id);
    held.set(id, entry);
    applyTrust(entry, standing);
    hostTokens.put(id, entry, standing.hostTokens);
    return entry;
  };

  const forget = (id: string): void => {
    held.delete(id);
    hostTokens.drop(id);
  };

  const readAll = async (tx: Tx): Promise<void> => {
    const version = await readTrustVersion(tx);
    const hosts = await listRoll(tx, vault);
    const pins = await listPins(tx, vault);
    const assignments = await listAssignments(tx, vault, MASTER);
    const tokens = await readTokensOfAll(tx, vault);
    const hostTokensOf = await listHostTokens(tx, vault);
    const policies = await listRungPolicies(tx, vault);
    const seen = new Map((await listLiveness(tx)).map((row) => [row.host, row]));
    const onRoll = new Set(hosts.map((host) => host.id));
    for (const id of held.keys()) if (!onRoll.has(id)) forget(id);
    for (const host of hosts) {
      // What this process saw itself is newer than what was flushed.
      const isNew = !held.has(host.id);
      const { id } = host;
      const entry = project(id, {
        host: host.status === 'unreadable' ? undefined : host,
        pin: pins.get(id),
        assignment: assignments.get(id),
        hostTokens: hostTokensOf.get(id) ?? [],
        rungs: policies.get(id) ?? noPolicy,
      });
      entry.tokens = projectTokens(entry.tokens, tokens.get(host.id));
      if (isNew) applyLiveness(entry, seen.get(host.id));
    }
    fleetRungs = policies.get(FLEET) ?? noPolicy;
    readUpTo = Math.max(readUpTo, version);
    readSince.clear();
  };

  const roll: Roll = {
    get: (id) => held.get(id),
    entries: () => held.values(),
    findByHostToken: (digest) => hostTokens.find(digest),
    get fleetRungs() {
      return fleetRungs;
    },

    // Read, and applied, within one transaction: nothing is committed between two reads, so that no entry is half of one life
    // and half of the next; and what was read before a change is never applied after it.
    reload: (id) =>
      db.transaction().execute(async (tx) => {
        const version = await readTrustVersion(tx);
        const host = await orUnreadable(findHost(tx, vault, id));
        const pin = await orUnreadable(findPin(tx, vault, id));
        const assignment = await orUnreadable(findAssignment(tx, vault, id, MASTER));
        const tokens = await readTokensOf(tx, vault, id);
        const ofHost = await findHostTokens(tx, vault, id);
        const rungs = await findRungPolicy(tx, vault, id);
        readSince.set(id, version);
        if (host === undefined || (host !== 'unreadable' && host.status === 'removed')) {
          forget(id);
          return undefined;
        }
        const entry = project(id, {
          host: host === 'unreadable' ? undefined : host,
          pin,
          assignment,
          hostTokens: ofHost,
          rungs,
        });
        entry.tokens = projectTokens(entry.tokens, tokens);
        return entry;
      }),

    get asNewAtMs() {
      return asNewAtMs;
    },

    reloadAll: async () => {
      const beganAtMs = clock.monotonic();
      await db.transaction().execute((tx) => readAll(tx));
      asNewAtMs = beganAtMs;
    },

    catchUp: createSharedRun(async () => {
      const beganAtMs = clock.monotonic();
      const changes = await listTrustChanges(db, readUpTo);
      const unread = changes.filter(({ host, version }) => host !== EVERY_HOST && (readSince.get(host) ?? 0) < version);
      if (unread.length > limits.changesReadOneByOne) return roll.reloadAll();
      if (changes.some(({ host }) => host === EVERY_HOST)) fleetRungs = await findRungPolicy(db, vault, FLEET);
      for (const { host } of unread) await roll.reload(host);
      readUpTo = changes.at(-1)?.version ?? readUpTo;
      if (changes.length > 0) readSince.clear();
      asNewAtMs = beganAtMs;
    }),
  };
  await roll.reloadAll();
  return roll;
}
