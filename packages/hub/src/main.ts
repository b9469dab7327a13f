/** Composition root of the hub: the one place where its ports are made and its parts are put together. */
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { decodeBase64url } from '@rollcall/core/bytes';
import { RollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import type { Clock, Log } from '@rollcall/core/ports';
import { version } from '@rollcall/wire';
import { hubId, issueCertificate, restoreAuthority } from '@rollcall/x509';
import type { FastifyInstance } from 'fastify';
import { createSystemClock } from './adapters/clock.ts';
import { exists, readKek, removeStaleSocket } from './adapters/files.ts';
import { createLog, type LogLevel } from './adapters/log.ts';
import { generateP256KeyPair, systemRandom } from './adapters/random.ts';
import { openSqlite } from './adapters/sqlite.ts';
import { createCounts } from './counts.ts';
import { createFleetListener, type FleetTls } from './http/fleet-listener.ts';
import { createMetricsListener } from './http/metrics-listener.ts';
import { createOperatorSocket, createOperatorTcp } from './http/operator-listener.ts';
import type { Hub } from './hub.ts';
import { createHubClock } from './hub-clock.ts';
import { hubPaths } from './hub-paths.ts';
import { createHubStatus, type HubFacts } from './hub-status.ts';
import { type InitOptions, type InitResult, initHub as initHubWith } from './init-hub.ts';
import { type Jobs, runJobs } from './jobs/run-jobs.ts';
import { createVault, type Vault } from './kek/vault.ts';
import { formatAddress, type ListenAddress, parseListenAddress } from './listen-address.ts';
import { createLiveGenerations } from './live-generations.ts';
import { createMetrics } from './metrics.ts';
import { createOldHits } from './old-hits.ts';
import { createRoll } from './roll.ts';
import { createSelfChecks } from './self-checks.ts';
import { hashSpki } from './server-key.ts';
import { createStatements } from './statements.ts';
import { readAuthority, readHubKey } from './store/hub-keys.ts';
import { findMeta, type MetaKey } from './store/meta.ts';
import { migrate } from './store/migrate.ts';
import type { Db } from './store/schema.ts';
import { toTrustBundle } from './trust-bundle.ts';

export interface RunOptions {
  readonly dir: string;
  readonly kekFile?: string | undefined;
  /** Overrides where `hub init` said that agents reach the hub. */
  readonly listen?: string | undefined;
  /** `HOST:PORT`; loopback by default. */
  readonly metrics?: string | undefined;
  /** `HOST:PORT` for operators with tokens; without it there is the socket alone. */
  readonly operators?: string | undefined;
  readonly beatMs?: number | undefined;
  readonly firstUseMinAgeMs?: number | undefined;
  readonly verifyWindowMs?: number | undefined;
  readonly logLevel?: LogLevel | undefined;
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

/** Runs until SIGTERM or SIGINT, and resolves after a clean stop. */
export async function runHub(options: RunOptions): Promise<void> {
  const running = await startHub(options);
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
  stop(): Promise<void>;
}

export async function startHub(options: RunOptions): Promise<RunningHub> {
  process.umask(OWNER_ONLY);
  const paths = hubPaths(options.dir, options.kekFile);
  const log = createLog(options.logLevel ?? 'info');
  const clock = createSystemClock();
  if (!exists(paths.database)) throw new RollcallError('hub_missing', { dir: options.dir });
  const vault = createVault(readKek(paths.kek), systemRandom);
  const { db, close } = await openSqlite(paths.database, { create: false });
  try {
    await assertKek(db, vault);
    await migrate(db);
    let jobs: Jobs | undefined;
    const { hub, tls } = await assembleHub(db, options, { vault, clock, log, nudgeRotation: () => jobs?.nudge() });
    jobs = runJobs(hub, clock);
    const listeners = await listen(hub, jobs, tls, { options, operatorSocket: paths.operatorSocket });
    log.info('the hub listens', { ...listeners.addresses });
    return {
      ...listeners.addresses,
      stop: async () => {
        await listeners.close();
        await jobs?.stop();
        await close();
        log.info('the hub has stopped');
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

interface Tls extends FleetTls {
  readonly endsAtMs: number;
}

async function assembleHub(
  db: Db,
  options: RunOptions,
  made: { vault: Vault; clock: Clock; log: Log; nudgeRotation: () => void },
): Promise<{ hub: Hub; tls: Tls }> {
  const { vault, log } = made;
  const clock = await createHubClock(db, made.clock);
  const stored = await readAuthority(db, vault);
  const authority = restoreAuthority({ certificateDer: stored.certificate, privateKeyPkcs8: stored.key.reveal() });
  const serverKey = createPrivateKey({ key: Buffer.from(stored.serverKey.reveal()), format: 'der', type: 'pkcs8' });
  const serverPublic = createPublicKey(serverKey);
  const listenAt = parseListenAddress(options.listen ?? (await readMeta(db, 'listen')));
  const { trustDomain } = authority;
  const certificate = issueCertificate({
    authority,
    subjectPublicKey: serverPublic,
    commonName: 'hub',
    uri: hubId(trustDomain),
    ...namesOf(listenAt.host),
    usage: 'serverAuth',
    nowMs: clock.now(),
    lifeMs: limits.serverCertificateLifeMs,
    random: systemRandom,
  });
  const spki = hashSpki(serverPublic);
  const root = decodeBase64url(await readMeta(db, 'hub_root'));
  if (root === undefined) throw new RollcallError('store_unreadable', { table: 'meta', row: 'hub_root' });
  const hubKey = await readHubKey(db, vault);
  const epoch = Number(await readMeta(db, 'epoch'));
  const generations = createLiveGenerations({ db, vault, clock });
  // A store of generations that cannot be read stops no hub: it answers 503, and says so in its readiness (design 4).
  await generations.reload().catch(() => log.error('the generations of the master cannot be read'));
  const hub: Hub = {
    db,
    vault,
    clock,
    random: systemRandom,
    log,
    roll: await createRoll({ db, vault }),
    generations,
    hubKey,
    statements: createStatements({ clock, hubKey, epoch, spki }),
    counts: createCounts(),
    oldHits: createOldHits(limits.oldHitSources),
    settings: {
      beatMs: options.beatMs ?? limits.beatMs,
      verifyWindowMs: options.verifyWindowMs ?? limits.verifyWindowMs,
      firstUseMinAgeMs: options.firstUseMinAgeMs ?? limits.firstUseMinAgeMs,
    },
    epoch,
    identity: {
      trustDomain,
      hubTrust: { trustDomain, root, spki: [spki], hubs: [`https://${listenAt.text}`] },
      bundle: toTrustBundle(authority.certificateDer),
    },
    nudgeRotation: made.nudgeRotation,
  };
  const key = serverKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  return { hub, tls: { certificate: certificate.certificatePem, key, endsAtMs: certificate.notAfterMs } };
}

async function listen(
  hub: Hub,
  jobs: Jobs,
  tls: Tls,
  { options, operatorSocket }: { options: RunOptions; operatorSocket: string },
) {
  const checks = createSelfChecks(hub, { areJobsAlive: jobs.areAlive, certificateEndsAtMs: tls.endsAtMs });
  const fleetAt = parseListenAddress(options.listen ?? (await readMeta(hub.db, 'listen')));
  const metricsAt = parseListenAddress(options.metrics ?? `127.0.0.1:${fleetAt.port === 0 ? 0 : fleetAt.port + 1}`);
  const fleet = createFleetListener(hub, tls, checks, version);
  const metrics = createMetricsListener(hub.log, createMetrics(hub));
  const facts: HubFacts = {
    version,
    fleetAddress: await open(fleet, fleetAt),
    metricsAddress: await open(metrics, metricsAt),
  };
  const status = createHubStatus(hub, checks, facts);
  const operator = createOperatorSocket(hub, checks, status);
  await openOperatorSocket(operator, operatorSocket);
  const remote = options.operators === undefined ? undefined : createOperatorTcp(hub, tls, checks, status);
  // Known once it is bound, which is after the routes that answer it were made.
  if (remote !== undefined) facts.operatorsAddress = await open(remote, parseListenAddress(options.operators ?? ''));
  const { version: _version, ...addresses } = { ...facts, operatorSocket };
  return {
    addresses,
    close: async () => {
      for (const app of [fleet, metrics, operator, remote]) await app?.close();
    },
  };
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
  const expected = await findMeta(db, 'kek_fingerprint').catch(() => undefined);
  if (expected === undefined) throw new RollcallError('hub_missing');
  if (expected !== vault.fingerprint) throw new RollcallError('kek_wrong', { expected, found: vault.fingerprint });
}

async function readMeta(db: Db, key: MetaKey): Promise<string> {
  const value = await findMeta(db, key);
  if (value === undefined) throw new RollcallError('store_unreadable', { table: 'meta', row: key });
  return value;
}

/** The names that the fleet listener is called by; this machine's own where it listens on all addresses. */
function namesOf(host: string): { dnsNames: readonly string[]; ipAddresses: readonly string[] } {
  if (host === '0.0.0.0' || host === '::')
    return { dnsNames: [hostname(), 'localhost'], ipAddresses: ['127.0.0.1', '::1'] };
  return isIP(host) === 0 ? { dnsNames: [host], ipAddresses: [] } : { dnsNames: [], ipAddresses: [host] };
}

function codeOf(cause: unknown): string {
  return (cause as { code?: string }).code ?? '';
}
