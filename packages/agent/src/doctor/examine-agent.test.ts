/** Misconfigurations that are seeded into a real state directory and around it, each found with its remedy, leaving no trace. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeHubRootFile } from '@rollcall/core/keys';
import { createHubRoot } from '@rollcall/core/seal';
import type { Examination } from '@rollcall/wire';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemFiles } from '../adapters/system-files.ts';
import { durableState, random } from '../fleet.fixture.ts';
import { examineAgent } from '../main.ts';
import { type DurableState, encodeDurableState } from '../state/durable-state.ts';
import { prepareDirectory } from '../state/load.ts';
import { createPersist } from '../state/persist.ts';
import { issueHubCertificate, type Listening, makeAuthority, serveHub } from '../tls-hub.fixture.ts';

const authority = makeAuthority();
const certificate = issueHubCertificate(authority);
let parent: string;
let state: string;
let hub: Listening;
/** Set by a test: what the hub's clock shows. */
let date: string | undefined;
const asked: string[] = [];

beforeEach(async () => {
  parent = mkdtempSync(join(tmpdir(), 'rollcall-doctor-'));
  state = join(parent, 'agent');
  date = undefined;
  asked.length = 0;
  hub = await serveHub(certificate, (request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.authorization ?? 'no credential'}`);
    if (date !== undefined) response.setHeader('date', date);
    response.end('{"version":"0.1.0"}');
  });
});

afterEach(async () => {
  await hub.close();
  rmSync(parent, { recursive: true });
});

/** Twice, so that both slots are there. */
async function write(change: Partial<DurableState> = {}, drop: readonly (keyof DurableState)[] = []): Promise<void> {
  const place = { files: systemFiles, directory: state, uid: process.getuid?.() ?? 0 };
  await prepareDirectory(place);
  const persist = createPersist(systemFiles, state, undefined);
  const known = { hubs: [hub.url], roots: [authority.certificateDer], knownSpki: [certificate.spki] };
  const written = Object.entries(durableState({ ...known, ...change })).filter(
    ([name]) => !drop.includes(name as keyof DurableState),
  );
  for (let time = 0; time < 2; time += 1)
    await persist(encodeDurableState(Object.fromEntries(written) as unknown as DurableState));
}

const examine = (options: Partial<Parameters<typeof examineAgent>[0]> = {}) =>
  examineAgent({ stateDir: state, ...options });
const codes = ({ findings }: Examination) => findings.map(({ code }) => code);

function trace(): string {
  const names = readdirSync(parent, { recursive: true }).map(String).sort();
  return names
    .map((name) => `${name} ${JSON.stringify(statSync(join(parent, name), { bigint: false }).mtimeMs)}`)
    .join('\n');
}

describe('a healthy agent', () => {
  it('has no finding, and is left as it was; its hub is asked what anyone may ask', async () => {
    await write();
    const before = trace();
    expect(await examine()).toEqual({ part: 'agent', place: state, isRunning: false, findings: [] });
    expect(trace()).toBe(before);
    expect(asked).toEqual(['GET /version no credential']);
  });

  it('of an older fleet is healthy before it has ever been answered', async () => {
    await write({ assignments: new Map(), life: 1, roots: [] });
    const master = join(parent, 'master');
    writeFileSync(master, 'm'.repeat(40), { mode: 0o600 });
    expect(codes(await examine({ given: [{ key: 'master_file', path: master }] }))).toEqual([]);
  });

  it('that redeemed its token may have lost the file', async () => {
    await write();
    expect(codes(await examine({ given: [{ key: 'enrol', path: join(parent, 'gone') }] }))).toEqual([]);
  });
});

interface Seed {
  readonly code: string;
  readonly seed: () => void | Promise<void>;
  readonly remedy: RegExp;
  readonly mends?: true;
  readonly given?: () => NonNullable<Parameters<typeof examineAgent>[0]['given']>;
}

const torn = (name: string) => writeFileSync(join(state, name), 'torn', { mode: 0o600 });
const secretFile = () => join(parent, 'token');

const seeds: readonly Seed[] = [
  {
    code: 'state_missing',
    seed: () => rmSync(state, { recursive: true }),
    remedy: /^rollcall agent start --state \S+ --enrol FILE$/,
  },
  { code: 'state_loose_mode', seed: () => chmodSync(state, 0o755), remedy: /^chmod 700 /, mends: true },
  {
    code: 'slot_loose_mode',
    seed: () => chmodSync(join(state, 'state-a'), 0o604),
    remedy: /^chmod 600 \S+state-a$/,
    mends: true,
  },
  { code: 'slot_torn', seed: () => torn('state-b'), remedy: /agent status --state/ },
  {
    code: 'state_torn',
    seed: () => {
      torn('state-a');
      torn('state-b');
    },
    remedy: /^mv \S+agent \S+agent\.damaged +# then, on the hub: rollcall host reenrol HOST$/,
  },
  {
    code: 'identity_missing',
    seed: () => {
      for (const name of ['state-a', 'state-b']) rmSync(join(state, name));
    },
    remedy: /--enrol FILE$/,
  },
  {
    code: 'hub_unreachable',
    seed: () => write({ hubs: ['https://127.0.0.1:1'] }),
    remedy: /^openssl s_client -connect 127\.0\.0\.1:1 /,
  },
  {
    code: 'hub_untrusted',
    seed: () => write({ roots: [makeAuthority().certificateDer] }),
    remedy: /^rollcall hub status --json/,
  },
  {
    code: 'clock_skew',
    seed: () => {
      date = new Date(Date.now() - 3_600_000).toUTCString();
    },
    remedy: /^timedatectl set-ntp true$/,
  },
  {
    code: 'given_file_loose_mode',
    seed: () => {
      writeFileSync(secretFile(), 'x');
      chmodSync(secretFile(), 0o644);
    },
    remedy: /^chmod 600 /,
    given: () => [{ key: 'master_file', path: secretFile() }],
    mends: true,
  },
  {
    code: 'hub_root_mismatch',
    seed: () => {
      const trust = { trustDomain: 'x', root: createHubRoot(random).public, spki: [certificate.spki], hubs: [hub.url] };
      writeFileSync(join(parent, 'root.json'), encodeHubRootFile(trust));
    },
    remedy: /jq \.hubRoot/,
    given: () => [{ key: 'hub_root_file', path: join(parent, 'root.json') }],
  },
  {
    code: 'given_file_missing',
    seed: () => write({ assignments: new Map() }, ['life']),
    remedy: /^rollcall host reenrol HOST/,
    given: () => [{ key: 'enrol', path: join(parent, 'gone') }],
  },
];

describe('what is seeded', () => {
  it.each(seeds)('$code is found with its remedy', async ({ code, seed, remedy, mends, given }) => {
    await write();
    await seed();
    const before = trace();
    const options = given === undefined ? {} : { given: given() };
    const { findings } = await examine(options);
    const found = findings.find((finding) => finding.code === code);
    expect(found?.remedy).toMatch(remedy);
    // Nothing else is made of it, except that a host without a token cannot speak either.
    expect(findings.map((finding) => finding.code).filter((each) => each !== code)).toEqual(
      code === 'given_file_missing' ? ['identity_missing'] : [],
    );
    expect(trace()).toBe(before);
    if (mends !== true) return;
    execFileSync('sh', ['-c', found?.remedy ?? 'false']);
    expect(codes(await examine(options))).toEqual([]);
  });

  it('at a path that is too long for a socket is told before it is started', async () => {
    state = join(parent, 'd'.repeat(110));
    mkdirSync(state, { mode: 0o700 });
    expect(codes(await examine())).toEqual(['socket_path_too_long', 'identity_missing']);
  });
});
