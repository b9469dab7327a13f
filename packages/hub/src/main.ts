/** Composition root of the hub: the one place where its ports are made and its parts are put together. */
import { resolve } from 'node:path';
import { RollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import { type Examination, formatAddress, type ListenAddress, parseListenAddress, version } from '@rollcall/wire';
import type { FastifyInstance } from 'fastify';
import { createAskVerifier } from './adapters/ask-verifiers.ts';
import { createSystemClock } from './adapters/clock.ts';
import { observeHub } from './adapters/doctor.ts';
import { exists, readKek, removeStaleSocket } from './adapters/files.ts';
import { createHostClient } from './adapters/host-client.ts';
import { createLog, type LogLevel } from './adapters/log.ts';
import { generateP256KeyPair, systemRandom } from './adapters/random.ts';
import { openSqlite } from './adapters/sqlite.ts';
import { assembleHub } from './assemble-hub.ts';
import { judgeHub } from './doctor/judge-hub.ts';
import { createFleetListener } from './http/fleet-listener.ts';
import { createMetricsListener } from './http/metrics-listener.ts';
import { createOperatorSocket, createOperatorTcp } from './http/operator-listener.ts';
import { showCertificate } from './http/server-options.ts';
import type { Hub } from './hub.ts';
import { hubPaths } from './hub-paths.ts';
import { createHubStatus, type HubFacts } from './hub-status.ts';
import { type InitOptions, type InitResult, initHub as initHubWith } from './init-hub.ts';
import { type Jobs, runJobs } from './jobs/run-jobs.ts';
import { createVault, type Vault } from './kek/vault.ts';
import { createMetrics } from './metrics/create-metrics.ts';
import { createReload, DEFAULT_LOG_LEVEL } from './reload.ts';
import { createSelfChecks } from './self-checks.ts';
import type { ServerCertificate } from './server-certificate.ts';
import { findKekFingerprint, readMeta } from './store/meta.ts';
import { migrate } from './store/migrate.ts';
import type { Db } from './store/schema.ts';
import type { AskVerifier } from './token-probes.ts';

export interface RunOptions {
  readonly dir: string;
  readonly kekFile?: string | undefined;
  /** Overrides where `hub init` said that agents reach the hub; a wildcard only where it listens. */
  readonly listen?: string | undefined;
  /** `HOST:PORT`; loopback by default. */
  readonly metrics?: string | undefined;
  /** `HOST:PORT` for operators with tokens; without it there is the socket alone. */
  readonly operators?: string | undefined;
  readonly beatMs?: number | undefined;
  readonly firstUseMinAgeMs?: number | undefined;
  readonly verifyWindowMs?: number | undefined;
  readonly quietWindowMs?: number | undefined;
  readonly logLevel?: LogLevel | undefined;
  /** Reads the configuration again; without it SIGHUP ends the hub as it ends any process. */
  readonly reload?: (() => Promise<RunOptions>) | undefined;
}

/** For everything that the process creates: the database and its journals, the operator's socket. */
const OWNER_ONLY = 0o177;

export function initHub(options: InitOptions): Promise<InitResult> {
  process.umask(OWNER_ONLY);
  return initHubWith(options, {
    clock: createSystemClock(),
    random: systemRandom,
    generateKeyPair: generateP256KeyPair,
  });
}

/** Looks at a hub, running or not, and changes nothing (design 8, doctor). */
export async function examineHub(options: {
  readonly dir: string;
  readonly kekFile?: string | undefined;
}): Promise<Examination> {
  const dir = resolve(options.dir);
  const facts = await observeHub(dir, hubPaths(dir, options.kekFile), createSystemClock().now());
  const decided = facts.stored.state === 'read' ? (facts.stored.inside?.decidedRungs ?? []) : [];
  return {
    part: 'hub',
    place: dir,
    isRunning: facts.running !== null,
    findings: judgeHub(facts),
    ...(decided.length === 0 ? {} : { decidedRungs: decided }),
  };
}

/** Runs until SIGTERM or SIGINT, and resolves after a clean stop. */
export async function runHub(options: RunOptions): Promise<void> {
  const running = await startHub(options);
  if (options.reload !== undefined) process.on('SIGHUP', () => void running.reload());
  await new Promise<void>((resolve) => {
    process.once('SIGTERM', resolve);
    process.once('SIGINT', resolve);
  });
  await running.stop();
}

export interface RunningHub {
  readonly fleetAddress: string;
  readonly metricsAddress: string;
  readonly operatorsAddress?: string;
  readonly operatorSocket: string;
  /** What SIGHUP does. A configuration that cannot be taken is logged, and the running one stays. */
  reload(): Promise<void>;
  stop(): Promise<void>;
}

export async function startHub(options: RunOptions): Promise<RunningHub> {
  process.umask(OWNER_ONLY);
  const paths = hubPaths(options.dir, options.kekFile);
  const log = createLog(options.logLevel ?? DEFAULT_LOG_LEVEL);
  const clock = createSystemClock();
  if (!exists(paths.database)) throw new RollcallError('hub_missing', { dir: options.dir });
  const vault = createVault(readKek(paths.kek), systemRandom);
  const { db, close } = await openSqlite(paths.database, { create: false });
  let jobs: Jobs | undefined;
  // There once it listens; before that nobody can be asked.
  let ask: AskVerifier | undefined;
  // A last flush that fails, on a full disk, lets go of the database all the same.
  const end = async () => {
    try {
      await jobs?.stop();
    } finally {
      await close();
    }
  };
  try {
    await assertKek(db, vault);
    await migrate(db);
    const { hub, certificate } = await assembleHub(db, options, {
      vault,
      clock,
      random: systemRandom,
      log,
      nudgeRotation: () => jobs?.nudge(),
      ask: {
        replica: async (token, as) => asked(ask).replica(token, as),
        host: async (target, token) => asked(ask).host(target, token),
      },
    });
    jobs = runJobs(hub, clock, certificate);
    const listeners = await listen(hub, jobs, certificate, { options, operatorSocket: paths.operatorSocket });
    ask = createAskVerifier(hub, createHostClient(hub, clock), listeners.addresses.fleetAddress);
    log.info('the hub listens', { ...listeners.addresses });
    return {
      ...listeners.addresses,
      reload: createReload(options, hub.settings, log),
      stop: async () => {
        try {
          await listeners.close();
        } finally {
          await end();
        }
        log.info('the hub has stopped');
      },
    };
  } catch (error) {
    // A hub that could not open a listener is none: nothing of it may stay behind and hold the process.
    await end();
    throw asDatabaseError(error, paths.database);
  }
}

function asked(ask: AskVerifier | undefined): AskVerifier {
  if (ask === undefined) throw new RollcallError('hub_unreachable');
  return ask;
}

async function listen(
  hub: Hub,
  jobs: Jobs,
  certificate: ServerCertificate,
  { options, operatorSocket }: { options: RunOptions; operatorSocket: string },
) {
  const checks = createSelfChecks(hub, { areJobsAlive: jobs.areAlive, certificate });
  const fleetAt = parseListenAddress(options.listen ?? (await readMeta(hub.db, hub.vault, 'listen')));
  const metricsAt = parseListenAddress(options.metrics ?? `127.0.0.1:${fleetAt.port === 0 ? 0 : fleetAt.port + 1}`);
  const { tls } = certificate;
  const fleet = createFleetListener(hub, tls, checks, version);
  const certificates = [
    {
      kind: 'hub' as const,
      // Read at each scrape, since it is renewed.
      get endsAtMs() {
        return certificate.endsAtMs;
      },
    },
    { kind: 'authority' as const, endsAtMs: certificate.authorityEndsAtMs },
  ];
  const metrics = createMetricsListener(hub.log, createMetrics(hub, { version, checks, jobs, certificates }));
  const facts: HubFacts = { version, fleetAddress: '', metricsAddress: '' };
  const status = createHubStatus(hub, checks, facts);
  const operator = createOperatorSocket(hub, checks, status);
  const remote = options.operators === undefined ? undefined : createOperatorTcp(hub, tls, checks, status);
  for (const app of [fleet, remote]) if (app !== undefined) certificate.follow((next) => showCertificate(app, next));
  const close = async () => {
    for (const app of [fleet, metrics, operator, remote]) await app?.close();
  };
  try {
    // Known once they are bound, which is after the routes that answer them were made.
    facts.fleetAddress = await open(fleet, fleetAt);
    facts.metricsAddress = await open(metrics, metricsAt);
    await openOperatorSocket(operator, operatorSocket);
    if (remote !== undefined) facts.operatorsAddress = await open(remote, parseListenAddress(options.operators ?? ''));
  } catch (error) {
    await close();
    throw error;
  }
  const { version: _version, ...addresses } = { ...facts, operatorSocket };
  return { addresses, close };
}

async function open(app: FastifyInstance, at: ListenAddress): Promise<string> {
  try {
    await app.listen({ host: at.host, port: at.port });
  } catch (cause) {
    throw new RollcallError('listen_failed', { address: at.text, reason: codeOf(cause) }, { cause });
  }
  const bound = app.server.address();
  return typeof bound === 'object' && bound !== null ? formatAddress(at.host, bound.port) : at.text;
}

/** Owner only from the first moment on, by the umask: the mode of the file is the credential. */
async function openOperatorSocket(app: FastifyInstance, path: string): Promise<void> {
  if (Buffer.byteLength(path) > limits.unixSocketPathBytes) throw new RollcallError('socket_path_too_long', { path });
  removeStaleSocket(path);
  try {
    await app.listen({ path });
  } catch (cause) {
    throw new RollcallError('listen_failed', { address: path, reason: codeOf(cause) }, { cause });
  }
}

/** A hub that takes another key for its own would read nothing and might write what nobody reads. */
async function assertKek(db: Db, vault: Vault): Promise<void> {
  const expected = await findKekFingerprint(db).catch(asNoHub);
  if (expected === undefined) throw new RollcallError('hub_missing');
  if (expected !== vault.fingerprint) throw new RollcallError('kek_wrong', { expected, found: vault.fingerprint });
}

/** A database without tables is no hub. One that cannot be read is not that (I10): its error goes on. */
function asNoHub(error: unknown): undefined {
  if (codeOf(error) !== 'SQLITE_ERROR') throw error;
}

function codeOf(cause: unknown): string {
  return (cause as { code?: string }).code ?? '';
}

/** What SQLite says of a file that opens and is damaged further in. */
function asDatabaseError(error: unknown, file: string): unknown {
  const code = codeOf(error);
  return code.startsWith('SQLITE_')
    ? new RollcallError('database_unreadable', { file, reason: code }, { cause: error })
    : error;
}
