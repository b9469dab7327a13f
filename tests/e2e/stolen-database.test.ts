/**
 * Whoever has stolen the database, its journals and its logs, and not the key-encryption key (design 3): no secret is in it, in any
 * form, nor a digest by which a guess could be tried; it starts nowhere; and what is written into it is not believed.
 */
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { deriveHostKey, enrolmentKey, parseToken, purposes } from '@rollcall/core/keys';
import { generateWrapKey } from '@rollcall/core/seal';
import type { OperatorToken } from '@rollcall/wire';
import { beforeAll, describe, expect, it } from 'vitest';
import { startChild } from './harness/child.ts';
import { readToken } from './harness/fleet.ts';
import { bearerOf, enrolRawHost, type RawHost, random, randomMaster, recipientsIn } from './harness/raw-host.ts';
import type { Recorded } from './harness/recorder.ts';
import { type KnownSecret, scanForSecrets } from './harness/secret-scan.ts';
import { openStore, type Store } from './harness/store.ts';
import { useFleet } from './harness/use-fleet.ts';

const planted = randomMaster();
const fleet = useFleet({ master: planted, hubFlags: ['--beat', '200ms'] });
const masters = new Map<number, Uint8Array>([[1, planted]]);
const tokens: string[] = [];
const operatorTokens: string[] = [];
const hostTokens: string[] = [];
/** What lay on the disk at several moments: with the journal full, in the middle of a rotation, after the hub was killed. */
const thefts: (readonly Recorded[])[] = [];
let host: RawHost;

beforeAll(async () => {
  const at = fleet();
  host = await enrolRawHost(at, 'web-1');
  for (const name of ['ada', 'grace']) {
    const added = await at.rollcall('operator', 'add', name, '--role', 'admin', '--json');
    operatorTokens.push(added.json<OperatorToken>().token);
  }
  const rotated = await at.rollcall('operator', 'rotate-token', 'grace', '--json');
  operatorTokens.push(rotated.json<OperatorToken>().token);
  tokens.push(await at.addHost('invited'));
  hostTokens.push(await at.addHost('printer-1', { token: true }));
  hostTokens.push((await at.ask<{ token: string }>('POST', '/v1/hosts/printer-1/tokens')).token);
  thefts.push(steal('with invitations open'));
  for (const generation of [2, 3]) {
    expect((await at.rollcall('rotation', 'start', 'master', '--leave', 'invited', 'printer-1')).code).toBe(0);
    thefts.push(steal(`at the start of the rotation to ${generation}`));
    for (const [version, master] of withStore((store) => store.masters())) masters.set(version, master);
    await at.waitUntil(`web-1 has proven ${generation}`, async () => {
      await host.settle();
      return (await at.host('web-1')).proven['master']?.version === generation;
    });
    await at.rollcall('rotation', 'retire', '--now', '--yes');
    await at.waitUntil('the rotation is done', async () => {
      await host.settle();
      return (await at.rotation()).rotation.phase === 'done';
    });
    thefts.push(steal(`after the rotation to ${generation}`));
  }
  await at.ask('POST', '/v1/hosts/web-1/reenrol', {});
  await at.hub().kill('SIGKILL');
  thefts.push(steal('after it was killed'));
  await at.startHub();
}, 120_000);

describe('a stolen database', () => {
  it('was stolen whole, at six moments, with its journals', () => {
    expect([...masters.keys()]).toEqual([1, 2, 3]);
    expect(thefts.map((files) => files.map(({ label }) => label.split(' ')[0]).sort())).toEqual(
      Array(6).fill(['hub.db', 'hub.db-shm', 'hub.db-wal', 'stderr']),
    );
    // That is where the rows are: what a host is called stands there in clear.
    const holds = (text: string) => thefts.every((files) => files.some(({ bytes }) => bytes.includes(text)));
    expect([holds('web-1'), holds('web-9')]).toEqual([true, false]);
  });

  it('holds no secret of any generation, in any form', () => {
    const secrets = allSecrets();
    expect(secrets.length).toBeGreaterThan(30);
    expect(scanForSecrets(thefts.flat(), secrets)).toEqual([]);
  });

  it('holds no digest of one that a guess could be compared with', () => {
    const digests = allSecrets().flatMap(digestsOf);
    expect(digests.length).toBeGreaterThan(60);
    expect(scanForSecrets(thefts.flat(), digests)).toEqual([]);
  });

  it('would show a secret that was written in clear, and its digest, in its file or in its journal', async () => {
    const secret = { name: 'planted', bytes: random(32) };
    const [digest] = digestsOf(secret);
    const dir = join(fleet().dir, 'planted');
    mkdirSync(dir);
    const file = join(dir, 'hub.db');
    copyFileSync(fleet().files.database, file);
    const store = openStore(file, fleet().files.kek);
    store.run('create table planted (value blob, digest text)');
    store.run('insert into planted values (?, ?)', secret.bytes, Buffer.from(digest?.bytes ?? []).toString('base64'));
    const stolen = [file, `${file}-wal`].filter(existsSync).map((path) => read(path, 'planted'));
    const found = scanForSecrets(stolen, [secret, ...digestsOf(secret)]);
    store.close();
    expect(found.map(({ secret: name, form }) => `${name} as ${form}`)).toEqual(
      expect.arrayContaining(['planted as raw', 'sha256 of planted as base64+0']),
    );
  });

  it('starts with no key-encryption key but its own', async () => {
    const dir = join(fleet().dir, 'stolen');
    mkdirSync(dir, { mode: 0o700 });
    await fleet().hub().kill('SIGTERM');
    copyFileSync(fleet().files.database, join(dir, 'hub.db'));
    await fleet().startHub();
    const other = fleet().write('other.kek', `${Buffer.from(random(32)).toString('base64url')}\n`);
    const start = async (kek: string) => {
      const flags = ['--dir', dir, '--kek-file', kek, '--listen', '127.0.0.1:0', '--metrics', '127.0.0.1:0'];
      const child = startChild({ name: 'stolen hub', args: ['hub', 'start', ...flags], recorder: fleet().recorder });
      await fleet().waitUntil('it ends or listens', () => child.hasEnded() || /listens/.test(child.stderr()));
      const hasEnded = child.hasEnded();
      await child.kill('SIGKILL');
      return hasEnded ? /^(\w+):/m.exec(child.stderr())?.[1] : 'listens';
    };
    expect(await start(other)).toBe('kek_wrong');
    expect(await start(join(dir, 'no.kek'))).toBe('config_invalid');
    expect(await start(fleet().files.kek)).toBe('listens');
  });
});

