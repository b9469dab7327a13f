/**
 * A thief who can write the database and has not its key (SECURITY, When the hub is lost). A row that he changes is refused
 * by the hub: the ledger goes on with what the hub had written. A whole row that he puts back is believed, as documented:
 * the ledger takes it for true.
 */
import { limits } from '@rollcall/core/limits';
import { generateWrapKey } from '@rollcall/core/seal';
import { select, type TrustedTable, trustedTables, write } from '../machines/forgeries.ts';
import type { RawRow } from '../machines/store-snapshot.ts';
import type { World } from '../world.ts';

export function tamper(world: World): void {
  const { dice, hub } = world;
  if (hub.sqlite.inTransaction) return;
  if (dice.chance(0.6)) forge(world);
  else putBack(world);
}

/** Somebody puts right what was forged, while the hub is down. */
export function repair(world: World): void {
  const { hub, forgeries } = world;
  if (hub.sqlite.inTransaction) hub.crash();
  if (forgeries.repair(hub.sqlite) > 0) hub.crash();
  world.readAgain();
}

function forge(world: World): void {
  const { dice, hub, forgeries } = world;
  const table = dice.pick(Object.keys(trustedTables) as TrustedTable[]);
  const rows = select(hub.sqlite, table).filter((row) => table !== 'meta' || row['key'] === 'clock');
  if (rows.length === 0) return;
  const row = dice.pick(rows);
  const changes = dice.pick(plausible[table])(world, dice.pick(rows));
  if (!forgeries.forge(hub.sqlite, table, row, changes)) return;
  world.tell(`thief: forges ${table} ${String(row[trustedTables[table][0]])}: ${Object.keys(changes).join()}`);
  world.sometimes.note('a row was forged');
  world.scheduler.after(dice.between(5_000, LONGEST_FORGERY_MS), 'somebody mends the database', () => {
    if (!world.isCalm && !hub.sqlite.inTransaction) repair(world);
  });
}

const LONGEST_FORGERY_MS = 60_000;

type Forgery = (world: World, other: RawRow) => RawRow;

const soon = ({ hub }: World) => (hub.hub?.clock.now() ?? 0) + 3_600_000;
const without = (row: RawRow, key: string): RawRow =>
  Object.fromEntries(Object.entries(row).filter(([column]) => column !== key));

/** What is worth forging. The last of each: the row of somebody else, with its MAC. */
const plausible: Readonly<Record<TrustedTable, readonly Forgery[]>> = {
  hosts: [
    () => ({ status: 'active' }),
    () => ({ life: 1 }),
    () => ({ proven_version: 9 }),
    (world) => ({ former_life_until: soon(world) }),
    ({ dice }) => ({ approved_fingerprint: Buffer.from(dice.bytes(32)).toString('hex') }),
    (_world, other) => without(without(other, 'id'), 'folded'),
  ],
  pins: [
    ({ dice }) => {
      const key = generateWrapKey(dice.bytes).public;
      return { public: Buffer.from(key.bytes), fingerprint: key.fingerprint };
    },
    (_world, other) => without(other, 'host'),
  ],
  assignments: [
    ({ snapshot }) => ({ acked_step: Math.max(...[...snapshot.assignments.values()].map(({ step }) => step)) }),
    () => ({ present: 1, accept: '[1]' }),
    () => ({ step: 99 }),
    (_world, other) => without(without(other, 'host'), 'secret'),
  ],
  enrolment_tokens: [
    () => ({ state: 'live', used_at: null, used_by: null }),
    (world) => ({ expires_at: soon(world) + limits.enrolmentTokenMaxMs }),
    (_world, other) => without(without(other, 'id'), 'host'),
  ],
  generations: [
    (world) => ({ verify_until: soon(world) }),
    () => ({ leaked: 0, verify_until: null }),
    (_world, other) => ({ value_ciphertext: other['value_ciphertext'] }),
  ],
  rotations: [
    () => ({ phase: 'done' }),
    ({ snapshot }) => ({ left_hosts: JSON.stringify([...snapshot.hosts.keys()]) }),
    () => ({ paused_because: null }),
  ],
  meta: [() => ({ value: JSON.stringify({ floorMs: 0, jumped: false }) })],
};

/** The row of a host as it once was, with the MAC that it had then. */
function putBack(world: World): void {
  const { dice, hub, ledger, forgeries } = world;
  const table = dice.pick(['hosts', 'pins', 'assignments', 'enrolment_tokens'] as const);
  const kept = world.keptRows.get(table);
  world.keptRows.set(
    table,
    select(hub.sqlite, table).map((stands) => forgeries.believe(table, stands)),
  );
  if (kept === undefined || kept.length === 0) return;
  const row = dice.pick(kept);
  const host = String(row[table === 'hosts' ? 'id' : 'host']);
  if (!write(hub.sqlite, table, row)) return;
  world.tell(`thief: puts back ${table} of ${host}`);
  world.sometimes.note('a row was put back');
  ledger.tainted.add(host);
  ledger.putBack.add(host);
  world.readAgain();
}
