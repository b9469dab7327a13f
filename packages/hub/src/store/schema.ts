/**
 * The tables, as Kysely sees them. Times are Unix milliseconds. A table with a `mac` column is one that trust rests on:
 * its rows are read and written through `trust-row.ts` only.
 */
import type { Auto, Phase, RotationReason } from '@rollcall/core/rotation';
import type { OperatorRole } from '@rollcall/wire';
import type { Kysely, Transaction } from 'kysely';
import type { HostTokensTable, RungRulesTable } from './rung-tables.ts';
import type { TokenCountsTable } from './token-counts-table.ts';

export interface HostsTable {
  id: string;
  /** Lower case of the id: unique on the roll. */
  folded: string;
  status: 'invited' | 'active' | 'suspended' | 'evicted' | 'removed';
  reach: 'push' | 'pull';
  address: string | null;
  life: number;
  /** While set, a beat of the former life fetches envelopes, and does nothing else. */
  former_life_until: number | null;
  banned: number;
  /** Approved by an operator before the hub saw it published. */
  approved_fingerprint: string | null;
  /** The one key that first use takes for this host, and until when. */
  first_use_fingerprint: string | null;
  first_use_until: number | null;
  /** Highest generation with which the host authenticated in its present life. */
  proven_version: number | null;
  added_at: number;
  /** The version of the master that it was put on the roll as knowing: it derives for itself what others are sent. */
  knows_master: number | null;
  mac: Uint8Array;
}

export interface PinsTable {
  host: string;
  suite: string;
  public: Uint8Array;
  fingerprint: string;
  anchor: 'enrolment' | 'first-use' | 'operator';
  since: number;
  mac: Uint8Array;
}

/** A key that a pinned host published and that is not its pin. */
export interface PendingPinsTable {
  host: string;
  fingerprint: string;
  public: Uint8Array;
  /** The pin that it challenges. */
  pinned: string;
  first_seen_at: number;
  address: string;
  instance: string;
  startup: string;
  /** Where the pinned key was seen from when the change was first seen. */
  pinned_address: string | null;
  pinned_last_seen_at: number | null;
  mac: Uint8Array;
}

/** Keys that unpinned hosts published: what first use is measured on. */
export interface ObservedKeysTable {
  host: string;
  fingerprint: string;
  public: Uint8Array;
  first_seen_at: number;
  address: string;
  mac: Uint8Array;
}

export interface EnrolmentTokensTable {
  id: string;
  host: string;
  /** `K` of design 3, encrypted. */
  key_ciphertext: Uint8Array;
  expires_at: number;
  state: 'live' | 'used' | 'dead';
  used_at: number | null;
  /** SHA-256 of what redeemed it (wrap key, CSR): the same request is answered again for a while. */
  used_by: Uint8Array | null;
  mac: Uint8Array;
}

export interface GenerationsTable {
  secret: string;
  version: number;
  /** JSON of `MasterScheme`. */
  scheme: string;
  state: 'current' | 'previous' | 'destroyed';
  /** `null` once destroyed. */
  value_ciphertext: Uint8Array | null;
  created_at: number;
  /** When a previous generation stops verifying; `null` on it means: already. */
  verify_until: number | null;
  /** Whether it was replaced after a leak. */
  leaked: number;
  mac: Uint8Array;
}

export interface AssignmentsTable {
  host: string;
  secret: string;
  epoch: number;
  step: number;
  /** JSON array of versions. */
  accept: string;
  present: number;
  issued_at: number;
  /** The step that was proven, 0 before any. */
  acked_step: number;
  acked_at: number | null;
  /** JSON array of versions; `null`: none. */
  refuse: string | null;
  mac: Uint8Array;
}

export interface RotationsTable {
  id: string;
  secret: string;
  from_version: number;
  to_version: number;
  phase: Phase;
  phase_since: number;
  reason: RotationReason;
  started_at: number;
  /** JSON array of host ids. */
  left_hosts: string;
  paused_because: string | null;
  canary: string | null;
  mac: Uint8Array;
}

export interface TokensTable {
  name: string;
  current_version: number;
  weak: number;
  created_at: number;
  mac: Uint8Array;
}

