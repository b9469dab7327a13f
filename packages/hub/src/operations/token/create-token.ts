/** A shared token and who holds it: made here, or taken from the fleet as it is (design 3, Text forms; design 5). */
import { decodeBase64url, decodeUtf8, utf8 } from '@rollcall/core/bytes';
import { RollcallError } from '@rollcall/core/errors';
import { ALL_HOSTS, CALLER_PREFIX, encodeToken, parseMember, parseSecretName, SecretBytes } from '@rollcall/core/keys';
import { limits } from '@rollcall/core/limits';
import { assertTimeTrusted, isRunning, phases, type Rotation } from '@rollcall/core/rotation';
import { createTokenVerifier } from '@rollcall/core/verify';
import type { CreateSecretBody, HoldersBody, SecretRow } from '@rollcall/wire';
import type { Hub } from '../../hub.ts';
import { refresh } from '../../refresh.ts';
import { type Actor, appendAudit } from '../../store/audit.ts';
import { findHost, listRoll } from '../../store/hosts.ts';
import { findRotation } from '../../store/rotations.ts';
import type { Db, Tx } from '../../store/schema.ts';
import {
  addHolder,
  EVERY_MEMBER,
  findDigest,
  findToken,
  listHeldTokens,
  listHolders,
  listTokenVersions,
  removeHolder,
  type TokenRecord,
  writeToken,
  writeTokenVersion,
} from '../../store/tokens.ts';
import { toTime } from '../../views/hosts.ts';
import { takeBack } from '../rotation/take-back.ts';
import { dropUnheld, issueTokenSteps } from './issue-token-steps.ts';

export async function createToken(hub: Hub, body: CreateSecretBody, actor: Actor): Promise<SecretRow> {
  assertTimeTrusted(hub.clock.read());
  const name = parseSecretName(body.name);
  if (name === HOST_TOKEN) throw new RollcallError('secret_reserved', { secret: name });
  const weak = body.weak === true;
  const value = body.value === undefined ? newTokenText(hub) : readImported(body.value, weak);
  await hub.db.transaction().execute(async (tx) => {
    const now = hub.clock.now();
    if ((await findToken(tx, hub.vault, name)) !== undefined)
      throw new RollcallError('secret_exists', { secret: name });
    const known = await findDigest(tx, hub.vault.digest(utf8(value)));
    if (known !== undefined) throw new RollcallError('secret_value_known', { secret: known });
    const isWeak = weak && value.length < limits.importedTokenMinCharacters;
    await writeToken(tx, hub.vault, { name, currentVersion: 1, weak: isWeak, createdAtMs: now });
    await writeVersion(hub, tx, name, 1, value);
    const members = await addMembers(hub, tx, name, body.holders ?? []);
    await appendAudit(tx, {
      at: now,
      actor,
      action: body.value === undefined ? 'secret.created' : 'secret.imported',
      target: name,
      outcome: 'done',
      details: { version: 1, holders: members, weak: isWeak },
    });
  });
  await refresh(hub);
  hub.nudgeRotation();
  return showToken(hub, hub.db, name);
}

/** Who holds it from now on, and who does not any more. A host that comes gets the sets of this moment. */
export async function changeHolders(hub: Hub, secret: string, body: HoldersBody, actor: Actor): Promise<SecretRow> {
  await hub.db.transaction().execute(async (tx) => {
    await readToken(hub, tx, secret);
    const removed = body.remove ?? [];
    const latest = await findRotation(tx, hub.vault, secret);
    // Who is let go in the middle of a walk leaves it unseen; `rotation leave` says so, and stays on its record.
    if (removed.length > 0 && latest !== undefined && isRunning(latest)) {
      throw new RollcallError('rotation_running', { hosts: [] });
    }
    for (const member of removed.map(toStored)) {
      if (!(await removeHolder(tx, secret, member))) throw new RollcallError('no_such_holder', { secret, member });
    }
    const added = await addMembers(hub, tx, secret, body.add ?? []);
    if (removed.length > 0) await dropUnheld(hub, tx, secret);
    await appendAudit(tx, {
      at: hub.clock.now(),
      actor,
      action: 'secret.holders_changed',
      target: secret,
      outcome: 'done',
      details: { added, removed },
    });
  });
  await refresh(hub);
  hub.nudgeRotation();
  return showToken(hub, hub.db, secret);
}

