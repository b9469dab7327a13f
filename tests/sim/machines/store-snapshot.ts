/** What is in the hub's database for good, read beside the hub: raw rows, with the values of the generations in clear. */
import type { Vault } from '@rollcall/hub/parts';
import type { Sqlite } from './parked-database.ts';

export interface HostRow {
  readonly id: string;
  readonly status: 'invited' | 'active' | 'suspended' | 'evicted' | 'removed';
  readonly life: number;
  readonly former_life_until: number | null;
  readonly banned: number;
  readonly approved_fingerprint: string | null;
  readonly first_use_fingerprint: string | null;
  readonly first_use_until: number | null;
  readonly proven_version: number | null;
}

export interface AssignmentRow {
  readonly host: string;
  readonly epoch: number;
  readonly step: number;
  readonly accept: string;
  readonly present: number;
  readonly acked_step: number;
}

export interface TokenRow {
  readonly id: string;
  readonly host: string;
  readonly state: 'live' | 'used' | 'dead';
  readonly expires_at: number;
  readonly used_at: number | null;
}

export interface GenerationRow {
  readonly version: number;
  readonly state: 'current' | 'previous' | 'destroyed';
  readonly verify_until: number | null;
  /** `undefined` once destroyed. */
  readonly master: Uint8Array | undefined;
}

export interface RotationRow {
  readonly id: string;
  readonly from_version: number;
  readonly to_version: number;
  readonly phase: string;
  readonly reason: string;
  readonly left: readonly string[];
  readonly paused_because: string | null;
}

export interface StoreSnapshot {
  readonly hosts: ReadonlyMap<string, HostRow>;
  /** Fingerprint by host. */
  readonly pins: ReadonlyMap<string, string>;
  readonly assignments: ReadonlyMap<string, AssignmentRow>;
  readonly tokens: ReadonlyMap<string, TokenRow>;
  readonly generations: ReadonlyMap<number, GenerationRow>;
  /** Newest last. */
  readonly rotations: readonly RotationRow[];
  readonly clockFloorMs: number;
  readonly audit: number;
}

export const emptySnapshot: StoreSnapshot = {
  hosts: new Map(),
  pins: new Map(),
  assignments: new Map(),
  tokens: new Map(),
  generations: new Map(),
  rotations: [],
  clockFloorMs: 0,
  audit: 0,
};

export type ReadSnapshot = () => StoreSnapshot;

export type RawRow = Readonly<Record<string, unknown>>;

/** What a row of this table really is: where somebody without the key has written over it, what the hub had written. */
export type Believe = (table: string, row: RawRow) => RawRow;

/** Reads at once, beside any hub. Never called within a transaction. */
export function createSnapshotReader(sqlite: Sqlite, vault: Vault, believe: Believe): ReadSnapshot {
  const all = <Row>(sql: string) => {
    const statement = sqlite.prepare(sql);
    const [table = ''] = sql.split(' from ')[1]?.split(' ') ?? [];
    return () => (statement.all() as RawRow[]).map((row) => believe(table, row) as Row);
  };
  const hosts = all<HostRow>('select * from hosts order by id');
  const pins = all<{ host: string; fingerprint: string }>('select * from pins order by host');
  const assignments = all<AssignmentRow>('select * from assignments order by host');
  const tokens = all<TokenRow>('select * from enrolment_tokens order by id');
  const generations = all<{
    version: number;
    state: GenerationRow['state'];
    verify_until: number | null;
    value_ciphertext: Uint8Array | null;
  }>('select * from generations order by version');
  const rotations = all<Omit<RotationRow, 'left'> & { left_hosts: string }>(
    'select * from rotations order by started_at, to_version',
  );
  const clock = all<{ value: string }>("select * from meta where key = 'clock'");
  const audit = all<{ seq: number | null }>('select max(seq) as seq from audit');
  const open = (version: number, ciphertext: Uint8Array) =>
    vault.decrypt({ table: 'generations', row: `master/${version}`, column: 'value' }, ciphertext);
  return () => ({
    hosts: byKey(hosts(), (row) => row.id),
    pins: new Map(pins().map(({ host, fingerprint }) => [host, fingerprint])),
    assignments: byKey(assignments(), (row) => row.host),
    tokens: byKey(tokens(), (row) => row.id),
    generations: byKey(
      generations().map(({ version, state, verify_until, value_ciphertext }) => ({
        version,
        state,
        verify_until,
        master: value_ciphertext === null ? undefined : open(version, value_ciphertext),
      })),
      (row) => row.version,
    ),
    rotations: rotations().map((row) => ({ ...row, left: JSON.parse(row.left_hosts) as string[] })),
    clockFloorMs: clock().map(({ value }) => (JSON.parse(value) as { floorMs: number }).floorMs)[0] ?? 0,
    audit: audit()[0]?.seq ?? 0,
  });
}

function byKey<Key, Row>(rows: readonly Row[], key: (row: Row) => Key): ReadonlyMap<Key, Row> {
  return new Map(rows.map((row) => [key(row), row]));
}
