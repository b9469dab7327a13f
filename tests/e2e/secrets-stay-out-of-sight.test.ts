/**
 * No answer, log, output, argument or file outside the stores of secrets shows one (I3, I12): a fleet lives through
 * everything that an operator can do, and then all bytes that it let out are searched.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { deriveHostKey, deriveSsoSeed, enrolmentKey, parseToken, purposes } from '@rollcall/core/keys';
import { generateWrapKey, type WrapKeyPair } from '@rollcall/core/seal';
import { type HubStatusAnswer, type OperatorToken, routes } from '@rollcall/wire';
import { beforeAll, describe, expect, it } from 'vitest';
import { exchange } from './harness/exchange.ts';
import { type Fleet, readHubRootFile, readToken } from './harness/fleet.ts';
import { bearerOf, createRawHost, enrolRawHost, type RawHost, random, randomMaster } from './harness/raw-host.ts';
import { createRecorder } from './harness/recorder.ts';
import { formsOf, type KnownSecret, scanForSecrets } from './harness/secret-scan.ts';
import { useFleet } from './harness/use-fleet.ts';

const planted = randomMaster();
const fleet = useFleet({
  master: planted,
  hubFlags: ['--beat', '200ms', '--first-use-min-age', '1ms', '--operators', '127.0.0.1:0'],
});
const hosts = ['raw-1', 'raw-2', 'agent-1', 'old-1', 'old-2', 'invited'];
const lives = [1, 2, 3, 4];
const masters = new Map<number, Uint8Array>();
const tokens: string[] = [];
const operatorTokens: string[] = [];
const hostTokens: string[] = [];
const wrapKeys: WrapKeyPair[] = [];

beforeAll(() => liveThroughEverything(fleet()), 120_000);

describe('the scanner', () => {
  it.each(formsOf(Buffer.from(planted)))('finds a secret that is planted as $form', ({ needle }) => {
    for (const [before, after] of [
      ['', ''],
      ['x', 'yz'],
      ['{"a":"', '"}'],
    ] as const) {
      const recorder = createRecorder();
      recorder.keep('response', 'planted', Buffer.concat([Buffer.from(before), needle, Buffer.from(after)]));
      expect(scanForSecrets(recorder.all(), [{ name: 'master', bytes: planted }])).not.toEqual([]);
    }
  });

  it('finds one inside base64 of something longer, at any offset, and across the pieces of a stream', () => {
    for (const offset of [0, 1, 2, 3, 7]) {
      const text = Buffer.concat([random(offset), planted, random(5)]);
      const recorder = createRecorder();
      const stream = recorder.stream('stderr', 'planted');
      const encoded = Buffer.from(text.toString('base64url'));
      for (let at = 0; at < encoded.length; at += 10) stream.push(encoded.subarray(at, at + 10));
      expect(scanForSecrets(recorder.all(), [{ name: 'master', bytes: planted }])).not.toEqual([]);
    }
  });

  it('finds nothing in what holds nothing', () => {
    const recorder = createRecorder();
    recorder.keep('response', 'noise', random(100_000));
    expect(scanForSecrets(recorder.all(), [{ name: 'master', bytes: planted }])).toEqual([]);
  });
});

describe('everything that the fleet let out', () => {
  it('is a great deal, from every listener, program and file', () => {
    const recorded = fleet().recorder.all();
    const count = (from: string) => recorded.filter((record) => record.from === from && record.bytes.length > 0).length;
    expect(count('response')).toBeGreaterThan(100);
    expect(count('stdout')).toBeGreaterThan(20);
    expect(count('stderr')).toBeGreaterThan(2);
    expect(count('arguments')).toBeGreaterThan(20);
    expect(count('file')).toBeGreaterThan(2);
    expect([...masters.keys()]).toEqual([1, 2, 3]);
    // Every route of every listener was asked.
    const asked = new Set(recorded.filter(({ from }) => from === 'response').map(({ label }) => label));
    const isAsked = (method: string, path: string) =>
      [...asked].some((label) => new RegExp(`^${method} ${path.replaceAll(/:[a-z]+/g, '[^/]+')}(\\?.*)?$`).test(label));
    const missing = Object.values(routes).filter(({ method, path }) => !isAsked(method, path));
    expect(missing.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
  });

  it('holds no master, derived key, enrolment secret or private key, in any form', () => {
    const secrets = allSecrets(fleet());
    expect(secrets.length).toBeGreaterThan(100);
    expect(scanForSecrets(fleet().recorder.all(), secrets)).toEqual([]);
  });

  it('holds the value of an operator’s token where it was shown, and in no other form anywhere', () => {
    const secrets = operatorTokens.map((text, index) => ({ name: `${index}`, bytes: parseToken('rco', text) }));
    // Where a value has no character that tells the two alphabets apart, its one text is found as both.
    const isOneText = (name: string) =>
      !/[+/]/.test(Buffer.from(secrets[Number(name)]?.bytes ?? []).toString('base64'));
    const found = scanForSecrets(fleet().recorder.all(), secrets).map(
      ({ secret, form, where }) => `${isOneText(secret) ? form.replace('base64+', 'base64url+') : form}, ${where}`,
    );
    expect([...new Set(found)].sort()).toEqual([
      'base64url+0, response of POST /v1/operators',
      'base64url+0, stdout of rollcall operator add',
      'base64url+0, stdout of rollcall operator rotate-token',
    ]);
  });

  it('holds the value of a token of a host nowhere in any other form', () => {
    const secrets = hostTokens.map((text, index) => ({ name: `${index}`, bytes: parseToken('rch', text) }));
    expect(secrets).toHaveLength(3);
    const isShown = (where: string) => /POST \/v1\/hosts|rollcall host (?:add|token)$/.test(where);
    const found = scanForSecrets(fleet().recorder.all(), secrets);
    expect(found.filter(({ form, where }) => !isShown(where) || !form.startsWith('base64'))).toEqual([]);
    expect(found.length).toBeGreaterThanOrEqual(secrets.length);
  });

  it('would have shown one: what a host was sealed is found as soon as it is opened', () => {
    const recorder = createRecorder();
    const bearer = bearerOf(masters.get(3) ?? random(32), 'raw-1', 1);
    recorder.keep('stderr', 'a careless log', Buffer.from(`level=info authorization="Bearer ${bearer}"`));
    const found = scanForSecrets(recorder.all(), allSecrets(fleet()));
    expect(found).toContainEqual({
      secret: 'heartbeat key of raw-1, life 1, generation 3',
      form: 'base64url+0',
      where: 'stderr of a careless log',
    });
  });

  it('holds a token in the answer of the verb that made it, and nowhere else', () => {
    expect(whereTokens('rce')).toEqual([
      'response of POST /v1/hosts',
      'response of POST /v1/hosts/raw-2/reenrol',
      'stdout of rollcall host add',
      'stdout of rollcall host reenrol',
    ]);
    expect(whereTokens('rco')).toEqual([
      'response of POST /v1/operators',
      'stdout of rollcall operator add',
      'stdout of rollcall operator rotate-token',
    ]);
    expect(whereTokens('rch')).toEqual([
      'response of POST /v1/hosts',
      'response of POST /v1/hosts/raw-1/tokens',
      'stdout of rollcall host add',
      'stdout of rollcall host token',
    ]);
    for (const prefix of ['rcb', 'rcc', 'rcf']) expect(whereTokens(prefix)).toEqual([]);
  });
});

/** Operators who come over TCP: with a token that is good, one that is not any more, and one that never was. */
async function operatorsWork(at: Fleet): Promise<void> {
  const { operatorsAddress } = await at.ask<HubStatusAnswer>('GET', '/v1/status');
  const added = await at.rollcall('operator', 'add', 'ada', '--role', 'operator', '--json');
  const ada = added.json<OperatorToken>().token;
  const grace = (await at.ask<OperatorToken>('POST', '/v1/operators', { name: 'grace', role: 'operator' })).token;
  const rotated = await at.rollcall('operator', 'rotate-token', 'grace');
  const again = /rco_[A-Za-z0-9_-]+/.exec(rotated.stdout)?.[0];
  if (again === undefined) throw new Error('no token was shown');
  operatorTokens.push(ada, grace, again);
  for (const [index, token] of [...operatorTokens, `${ada.slice(0, -1)}x`].entries()) {
    const file = at.write(`operator-${index}.token`, token);
    const to = ['--hub', `https://${operatorsAddress}`, '--token-file', file, '--hub-root-file', at.files.hubRoot];
    await Promise.all([at.rollcall('host', 'list', ...to), at.rollcall('operator', 'list', ...to, '--json')]);
  }
  await at.rollcall('operator', 'remove', 'ada', '--yes');
  await at.rollcall('operator', 'list', '--json');
}

