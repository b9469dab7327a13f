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

/** Of an enrolment. */
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
  readonly secret: string;
  readonly from_version: number;
  readonly started_at: number;
  readonly to_version: number;
  readonly phase: string;
  readonly reason: string;
  readonly left: readonly string[];
  readonly paused_because: string | null;
}

export interface TokenRotationRow extends RotationRow {
  readonly narrow_by: number | null;
}

export interface TokenVersionRow {
  readonly secret: string;
  readonly version: number;
  /** `undefined` once destroyed. */
  readonly text: string | undefined;
}

export interface TokenAssignmentRow extends AssignmentRow {
  readonly secret: string;
}

export interface StoreSnapshot {
  readonly hosts: ReadonlyMap<string, HostRow>;
  /** Fingerprint by host. */
  readonly pins: ReadonlyMap<string, string>;
  /** Of the master, by host. */
  readonly assignments: ReadonlyMap<string, AssignmentRow>;
  readonly tokens: ReadonlyMap<string, TokenRow>;
  readonly generations: ReadonlyMap<number, GenerationRow>;
  /** Of the master, newest last. */
  readonly rotations: readonly RotationRow[];
  /** Of shared tokens: the version in force while no rotation runs, by name. */
  readonly currentTokens: ReadonlyMap<string, number>;
  /** By `secret version`. */
  readonly tokenVersions: ReadonlyMap<string, TokenVersionRow>;
  readonly holders: ReadonlyMap<string, ReadonlySet<string>>;
  /** By `secret host`. */
  readonly tokenAssignments: ReadonlyMap<string, TokenAssignmentRow>;
  /** The newest of each secret. */
  readonly tokenRotations: ReadonlyMap<string, TokenRotationRow>;
  readonly clockFloorMs: number;
  readonly audit: number;
}

/** Of shared tokens. */
type TokenTables = Pick<
  StoreSnapshot,
  'currentTokens' | 'tokenVersions' | 'holders' | 'tokenAssignments' | 'tokenRotations'
>;

const noTokens: TokenTables = {
  currentTokens: new Map(),
  tokenVersions: new Map(),
  holders: new Map(),
  tokenAssignments: new Map(),
  tokenRotations: new Map(),
};

export const emptySnapshot: StoreSnapshot = {
  hosts: new Map(),
  pins: new Map(),
  assignments: new Map(),
  tokens: new Map(),
  generations: new Map(),
  rotations: [],
  ...noTokens,
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
  const assignments = all<TokenAssignmentRow>('select * from assignments order by secret, host');
  const tokens = all<TokenRow>('select * from enrolment_tokens order by id');
  const generations = all<{
    version: number;
    state: GenerationRow['state'];
    verify_until: number | null;
    value_ciphertext: Uint8Array | null;
  }>('select * from generations order by version');
  const rotations = all<Omit<RotationRow, 'left'> & { left_hosts: string }>(
    'select * from rotations order by to_version',
  );
  const clock = all<{ value: string }>("select * from meta where key = 'clock'");
  const audit = all<{ seq: number | null }>('select max(seq) as seq from audit');
  const open = (version: number, ciphertext: Uint8Array) =>
    vault.decrypt({ table: 'generations', row: `master/${version}`, column: 'value' }, ciphertext);
  const readTokens = createTokenReader(all, vault);
  return () => {
    const [ofMaster, ofTokens] = partition(assignments());
    const [masters, tokenRotations] = partition(
      rotations().map((row) => ({ ...row, left: JSON.parse(row.left_hosts) as string[] })),
    );
    return {
      hosts: byKey(hosts(), (row) => row.id),
      pins: new Map(pins().map(({ host, fingerprint }) => [host, fingerprint])),
      assignments: byKey(ofMaster, (row) => row.host),
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
      rotations: masters,
      ...readTokens(ofTokens, tokenRotations),
      clockFloorMs: clock().map(({ value }) => (JSON.parse(value) as { floorMs: number }).floorMs)[0] ?? 0,
      audit: audit()[0]?.seq ?? 0,
    };
  };
}

export function isOver({ phase }: Pick<RotationRow, 'phase'>): boolean {
  return phase === 'done' || phase === 'rolled_back';
}

type All = <Row>(sql: string) => () => readonly Row[];

/** A run without shared tokens reads nothing more than whether there is one. */
function createTokenReader(all: All, vault: Vault) {
  const tokens = all<{ name: string; current_version: number }>('select * from tokens order by name');
  const versions = all<{ secret: string; version: number; value_ciphertext: Uint8Array | null }>(
    'select * from token_versions order by secret, version',
  );
  const holders = all<{ secret: string; member: string }>('select * from token_holders order by secret, member');
  const terms = all<{ rotation: string; narrow_by: number | null }>('select * from rotation_terms order by rotation');
  const texts = new Map<string, string>();
  const textOf = (secret: string, version: number, ciphertext: Uint8Array) => {
    const key = Buffer.from(ciphertext).toString('latin1');
    const place = { table: 'token_versions', row: `${secret}/${version}`, column: 'value' };
    const text = texts.get(key) ?? Buffer.from(vault.decrypt(place, ciphertext)).toString('utf8');
    texts.set(key, text);
    return text;
  };
  return (assignments: readonly TokenAssignmentRow[], rotations: readonly RotationRow[]): TokenTables => {
    const names = tokens();
    if (names.length === 0) return noTokens;
    const ends = new Map(terms().map(({ rotation, narrow_by }) => [rotation, narrow_by]));
    const members = new Map<string, Set<string>>(names.map(({ name }) => [name, new Set()]));
    for (const { secret, member } of holders()) members.get(secret)?.add(member);
    return {
      currentTokens: new Map(names.map(({ name, current_version }) => [name, current_version])),
      tokenVersions: byKey(
        versions().map(({ secret, version, value_ciphertext: value }) => ({
          secret,
          version,
          text: value === null ? undefined : textOf(secret, version, value),
        })),
        ({ secret, version }) => `${secret} ${version}`,
      ),
      holders: members,
      tokenAssignments: byKey(assignments, ({ secret, host }) => `${secret} ${host}`),
      // Ordered by when they began: the newest stays.
      tokenRotations: byKey(
        rotations.map((row) => ({ ...row, narrow_by: ends.get(row.id) ?? null })),
        ({ secret }) => secret,
      ),
    };
  };
}

function partition<Row extends { readonly secret: string }>(rows: readonly Row[]): [Row[], Row[]] {
  return [rows.filter(({ secret }) => secret === 'master'), rows.filter(({ secret }) => secret !== 'master')];
}

function byKey<Key, Row>(rows: readonly Row[], key: (row: Row) => Key): ReadonlyMap<Key, Row> {
  return new Map(rows.map((row) => [key(row), row]));
}
