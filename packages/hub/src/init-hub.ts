/** `hub init`: the one ceremony in which a hub comes into being: its key-encryption key, hub root, hub key, authority (design 3, 6). */
import { encodeBase64url, utf8 } from '@rollcall/core/bytes';
import { RollcallError } from '@rollcall/core/errors';
import { encodeHubRootFile, SecretBytes } from '@rollcall/core/keys';
import type { Clock, Random } from '@rollcall/core/ports';
import { type HubRootFileJson, isWildcard, parseListenAddress } from '@rollcall/wire';
import type { KeyPairPort } from '@rollcall/x509';
import { createFile, createPrivateDirectory, encodeKek, exists } from './adapters/files.ts';
import { openSqlite } from './adapters/sqlite.ts';
import { createFoundation, storeFoundation } from './foundation.ts';
import { hubPaths } from './hub-paths.ts';
import { toHubRootJson } from './hub-status.ts';
import { createVault } from './kek/vault.ts';
import { migrate } from './store/migrate.ts';

export interface InitOptions {
  /** Data directory; made 0700. */
  readonly dir: string;
  /** Where agents will reach the hub. */
  readonly listen?: string | undefined;
  readonly trustDomain?: string | undefined;
  /** Outside the data directory. */
  readonly kekFile?: string | undefined;
}

export interface InitResult {
  readonly dir: string;
  readonly kekFile: string;
  /** For hosts of an older fleet: public, and to be brought to them by a way that is trusted. */
  readonly hubRootFile: string;
  readonly hubRoot: HubRootFileJson;
  /** The private hub root: it is to leave this machine. */
  readonly offlineKeyFile: string;
  readonly operatorSocket: string;
  readonly listen: string;
}

export interface InitPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly generateKeyPair: KeyPairPort;
}

const NOT_REACHABLE =
  'Name the address that hosts reach the hub under. To listen on every address: `rollcall hub start --listen 0.0.0.0:7443`.';

export async function initHub(options: InitOptions, ports: InitPorts): Promise<InitResult> {
  const { clock, random } = ports;
  const paths = hubPaths(options.dir, options.kekFile);
  const listen = parseListenAddress(options.listen ?? '127.0.0.1:7443');
  // It goes into every token: a host that is told 0.0.0.0 dials itself.
  if (isWildcard(listen)) throw new RollcallError('malformed_address', { hint: NOT_REACHABLE });
  const trustDomain = options.trustDomain ?? 'rollcall.internal';
  for (const path of [paths.database, paths.kek, paths.offlineKey, paths.hubRoot]) {
    if (exists(path)) throw new RollcallError('hub_exists', { path });
  }
  createPrivateDirectory(options.dir);

  const kek = new SecretBytes('kek', random(32));
  const { generateKeyPair } = ports;
  const nowMs = clock.now();
  const founding = createFoundation({ trustDomain, listen: listen.text, random, generateKeyPair, nowMs });
  const { root, trust } = founding;

  // The key that opens the database is durable before there is anything for it to open (I11).
  await createFile(paths.kek, encodeKek(kek), 0o600);
  await createFile(paths.offlineKey, utf8(`${encodeBase64url(root.private.reveal())}\n`), 0o600);
  const vault = createVault(kek, random);
  const { db, close } = await openSqlite(paths.database, { create: true });
  try {
    await migrate(db);
    await storeFoundation(db, vault, founding);
  } finally {
    await close();
  }
  // Last: a directory with this file in it is a hub that is whole.
  await createFile(paths.hubRoot, utf8(encodeHubRootFile(trust)), 0o644);
  return {
    dir: options.dir,
    kekFile: paths.kek,
    hubRootFile: paths.hubRoot,
    hubRoot: toHubRootJson(trust),
    offlineKeyFile: paths.offlineKey,
    operatorSocket: paths.operatorSocket,
    listen: listen.text,
  };
}