/** A host without an agent: its tokens are good, then ended, and sent in vain in every place where they do not belong. */
async function hostWithoutAgentWorks(at: Fleet): Promise<void> {
  const added = await at.rollcall('host', 'add', 'printer-1', '--token');
  const first = /rch_[A-Za-z0-9_-]+/.exec(added.stdout)?.[0];
  const issued = await at.rollcall('host', 'token', 'printer-1', '--json');
  const second = issued.json<{ token: string; id: string }>();
  const other = (await at.ask<{ token: string }>('POST', '/v1/hosts', { host: 'printer-2', token: true })).token;
  if (first === undefined) throw new Error('no token was shown');
  hostTokens.push(first, second.token, other);
  const ask = (method: string, path: string, authorization: string, id: string) => {
    const headers = [
      ['Authorization', authorization],
      ['X-Rollcall-Host', id],
    ] as const;
    return exchange({ port: at.port }, { method, path, headers }, at.recorder);
  };
  for (const token of hostTokens) {
    for (const id of ['printer-1', 'raw-1', 'nobody']) {
      await ask('GET', '/v1/whoami', `Bearer ${token}`, id);
      await ask('POST', '/v1/heartbeat', `Bearer ${token}`, id);
    }
    await ask('GET', '/v1/whoami', token, 'printer-1');
  }
  for (const words of [
    ['host', 'show', 'printer-1'],
    ['host', 'token', 'printer-1'],
    ['host', 'drop-token', 'printer-1', second.id, '--yes'],
    ['host', 'token', 'nobody'],
  ]) {
    await at.rollcall(...words, ...(words[1] === 'token' ? ['--quiet'] : ['--json']));
  }
  // Neither can be pinned, and a rotation of the master would wait for both.
  await at.rollcall('host', 'evict', 'printer-2', '--yes');
  await at.rollcall('host', 'remove', 'printer-1', '--yes');
}

