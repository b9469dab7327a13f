/**
 * An agent that shares no code with Rollcall: `agent.sh`, in shell, over openssl and curl, written from docs/PROTOCOL.md. It derives
 * what the vectors say, enrols, is proven, and checks what the hub signs.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { concatBytes, joinNul } from '@rollcall/core/bytes';
import { canonicalJson, type JsonValue } from '@rollcall/core/json';
import { encodeToken } from '@rollcall/core/keys';
import type { EnrolAnswer, HeartbeatAnswer } from '@rollcall/wire';
import { beforeAll, describe, expect, it } from 'vitest';
import { root } from '../harness/child.ts';
import { readHubRootFile } from '../harness/fleet.ts';
import { randomMaster } from '../harness/raw-host.ts';
import { findTool, runTool } from '../harness/tool.ts';
import { readBundlePem } from '../harness/trust-bundle.ts';
import { useFleet } from '../harness/use-fleet.ts';

const missing = ['sh', 'openssl', 'curl'].filter((tool) => findTool(tool) === undefined);
if (missing.length > 0) console.warn(`${missing.join(', ')} is not installed: the agent in shell is not run`);

const openssl = findTool('openssl') ?? '';
const script = join(import.meta.dirname, 'agent.sh');
const master = randomMaster();
const fleet = useFleet({ master });
let masterFile: string;
let bundleFile: string;
let hub: string;

// Skipped where there is no shell, openssl or curl: an agent in shell is made of them.
describe.skipIf(missing.length > 0)('an agent in shell', () => {
  beforeAll(async () => {
    masterFile = fleet().write('shell.master', master);
    bundleFile = fleet().write('shell.bundle', await readBundlePem(fleet()));
    hub = `https://127.0.0.1:${fleet().port}`;
  });

  it('derives the bearer that the vectors have', async () => {
    const heartbeats = readVectors().derivation.filter(({ purpose }) => purpose === 'heartbeat');
    expect(heartbeats.length).toBeGreaterThan(0);
    for (const { master: given, host, life, key } of heartbeats) {
      const file = fleet().write('vector.master', Buffer.from(given, 'hex'));
      const expected = encodeToken('rcb', Uint8Array.from(Buffer.from(key, 'hex')));
      expect(await run('bearer', file, host, String(life))).toBe(expected);
    }
  });

  it('beats as a host of an older fleet that holds the master, and as no other', async () => {
    await fleet().addHost('older', { existing: true });
    const dir = makeDir('older');
    expect(await beat({ host: 'older', dir })).toBe('200');
    expect(readAnswer<HeartbeatAnswer>(dir).pin).toEqual({ state: 'not_accepted' });
    expect(await beat({ host: 'older', dir, life: 2 })).toBe('401');
    expect(await beat({ host: 'nobody', dir })).toBe('401');
    const wrong = fleet().write('wrong.master', randomMaster());
    expect(await beat({ host: 'older', dir, master: wrong })).toBe('401');
    expect(await beat({ host: 'older', dir })).toBe('200');
    expect(await fleet().host('older')).toMatchObject({ status: 'active', fresh: true, rung: 'derived' });
  });

  it('enrols with a token, pinned to the key in it, and is proven by the bearer and the step that it holds', async () => {
    const token = fleet().write('shell.token', await fleet().addHost('shell-1'));
    const dir = makeDir('shell-1');
    const [spki = new Uint8Array()] = readHubRootFile(fleet()).spki;
    const right = `sha256//${Buffer.from(spki).toString('base64')}`;
    const wrong = `sha256//${Buffer.alloc(32, 1).toString('base64')}`;
    // Without the right key nothing is sent; a proof for another host is refused; both times the token is still good.
    await expect(run('enrol', token, wrong, 'shell-1', dir)).rejects.toThrow(/does not match pinned/);
    expect(await run('enrol', token, right, 'shell-2', dir)).toBe('401');
    expect(await run('enrol', token, right, 'shell-1', dir)).toBe('200');
    const { trustDomain, deliveries } = readAnswer<EnrolAnswer>(dir);
    expect(trustDomain).toBe(readHubRootFile(fleet()).trustDomain);
    const [delivery] = deliveries;
    expect((await fleet().host('shell-1')).proven['master']).toBeUndefined();
    writeFileSync(join(dir, 'held.json'), JSON.stringify({ master: { epoch: delivery?.epoch, step: delivery?.step } }));
    expect(await beat({ host: 'shell-1', dir })).toBe('200');
    expect(await fleet().host('shell-1')).toMatchObject({
      pin: { anchor: 'enrolment' },
      proven: { master: { version: 1 } },
    });
    expect(readAnswer<HeartbeatAnswer>(dir)).toMatchObject({ pin: { state: 'pinned' }, deliveries: [] });
  });

  it('verifies by openssl what the hub signs: its key by the root, a statement by the key, and no other bytes', async () => {
    const dir = makeDir('older');
    expect(await beat({ host: 'older', dir })).toBe('200');
    const [statement] = readAnswer<HeartbeatAnswer>(dir).statements as unknown as Statement[];
    if (statement === undefined) throw new Error('the hub said nothing');
    const { hubKey, kind, body, epoch, time, sig } = statement;
    const { root: hubRoot, spki } = readHubRootFile(fleet());
    const keyMessage = joinNul('rollcall/hub-key/v1', hubKey.kid, bytes(hubKey.public), String(hubKey.serial));
    expect(await verifies(hubRoot, keyMessage, bytes(hubKey.rootSig))).toBe(true);
    expect(await verifies(bytes(hubKey.public), keyMessage, bytes(hubKey.rootSig))).toBe(false);
    const message = joinNul('rollcall/statement/v1', kind, canonicalJson({ body, epoch, time }));
    expect(await verifies(bytes(hubKey.public), message, bytes(sig))).toBe(true);
    expect(await verifies(bytes(hubKey.public), concatBytes(message, Uint8Array.of(32)), bytes(sig))).toBe(false);
    expect([kind, body]).toEqual([
      'tls-spki',
      expect.objectContaining({ current: Buffer.from(spki[0] ?? []).toString('base64url') }),
    ]);
  });
});

interface Statement {
  readonly kind: string;
  readonly epoch: number;
  readonly time: string;
  readonly body: JsonValue;
  readonly hubKey: {
    readonly kid: string;
    readonly public: string;
    readonly serial: number;
    readonly rootSig: string;
  };
  readonly sig: string;
}

interface Vectors {
  readonly derivation: readonly {
    readonly master: string;
    readonly purpose: string;
    readonly host: string;
    readonly life: number;
    readonly key: string;
  }[];
}

let seq = 0;

async function beat(given: {
  readonly host: string;
  readonly dir: string;
  readonly life?: number;
  readonly master?: string;
}): Promise<string> {
  seq += 1;
  const life = String(given.life ?? 1);
  return run('beat', given.master ?? masterFile, life, hub, bundleFile, given.host, String(seq), given.dir);
}

async function run(...args: readonly string[]): Promise<string> {
  const ran = await runTool('sh', [script, ...args]);
  if (ran.code !== 0) throw new Error(`agent.sh ${args[0]}: ${ran.code} ${ran.stderr}`);
  return ran.stdout.toString('latin1').trim();
}

function makeDir(host: string): string {
  const dir = join(fleet().dir, `shell-${host}`);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  return dir;
}

function readAnswer<T>(dir: string): T {
  return JSON.parse(readFileSync(join(dir, 'answer.json'), 'utf8')) as T;
}

function readVectors(): Vectors {
  return JSON.parse(readFileSync(join(root, 'tests', 'vectors', 'rollcall-v1.json'), 'utf8')) as Vectors;
}

function bytes(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, 'base64url'));
}

/** RFC 8410 §4: what stands before the 32 bytes of an Ed25519 key in a SubjectPublicKeyInfo. */
const ED25519_SPKI = Buffer.from('302a300506032b6570032100', 'hex');

async function verifies(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): Promise<boolean> {
  const files = ['-pubin', '-keyform', 'DER', '-inkey', fleet().write('k', Buffer.concat([ED25519_SPKI, publicKey]))];
  const signed = ['-in', fleet().write('m', message), '-sigfile', fleet().write('s', signature)];
  return (await runTool(openssl, ['pkeyutl', '-verify', '-rawin', ...files, ...signed])).code === 0;
}