describe('what is written into the database without the key', () => {
  it('is no pin: nothing is sealed to the key of the thief, and the host is named as unreadable', async () => {
    const thief = generateWrapKey(random);
    const [pin] = withStore((store) =>
      store.rows<{ public: Buffer; fingerprint: string }>(`select * from pins where host = 'web-1'`),
    );
    const write = (bytes: Uint8Array, fingerprint: string) =>
      withStore((store) =>
        store.run(`update pins set public = ?, fingerprint = ? where host = 'web-1'`, bytes, fingerprint),
      );
    const restart = async () => {
      await fleet().hub().kill('SIGTERM');
      await fleet().startHub();
    };
    write(thief.public.bytes, thief.public.fingerprint);
    await restart();
    const answer = await host.beat({ wrapKey: thief });
    expect([answer.status, answer.body.includes(thief.public.fingerprint)]).toEqual([503, false]);
    expect((await fleet().rollcall('hub', 'readiness')).code).toBe(3);

    write(Uint8Array.from(pin?.public ?? []), pin?.fingerprint ?? '');
    await restart();
    // What the true host lacks is sealed to its own key, as before.
    host.held = undefined;
    const again = await host.beat({ bearer: bearerOf(masters.get(3) ?? random(32), 'web-1', 1) });
    expect([again.status, recipientsIn(again)]).toEqual([200, [host.wrapKey.public.fingerprint]]);
    expect(host.take(again)).toBe(true);
  });
});

/**
 * Closed at once: while this process has the database open, a look at its files would take away the locks that SQLite holds on
 * them (sqlite.org/howtocorrupt.html §2.2).
 */
function withStore<T>(use: (store: Store) => T): T {
  const store = openStore(fleet().files.database, fleet().files.kek);
  try {
    return use(store);
  } finally {
    store.close();
  }
}

/** All that lies in the directory of the hub, and what it has logged so far. */
function steal(when: string): readonly Recorded[] {
  const { database } = fleet().files;
  const files = [database, `${database}-wal`, `${database}-shm`].filter(existsSync);
  const log = { from: 'stderr' as const, label: `stderr ${when}`, bytes: Buffer.from(fleet().hub().stderr()) };
  return [...files.map((path) => read(path, when)), log];
}

function read(path: string, when: string): Recorded {
  return { from: 'file', label: `${basename(path)} ${when}`, bytes: readFileSync(path) };
}

function allSecrets(): readonly KnownSecret[] {
  const at = fleet();
  const derived = [...masters].flatMap(([version, master]) => [
    { name: `master ${version}`, bytes: master },
    ...purposes.flatMap((purpose) =>
      [1, 2].map((life) => ({
        name: `${purpose} key of web-1, life ${life}, generation ${version}`,
        bytes: deriveHostKey(master, purpose, 'web-1', life),
      })),
    ),
  ]);
  const ofTokens = tokens.flatMap((text, index) => {
    const { secret } = readToken(text);
    return [
      { name: `enrolment token ${index}`, bytes: Buffer.from(text) },
      { name: `enrolment secret ${index}`, bytes: secret.reveal() },
      { name: `enrolment key ${index}`, bytes: enrolmentKey(secret) },
    ];
  });
  return [
    ...derived,
    ...ofTokens,
    ...operatorTokens.flatMap((text, index) => [
      { name: `operator token ${index}`, bytes: Buffer.from(text) },
      { name: `value of operator token ${index}`, bytes: parseToken('rco', text) },
    ]),
    ...hostTokens.flatMap((text, index) => [
      { name: `host token ${index}`, bytes: Buffer.from(text) },
      { name: `value of host token ${index}`, bytes: parseToken('rch', text) },
    ]),
    { name: 'wrap key', bytes: host.wrapKey.private.reveal() },
    { name: 'key-encryption key', bytes: Buffer.from(readFileSync(at.files.kek, 'utf8').trim(), 'base64url') },
    ...withStore((store) => store.hubSecrets()),
  ];
}

/** Without a key: whoever has the file can make them of a guess. Of the bytes, and of the text in which a token is sent. */
function digestsOf({ name, bytes }: KnownSecret): readonly KnownSecret[] {
  return Object.entries({ '': bytes, 'the text of ': Buffer.from(bytes).toString('base64url') }).map(
    ([form, input]) => ({
      name: `sha256 of ${form}${name}`,
      bytes: createHash('sha256').update(input).digest(),
    }),
  );
}