function whereTokens(prefix: string): readonly string[] {
  const token = new RegExp(`${prefix}_[A-Za-z0-9_-]{22,}`);
  const showing = fleet()
    .recorder.all()
    .filter(({ bytes }) => token.test(bytes.toString('latin1')));
  return [...new Set(showing.map(({ from, label }) => `${from} of ${label}`))].sort();
}

async function liveThroughEverything(at: Fleet): Promise<void> {
  const raw = await enrolRawHost(at, 'raw-1');
  let other = await enrolRawHost(at, 'raw-2');
  wrapKeys.push(raw.wrapKey, other.wrapKey);
  const agent = await at.enrolAgent('agent-1');
  tokens.push(readFileSync(join(at.dir, 'agent-1.token'), 'utf8'));
  const added = await at.rollcall('host', 'add', 'invited');
  const shown = /rce_[A-Za-z0-9_-]+/.exec(added.stdout)?.[0];
  if (shown === undefined) throw new Error('no token was shown');
  tokens.push(shown);
  await firstUse(at);
  keepMasters(at);

  // Questions, as a person and as a program.
  for (const command of [
    ...['hub status', 'hub readiness', 'host list', 'host show agent-1', 'pin list', 'pin show agent-1'],
    ...['pin exposure', 'secret list', 'rotation list', 'rotation status', 'audit list', 'host show nobody'],
    `agent status --state ${at.stateOf('agent-1')}`,
  ]) {
    const words = command.split(' ');
    await Promise.all([at.rollcall(...words), at.rollcall(...words, '--json')]);
  }
  for (const path of ['/healthz', '/readyz', '/version', '/v1/trust-bundle', '/v1/nothing']) {
    await exchange({ port: at.port }, { method: 'GET', path }, at.recorder);
  }

  await operatorsWork(at);
  await hostWithoutAgentWorks(at);

  // Everything that goes wrong.
  await raw.beat({ bearer: bearerOf(planted, 'raw-2', 1) });
  await raw.beat({ body: { host: 'raw-2' } });
  await raw.beat({ body: { seq: -1 } });
  await raw.beat({ wrapKey: { suite: 'x25519', public: Buffer.from(planted).toString('base64url') } });
  await at.rollcall('secret', 'import', 'master', '--file', at.write('again', planted));
  await at.askRaw('POST', '/v1/secrets', { name: 'master', value: Buffer.from(planted).toString('base64url') });
  await at.askRaw('POST', '/v1/secrets', { name: 7, value: Buffer.from(planted).toString('base64url') });
  await createRawHost(at, 'invited', readHubRootFile(at).root).enrol(tokens[0] ?? '');

  // Changes of trust.
  const next = generateWrapKey(random);
  wrapKeys.push(next);
  await raw.beat({ wrapKey: next });
  await at.ask('GET', '/v1/pins');
  await at.askRaw('POST', '/v1/pins/raw-1/reject', { fingerprint: next.public.fingerprint });
  await at.rollcall(
    'pin',
    'confirm',
    'old-1',
    '--fingerprint',
    (await at.host('old-1')).pin?.fingerprint ?? '',
    '--json',
  );
  await raw.beat({ wrapKey: next });
  await at.rollcall('pin', 'approve', 'raw-1', '--fingerprint', next.public.fingerprint, '--yes');
  raw.wrapKey = next;
  await raw.settle();
  const reenrolled = await at.ask<{ token: string }>('POST', '/v1/hosts/raw-2/reenrol', {});
  tokens.push(reenrolled.token);
  other = createRawHost(at, 'raw-2', readToken(reenrolled.token).root);
  await other.enrol(reenrolled.token);
  await other.settle();
  await at.rollcall('host', 'reenrol', 'agent-1');
  await at.rollcall('host', 'evict', 'old-2', '--yes');
  await at.ask('POST', '/v1/hosts/old-2/remove');
  await at.ask('POST', '/v1/hosts/invited/evict', { ban: true });
  await at.rollcall('host', 'remove', 'invited', '--yes');

  // Two rotations, the second after a leak; a restart and a kill between.
  await rotate(at, [raw, other]);
  await at.hub().kill('SIGTERM');
  await at.startHub();
  await agent.kill('SIGKILL');
  at.startAgent('agent-1', '--enrol', join(at.dir, 'agent-1.token'));
  await rotate(at, [raw, other], '--reason', 'leak', '--narrow-by', '2h');
  await at.askRaw('POST', '/v1/rotations/master/retire', { now: true, leave: ['old-1'] });
  await at.askRaw('POST', '/v1/rotations/master/advance', {});
  await raw.settle();
  await askEveryRoute(at);
  keepFiles(at);
}

