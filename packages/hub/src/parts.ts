/**
 * The hub's parts, for a simulator that drives them without listeners, and under a database of its own making, and for what
 * measures one of them: the second door of this package. What it offers is what ships; nothing here is made for a test.
 */
export { default as SqliteDatabase } from 'better-sqlite3';
export { fastify } from 'fastify';
export {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
export { createAskVerifier } from './adapters/ask-verifiers.ts';
export type { HostClient } from './adapters/host-client.ts';
export { generateP256KeyPair, systemRandom } from './adapters/random.ts';
export { openSqlite } from './adapters/sqlite.ts';
export { type AssembleOptions, assembleHub, type HubPorts } from './assemble-hub.ts';
export { type AuthenticatedHost, authenticateHost } from './authenticate.ts';
export { createFoundation, type Foundation, storeFoundation } from './foundation.ts';
export { toErrorAnswer } from './http/errors.ts';
export { createHeartbeatEndpoint } from './http/heartbeat-endpoint.ts';
export { whoAmI } from './http/who-am-i.ts';
export type { Hub } from './hub.ts';
export { type Jobs, runJobs } from './jobs/run-jobs.ts';
export { createVault, type Vault } from './kek/vault.ts';
export { acceptFirstUse, showExposure } from './operations/accept-first-use.ts';
export { acceptTime } from './operations/accept-time.ts';
export { addHost, reenrolHost } from './operations/add-host.ts';
export { createSecret } from './operations/create-secret.ts';
export { approvePin, confirmPin, rejectPin } from './operations/decide-pin.ts';
export { evictHost, removeHost } from './operations/end-host.ts';
export { enrolHost } from './operations/enrol-host.ts';
export { cutRotation, leaveRotation, pauseRotation, resumeRotation } from './operations/rotation/hold.ts';
export { retireRotation } from './operations/rotation/retire.ts';
export { advanceRotation, rollBackRotation, startRotation } from './operations/rotation/walk.ts';
export { resumeHost, suspendHost, unbanHost } from './operations/suspend-host.ts';
export { changeHolders, createToken } from './operations/token/create-token.ts';
export type { RollEntry } from './roll.ts';
export type { Actor } from './store/audit.ts';
export { migrate } from './store/migrate.ts';
export type { Db, Schema } from './store/schema.ts';
export type { AskVerifier } from './token-probes.ts';
export { showReadiness } from './views/rotations.ts';
