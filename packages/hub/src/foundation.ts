/** What a hub begins with: its root, its first hub key, its authority, the key of its listener, and their first rows (design 3, 6). */
import type { KeyObject } from 'node:crypto';
import { encodeBase64url } from '@rollcall/core/bytes';
import { type HubRootFile, SecretBytes } from '@rollcall/core/keys';
import { limits } from '@rollcall/core/limits';
import type { Random } from '@rollcall/core/ports';
import { createHubKey, createHubRoot, type HubKey, type HubRoot } from '@rollcall/core/seal';
import { createAuthority, type KeyPairPort } from '@rollcall/x509';
import { encodeHubTime, NO_FLOOR } from './hub-clock.ts';
import type { Vault } from './kek/vault.ts';
import { hashSpki } from './server-key.ts';
import { appendAudit, hubActor } from './store/audit.ts';
import { insertAuthority, insertHubKey } from './store/hub-keys.ts';
import { writeMeta } from './store/meta.ts';
import type { Db } from './store/schema.ts';

export interface Foundation {
  readonly root: HubRoot;
  readonly hubKey: HubKey;
  readonly authority: ReturnType<typeof createAuthority>;
  readonly serverKey: KeyObject;
  readonly trust: HubRootFile;
  /** As `HOST:PORT`. */
  readonly listen: string;
  readonly nowMs: number;
}

export function createFoundation(wish: {
  readonly trustDomain: string;
  readonly listen: string;
  readonly random: Random;
  readonly generateKeyPair: KeyPairPort;
  readonly nowMs: number;
}): Foundation {
  const { trustDomain, listen, random, generateKeyPair, nowMs } = wish;
  const root = createHubRoot(random);
  const hubKey = createHubKey(random, root, 1);
  const authority = createAuthority({
    trustDomain,
    commonName: `${trustDomain} fleet authority`,
    generateKeyPair,
    random,
    nowMs,
    lifeMs: limits.authorityLifeMs,
  });
  const serverKey = generateKeyPair();
  const spki = hashSpki(serverKey.publicKey);
  const trust: HubRootFile = { trustDomain, root: root.public, spki: [spki], hubs: [`https://${listen}`] };
  return { root, hubKey, authority, serverKey: serverKey.privateKey, trust, listen, nowMs };
}

/** In one transaction, into a store of the present schema that holds nothing yet. */
export async function storeFoundation(db: Db, vault: Vault, foundation: Foundation): Promise<void> {
  const { root, hubKey, authority, serverKey, trust, listen, nowMs } = foundation;
  await db.transaction().execute(async (tx) => {
    await writeMeta(tx, vault, 'kek_fingerprint', vault.fingerprint);
    await writeMeta(tx, vault, 'trust_domain', trust.trustDomain);
    await writeMeta(tx, vault, 'epoch', '1');
    await writeMeta(tx, vault, 'hub_root', encodeBase64url(root.public));
    await writeMeta(tx, vault, 'listen', listen);
    await writeMeta(tx, vault, 'clock', encodeHubTime(NO_FLOOR));
    await insertHubKey(tx, vault, hubKey);
    await insertAuthority(tx, vault, {
      id: 'fleet',
      certificate: authority.certificateDer,
      key: new SecretBytes('authority', authority.privateKeyPkcs8),
      serverKey: new SecretBytes('server', Uint8Array.from(serverKey.export({ format: 'der', type: 'pkcs8' }))),
    });
    await appendAudit(tx, {
      at: nowMs,
      actor: hubActor,
      action: 'hub.initialised',
      target: 'hub',
      outcome: 'done',
      details: { trustDomain: trust.trustDomain, hubKey: hubKey.kid },
    });
  });
}