async function firstUse(at: Fleet): Promise<void> {
  const { root } = readHubRootFile(at);
  for (const id of ['old-1', 'old-2']) {
    await at.addHost(id, { existing: true });
    const host = createRawHost(at, id, root, bearerOf(planted, id, 1));
    wrapKeys.push(host.wrapKey);
    await host.beat();
    await at.waitUntil('it is eligible', async () => {
      const { eligible } = await at.ask<{ eligible: { id: string }[] }>('GET', '/v1/first-use');
      return eligible.some((seen) => seen.id === id);
    });
    await at.rollcall('pin', 'accept-first-use', 'on', '--until', '1h', '--exposed', '9');
    await host.settle();
  }
  await at.rollcall('pin', 'accept-first-use', 'off');
  await at.ask('PUT', '/v1/first-use', { on: false });
}

async function rotate(at: Fleet, raws: readonly RawHost[], ...flags: readonly string[]): Promise<void> {
  const started = await at.rollcall('rotation', 'start', 'master', ...flags);
  if (started.code !== 0) throw new Error(started.stderr);
  keepMasters(at);
  const wanted = [...masters.keys()].at(-1);
  await at.waitUntil('everyone has come along', async () => {
    for (const host of raws) await host.settle();
    const proven = await Promise.all(['raw-1', 'raw-2', 'agent-1'].map((id) => at.host(id)));
    return proven.every((host) => host.proven['master']?.version === wanted);
  });
  const retired = await at.rollcall('rotation', 'retire', '--now', '--leave', 'old-1', '--yes');
  if (flags.length === 0 && retired.code !== 0) throw new Error(retired.stderr + retired.stdout);
}

