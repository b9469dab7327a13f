/** The first schema: a roll, pins, enrolment, the master, rotations, audit. */
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('meta')
    .addColumn('key', 'text', (c) => c.primaryKey())
    .addColumn('value', 'text', (c) => c.notNull())
    .addColumn('mac', 'blob', (c) => c.notNull())
    .execute();

  await db.schema
    .createTable('hosts')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('folded', 'text', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('reach', 'text', (c) => c.notNull())
    .addColumn('address', 'text')
    .addColumn('life', 'bigint', (c) => c.notNull())
    .addColumn('former_life_until', 'bigint')
    .addColumn('banned', 'integer', (c) => c.notNull())
    .addColumn('approved_fingerprint', 'text')
    .addColumn('first_use_fingerprint', 'text')
    .addColumn('first_use_until', 'bigint')
    .addColumn('proven_version', 'bigint')
    .addColumn('added_at', 'bigint', (c) => c.notNull())
    .addColumn('knows_master', 'bigint')
    .addColumn('mac', 'blob', (c) => c.notNull())
    .execute();
  await sql`create unique index hosts_folded_on_roll on hosts (folded) where status <> 'removed'`.execute(db);

  await db.schema
    .createTable('pins')
    .addColumn('host', 'text', (c) => c.primaryKey().references('hosts.id'))
    .addColumn('suite', 'text', (c) => c.notNull())
    .addColumn('public', 'blob', (c) => c.notNull())
    .addColumn('fingerprint', 'text', (c) => c.notNull())
    .addColumn('anchor', 'text', (c) => c.notNull())
    .addColumn('since', 'bigint', (c) => c.notNull())
    .addColumn('mac', 'blob', (c) => c.notNull())
    .execute();

  await db.schema
    .createTable('pending_pins')
    .addColumn('host', 'text', (c) => c.notNull().references('hosts.id'))
    .addColumn('fingerprint', 'text', (c) => c.notNull())
    .addColumn('public', 'blob', (c) => c.notNull())
    .addColumn('pinned', 'text', (c) => c.notNull())
    .addColumn('first_seen_at', 'bigint', (c) => c.notNull())
    .addColumn('address', 'text', (c) => c.notNull())
    .addColumn('instance', 'text', (c) => c.notNull())
    .addColumn('startup', 'text', (c) => c.notNull())
    .addColumn('pinned_address', 'text')
    .addColumn('pinned_last_seen_at', 'bigint')
    .addColumn('mac', 'blob', (c) => c.notNull())
    .addPrimaryKeyConstraint('pending_pins_pk', ['host', 'fingerprint'])
    .execute();

  await db.schema
    .createTable('observed_keys')
    .addColumn('host', 'text', (c) => c.notNull().references('hosts.id'))
    .addColumn('fingerprint', 'text', (c) => c.notNull())
    .addColumn('public', 'blob', (c) => c.notNull())
    .addColumn('first_seen_at', 'bigint', (c) => c.notNull())
    .addColumn('address', 'text', (c) => c.notNull())
    .addColumn('mac', 'blob', (c) => c.notNull())
    .addPrimaryKeyConstraint('observed_keys_pk', ['host', 'fingerprint'])
    .execute();

  await db.schema
    .createTable('enrolment_tokens')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('host', 'text', (c) => c.notNull().references('hosts.id'))
    .addColumn('key_ciphertext', 'blob', (c) => c.notNull())
    .addColumn('expires_at', 'bigint', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('used_at', 'bigint')
    .addColumn('used_by', 'blob')
    .addColumn('mac', 'blob', (c) => c.notNull())
    .execute();
  await sql`create unique index enrolment_tokens_one on enrolment_tokens (host) where state <> 'dead'`.execute(db);

  await db.schema
    .createTable('generations')
    .addColumn('secret', 'text', (c) => c.notNull())
    .addColumn('version', 'bigint', (c) => c.notNull())
    .addColumn('scheme', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('value_ciphertext', 'blob')
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('verify_until', 'bigint')
    .addColumn('leaked', 'integer', (c) => c.notNull())
    .addColumn('mac', 'blob', (c) => c.notNull())
    .addPrimaryKeyConstraint('generations_pk', ['secret', 'version'])
    .execute();
  // Two live at most (I14), whatever the code above it believes.
  await sql`create unique index generations_one_per_role on generations (secret, state) where state <> 'destroyed'`.execute(
    db,
  );

  await db.schema
    .createTable('assignments')
    .addColumn('host', 'text', (c) => c.notNull().references('hosts.id'))
    .addColumn('secret', 'text', (c) => c.notNull())
    .addColumn('epoch', 'bigint', (c) => c.notNull())
    .addColumn('step', 'bigint', (c) => c.notNull())
    .addColumn('accept', 'text', (c) => c.notNull())
    .addColumn('present', 'bigint', (c) => c.notNull())
    .addColumn('issued_at', 'bigint', (c) => c.notNull())
    .addColumn('acked_step', 'bigint', (c) => c.notNull())
    .addColumn('acked_at', 'bigint')
    .addColumn('mac', 'blob', (c) => c.notNull())
    .addPrimaryKeyConstraint('assignments_pk', ['host', 'secret'])
    .execute();

  await db.schema
    .createTable('rotations')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('secret', 'text', (c) => c.notNull())
    .addColumn('from_version', 'bigint', (c) => c.notNull())
    .addColumn('to_version', 'bigint', (c) => c.notNull())
    .addColumn('phase', 'text', (c) => c.notNull())
    .addColumn('phase_since', 'bigint', (c) => c.notNull())
    .addColumn('reason', 'text', (c) => c.notNull())
    .addColumn('started_at', 'bigint', (c) => c.notNull())
    .addColumn('left_hosts', 'text', (c) => c.notNull())
    .addColumn('paused_because', 'text')
    .addColumn('canary', 'text')
    .addColumn('mac', 'blob', (c) => c.notNull())
    .execute();
  // One rotation per secret at a time (design 5).
  await sql`create unique index rotations_one_running on rotations (secret) where phase not in ('done', 'rolled_back')`.execute(
    db,
  );

  await db.schema
    .createTable('audit')
    .addColumn('seq', 'bigint', (c) => c.primaryKey())
    .addColumn('at', 'bigint', (c) => c.notNull())
    .addColumn('actor_id', 'text', (c) => c.notNull())
    .addColumn('actor_kind', 'text', (c) => c.notNull())
    .addColumn('actor_rung', 'text', (c) => c.notNull())
    .addColumn('actor_verified', 'integer', (c) => c.notNull())
    .addColumn('action', 'text', (c) => c.notNull())
    .addColumn('target', 'text', (c) => c.notNull())
    .addColumn('outcome', 'text', (c) => c.notNull())
    .addColumn('details', 'text', (c) => c.notNull())
    .execute();

  await db.schema
    .createTable('liveness')
    .addColumn('host', 'text', (c) => c.primaryKey())
    .addColumn('last_seen_at', 'bigint', (c) => c.notNull())
    .addColumn('interval_ms', 'bigint', (c) => c.notNull())
    .addColumn('instance', 'text', (c) => c.notNull())
    .addColumn('seq', 'bigint', (c) => c.notNull())
    .addColumn('address', 'text', (c) => c.notNull())
    .addColumn('agent_version', 'text', (c) => c.notNull())
    .addColumn('rung', 'text', (c) => c.notNull())
    .addColumn('version', 'bigint')
    .addColumn('skew_ms', 'bigint', (c) => c.notNull())
    .execute();

  await db.schema
    .createTable('hub_keys')
    .addColumn('kid', 'text', (c) => c.primaryKey())
    .addColumn('serial', 'bigint', (c) => c.notNull().unique())
    .addColumn('record', 'text', (c) => c.notNull())
    .addColumn('private_ciphertext', 'blob', (c) => c.notNull())
    .addColumn('mac', 'blob', (c) => c.notNull())
    .execute();

  await db.schema
    .createTable('authorities')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('certificate', 'blob', (c) => c.notNull())
    .addColumn('key_ciphertext', 'blob', (c) => c.notNull())
    .addColumn('server_key_ciphertext', 'blob', (c) => c.notNull())
    .addColumn('mac', 'blob', (c) => c.notNull())
    .execute();
}