export interface TokenVersionsTable {
  secret: string;
  version: number;
  /** `null` once destroyed. */
  value_ciphertext: Uint8Array | null;
  digest: Uint8Array;
  created_at: number;
  mac: Uint8Array;
}

export interface TokenHoldersTable {
  secret: string;
  /** A host id, `caller:NAME`, or `*` for every host. */
  member: string;
  mac: Uint8Array;
}

/** Of a rotation of a shared token. */
export interface RotationTermsTable {
  rotation: string;
  auto: Auto;
  batch: number;
  narrow_by: number | null;
  mac: Uint8Array;
}

export interface AuditTable {
  seq: number;
  at: number;
  actor_id: string;
  actor_kind: string;
  actor_rung: string;
  actor_verified: number;
  action: string;
  target: string;
  outcome: string;
  /** JSON. */
  details: string;
}

/** What the hub saw of a host last; flushed in batches, and no part of any decision about trust. */
export interface LivenessTable {
  host: string;
  last_seen_at: number;
  interval_ms: number;
  instance: string;
  seq: number;
  address: string;
  agent_version: string;
  rung: string;
  version: number | null;
  skew_ms: number;
}

export interface HubKeysTable {
  kid: string;
  serial: number;
  /** JSON of `HubKeyRecord`. */
  record: string;
  private_ciphertext: Uint8Array;
  mac: Uint8Array;
}

/** The hub's own certificate authority and TLS key (the full CA comes later). */
export interface AuthoritiesTable {
  id: string;
  certificate: Uint8Array;
  key_ciphertext: Uint8Array;
  /** Key of the fleet listener, kept so that its SPKI stays the same across restarts. */
  server_key_ciphertext: Uint8Array;
  mac: Uint8Array;
}

/** A certificate that a host was issued. */
export interface CertificatesTable {
  /** Lower-case hex. */
  serial: string;
  host: string;
  /** Of the host at that moment: in another one it counts for nothing. */
  life: number;
  use: 'listener';
  /** SHA-256 of the SubjectPublicKeyInfo, in hex. */
  key_sha256: string;
  proof: 'enrolment' | 'pinned-key';
  /** SHA-256 of the SubjectPublicKeyInfo of what signed it, in hex. */
  authority: string;
  issued_at: number;
  not_after: number;
  certificate: Uint8Array;
  mac: Uint8Array;
}

/** Who could write here could make a challenge of his own answered twice within its minute, and no more: so it carries no MAC. */
export interface SpentChallengesTable {
  id: string;
  expires_at: number;
}

export interface OperatorsTable {
  name: string;
  role: OperatorRole;
  token_digest: Uint8Array;
  added_at: number;
  mac: Uint8Array;
}

/** Kept by triggers (migration 003). */
export interface TrustChangesTable {
  host: string;
  version: number;
}

export interface MetaTable {
  key: string;
  value: string;
  mac: Uint8Array;
}

export interface Schema {
  hosts: HostsTable;
  pins: PinsTable;
  pending_pins: PendingPinsTable;
  observed_keys: ObservedKeysTable;
  enrolment_tokens: EnrolmentTokensTable;
  generations: GenerationsTable;
  assignments: AssignmentsTable;
  rotations: RotationsTable;
  tokens: TokensTable;
  token_versions: TokenVersionsTable;
  token_holders: TokenHoldersTable;
  rotation_terms: RotationTermsTable;
  token_counts: TokenCountsTable;
  audit: AuditTable;
  liveness: LivenessTable;
  hub_keys: HubKeysTable;
  authorities: AuthoritiesTable;
  certificates: CertificatesTable;
  host_tokens: HostTokensTable;
  rung_rules: RungRulesTable;
  spent_challenges: SpentChallengesTable;
  operators: OperatorsTable;
  trust_changes: TrustChangesTable;
  meta: MetaTable;
}

/** A database handle or an open transaction: the first argument of every query. */
export type Db = Kysely<Schema>;

/** Writes of trust take this, so that they cannot be made outside a transaction. */
export type Tx = Transaction<Schema>;