/** Once, by each of its methods: whatever it answers is kept. */
async function askEveryRoute(at: Fleet): Promise<void> {
  for (const { listener, method, path } of Object.values(routes)) {
    const filled = path.replace(':host', 'raw-1').replace(':id', 'master').replace(':name', 'nobody');
    const isDone = /^\/v1\/hosts\/.*(?:evict|remove|reenrol)$/.test(path);
    if (listener === 'operator' && !isDone) await at.askRaw(method, filled, method === 'GET' ? undefined : {});
    if (listener === 'fleet') await exchange({ port: at.port }, { method, path: filled }, at.recorder);
    if (listener === 'agent') {
      await exchange({ socket: join(at.stateOf('agent-1'), 'agent.sock') }, { method, path }, at.recorder);
    }
    if (listener === 'metrics') at.recorder.keep('response', `${method} ${path}`, Buffer.from(await at.metrics()));
  }
}

function keepMasters(at: Fleet): void {
  for (const [version, master] of at.store().masters()) masters.set(version, master);
}

/** All that lies in the directory of the hub, and outside of the stores of secrets. */
function keepFiles(at: Fleet): void {
  const dir = join(at.files.database, '..');
  for (const name of readdirSync(dir)) {
    const path = join(dir, name);
    if (statSync(path).isFile()) at.recorder.keep('file', name, readFileSync(path));
  }
}

function allSecrets(at: Fleet): readonly KnownSecret[] {
  const read = (file: string) => Uint8Array.from(Buffer.from(readFileSync(file, 'utf8').trim(), 'base64url'));
  const derived = [...masters].flatMap(([version, master]) => [
    { name: `master ${version}`, bytes: master },
    { name: `sso seed ${version}`, bytes: deriveSsoSeed(master) },
    ...hosts.flatMap((host) =>
      lives.flatMap((life) =>
        purposes.map((purpose) => ({
          name: `${purpose} key of ${host}, life ${life}, generation ${version}`,
          bytes: deriveHostKey(master, purpose, host, life),
        })),
      ),
    ),
  ]);
  const ofTokens = tokens.flatMap((token, index) => {
    const { secret } = readToken(token);
    return [
      { name: `enrolment secret ${index}`, bytes: secret.reveal() },
      { name: `enrolment key ${index}`, bytes: enrolmentKey(secret) },
    ];
  });
  return [
    ...derived,
    ...wrapKeys.map((pair, index) => ({ name: `wrap key ${index}`, bytes: pair.private.reveal() })),
    ...at.store().hubSecrets(),
    { name: 'key-encryption key', bytes: read(at.files.kek) },
    { name: 'hub root', bytes: read(at.files.offlineKey) },
    ...ofTokens,
  ];
}