/** What is known of it, never its value. */
export async function showToken(hub: Pick<Hub, 'vault'>, db: Db, name: string): Promise<SecretRow> {
  const token = await readToken(hub, db, name);
  const rotation = await findRotation(db, hub.vault, name);
  const running = rotation !== undefined && isRunning(rotation) ? rotation : undefined;
  const versions = await listTokenVersions(db, hub.vault, name);
  return {
    name,
    versions: versions.map(({ version, value, createdAtMs }) => ({
      version,
      scheme: 'token',
      state: value === undefined ? 'destroyed' : stateOf(version, token.currentVersion, running),
      createdAt: toTime(createdAtMs),
      verifyUntil: version === running?.from && running.terms?.narrowByMs ? toTime(running.terms.narrowByMs) : null,
    })),
    holders: (await listHolders(db, hub.vault, name)).map((member) => (member === EVERY_MEMBER ? ALL_HOSTS : member)),
    weak: token.weak,
  };
}

/** By what callers are told to send: those whose turn has come, where one after the other has it. */
function stateOf(
  version: number,
  currentVersion: number,
  running: Rotation | undefined,
): 'current' | 'next' | 'previous' {
  if (running === undefined) return version === currentVersion ? 'current' : 'previous';
  const sent = phases[running.phase].callerPresents.after === 'new' ? running.to : running.from;
  if (version === sent) return 'current';
  return running.phase === 'planned' || running.phase === 'widening' ? 'next' : 'previous';
}

/** A new value, written as the given version. */
export async function drawVersion(hub: Hub, tx: Tx, secret: string, version: number): Promise<void> {
  await writeVersion(hub, tx, secret, version, newTokenText(hub));
}

export async function readToken(hub: Pick<Hub, 'vault'>, db: Db, name: string): Promise<TokenRecord> {
  const token = await findToken(db, hub.vault, name);
  if (token === undefined) throw new RollcallError('secret_unknown', { secret: name });
  return token;
}

/** Each host's own: there is none of this name that several could hold (design 5). */
const HOST_TOKEN = 'host-token';

function newTokenText(hub: Pick<Hub, 'random'>): string {
  return encodeToken('rcf', hub.random(32));
}

/** Judged by the very verifier that is to take it: what it would refuse is never stored. */
function readImported(text: string, weak: boolean): string {
  const bytes = decodeBase64url(text);
  const value = bytes === undefined ? undefined : decodeUtf8(bytes);
  if (value === undefined) throw new RollcallError('malformed_token');
  createTokenVerifier({ current: { version: 1, value }, weak });
  return value.trim();
}

async function writeVersion(hub: Hub, tx: Tx, secret: string, version: number, text: string): Promise<void> {
  const bytes = utf8(text);
  await writeTokenVersion(tx, hub.vault, {
    secret,
    version,
    value: new SecretBytes('token', bytes),
    digest: hub.vault.digest(bytes),
    createdAtMs: hub.clock.now(),
  });
}

async function addMembers(hub: Hub, tx: Tx, secret: string, names: readonly string[]): Promise<readonly string[]> {
  const members = names.map(toStored);
  for (const member of members) {
    if (member === EVERY_MEMBER) {
      // Whoever means that one host would give the token to all of them.
      if (await isOnRoll(hub, tx, ALL_HOSTS)) throw new RollcallError('malformed_member', { hint: ONE_IS_CALLED_ALL });
    } else if (!member.startsWith(CALLER_PREFIX) && !(await isOnRoll(hub, tx, member))) {
      throw new RollcallError('host_unknown', { host: member });
    }
    await addHolder(tx, hub.vault, secret, member);
  }
  const hosts = members.includes(EVERY_MEMBER)
    ? (await listRoll(tx, hub.vault)).map(({ id }) => id)
    : members.filter((member) => !member.startsWith(CALLER_PREFIX));
  await assertRoom(hub, tx, hosts);
  await takeBack(hub, tx, [secret], [...hosts, ...members]);
  await issueTokenSteps(hub, tx, secret, hosts);
  return members;
}

/** A beat that carries more than are taken would be refused, and with it everything that the host could prove. */
async function assertRoom(hub: Hub, tx: Tx, hosts: readonly string[]): Promise<void> {
  const full: string[] = [];
  for (const host of [EVERY_MEMBER, ...hosts]) {
    if ((await listHeldTokens(tx, hub.vault, host)).length > limits.namedSecrets) full.push(host);
  }
  if (full.length > 0)
    throw new RollcallError('held_secrets_full', { hosts: full.filter((host) => host !== EVERY_MEMBER) });
}

const ONE_IS_CALLED_ALL =
  'A host is called `all`, so the word could mean it or every host. Name the hosts, or give that host another id.';

async function isOnRoll(hub: Hub, tx: Tx, id: string): Promise<boolean> {
  const host = await findHost(tx, hub.vault, id);
  return host !== undefined && host.status !== 'removed';
}

/** As it is stored. */
function toStored(text: string): string {
  const member = parseMember(text);
  return member === ALL_HOSTS ? EVERY_MEMBER : member;
}
