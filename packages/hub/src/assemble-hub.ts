/** Puts a hub together from a store and its ports: the same parts, whether listeners are opened beside them or a simulator drives them. */
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { decodeBase64url } from '@rollcall/core/bytes';
import { RollcallError } from '@rollcall/core/errors';
import { limits } from '@rollcall/core/limits';
import type { Clock, Log, Random } from '@rollcall/core/ports';
import { isWildcard, type ListenAddress, parseListenAddress } from '@rollcall/wire';
import { restoreAuthority } from '@rollcall/x509';
import { createChallenges } from './challenges.ts';
import { createCounts } from './counts.ts';
import type { Hub } from './hub.ts';
import { createHubClock } from './hub-clock.ts';
import type { Vault } from './kek/vault.ts';
import { createLiveGenerations } from './live-generations.ts';
import { createOldHits } from './old-hits.ts';
import { type LiveOptions, settingsOf } from './reload.ts';
import { createRoll } from './roll.ts';
import { createServerCertificate, type ServerCertificate } from './server-certificate.ts';
import { hashSpki } from './server-key.ts';
import { createStatements } from './statements.ts';
import { readAuthority, readHubKey } from './store/hub-keys.ts';
import { readMeta } from './store/meta.ts';
import type { Db } from './store/schema.ts';
import { createTokenParts } from './token-parts.ts';
import type { AskVerifier } from './token-probes.ts';
import { toTrustBundle } from './trust-bundle.ts';

export interface AssembleOptions extends LiveOptions {
  /** Overrides where `hub init` said that agents reach the hub; a wildcard only where it listens. */
  readonly listen?: string | undefined;
}

export interface HubPorts {
  readonly vault: Vault;
  /** The machine's; the hub's own clock is made over it. */
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Asks the rotation job to look soon. */
  readonly nudgeRotation: () => void;
  /** Questions to verifiers of shared tokens, over the network. */
  readonly ask: AskVerifier;
}

export async function assembleHub(
  db: Db,
  options: AssembleOptions,
  { vault, clock: machineClock, random, log, nudgeRotation, ask }: HubPorts,
): Promise<{ hub: Hub; certificate: ServerCertificate }> {
  const clock = await createHubClock(db, vault, machineClock);
  const stored = await readAuthority(db, vault);
  const authority = restoreAuthority({ certificateDer: stored.certificate, privateKeyPkcs8: stored.key.reveal() });
  const reachedAt = addressForHosts(options.listen, await readMeta(db, vault, 'listen'));
  const { trustDomain } = authority;
  const certificate = createServerCertificate({
    authority,
    key: stored.serverKey,
    names: namesOf(reachedAt),
    clock,
    random,
    log,
  });
  const spki = hashSpki(certificate.publicKey);
  const root = decodeBase64url(await readMeta(db, vault, 'hub_root'));
  if (root === undefined) throw new RollcallError('store_unreadable', { table: 'meta', row: 'hub_root' });
  const hubKey = await readHubKey(db, vault);
  const epoch = Number(await readMeta(db, vault, 'epoch'));
  const generations = createLiveGenerations({ db, vault, clock });
  // A store of generations that cannot be read stops no hub: it answers 503, and says so in its readiness (design 4).
  await generations.reload().catch(() => log.error('the generations of the master cannot be read'));
  const settings = settingsOf(options);
  const tokenParts = await createTokenParts({ db, vault, clock, random });
  const unreadable = tokenParts.tokens.unreadable();
  if (unreadable.length > 0) log.error('shared tokens cannot be read', { secrets: unreadable });
  const hub: Hub = {
    db,
    vault,
    clock,
    random,
    log,
    roll: await createRoll({ db, vault, clock }),
    generations,
    hubKey,
    authority,
    challenges: createChallenges({ vault, random }),
    statements: createStatements({ clock, hubKey, epoch: () => hub.epoch, spki, generations, settings }),
    counts: createCounts(),
    oldHits: createOldHits(limits.oldHitSources),
    ...tokenParts,
    ask,
    settings,
    epoch,
    identity: {
      trustDomain,
      hubTrust: { trustDomain, root, spki: [spki], hubs: [`https://${reachedAt.text}`] },
      bundle: toTrustBundle(authority.certificateDer),
    },
    nudgeRotation,
  };
  return { hub, certificate };
}

/** What tokens and the hub-root file name: where it listens, or, where that is every address, what `hub init` was told. */
function addressForHosts(given: string | undefined, stored: string): ListenAddress {
  const listenAt = parseListenAddress(given ?? stored);
  return isWildcard(listenAt) ? parseListenAddress(stored) : listenAt;
}

/** The names that the fleet listener is called by. Only a hub that was made before `hub init` refused it has a wildcard. */
function namesOf(address: ListenAddress): { dnsNames: readonly string[]; ipAddresses: readonly string[] } {
  const { host } = address;
  if (isWildcard(address)) return { dnsNames: [hostname(), 'localhost'], ipAddresses: ['127.0.0.1', '::1'] };
  return isIP(host) === 0 ? { dnsNames: [host], ipAddresses: [] } : { dnsNames: [], ipAddresses: [host] };
}
