/** What verifiers count of a shared token and say of who sends it, through the hub: since when, by whom, how often, and for how long. */
import { encodeBase64url, utf8 } from '@rollcall/core/bytes';
import { beforeEach, describe, expect, it } from 'vitest';
import { createTestHost, type TestHost } from '../../host.fixture.ts';
import { createTestHub, DAY_MS, MINUTE_MS, operator, type TestHub } from '../../hub.fixture.ts';
import { findRotation } from '../../store/rotations.ts';
import { listTokenCounts } from '../../store/token-counts.ts';
import { showRotation } from '../../views/rotations.ts';
import { addHost } from '../add-host.ts';
import { createSecret } from '../create-secret.ts';
import { advanceRotation, observeRotations, rollBackRotation, startRotation, stepTokens } from '../rotation/walk.ts';

const OLD = 'the-token-that-the-fleet-has-had-for-years';
const COUNTER = 'AAAAAAAAAAAAAAAAAAAAAA';
const NO_TIME = '2020-01-01T00:00:00.000Z';
const WINDOW_MS = 10 * MINUTE_MS;
const beatMs = 10_000;

let hub: TestHub;
let host: TestHost;
/** What the listener of the host has counted, by version. */
let counted: Map<number, number>;

beforeEach(async () => {
  counted = new Map();
  hub = await createTestHub({
    settings: { quietWindowMs: WINDOW_MS, beatMs },
    ask: {
      replica: async (token) => (hub.tokens.accepts('fleet').some((of) => textOf(of) === token) ? 'taken' : 'refused'),
      host: async (_, token) => {
        const held = host.tokens.get('fleet')?.accept ?? [];
        return held.some(({ version }) => host.tokenText('fleet', version) === token) ? 'taken' : 'refused';
      },
    },
  });
  host = createTestHost('a');
  const { token = '' } = await addHost(hub, { host: 'a', reach: 'push', address: '127.0.0.1:1' }, operator);
  await host.enrol(hub, token);
  await host.beat(hub);
  await createSecret(hub, { name: 'fleet', value: encodeBase64url(utf8(OLD)), holders: ['all'] }, operator);
  await beat();
  const terms = { reason: 'planned', leave: [], narrowByMs: null, auto: 'to_narrowing', batch: 1 } as const;
  await startRotation(hub, { secret: 'fleet', ...terms }, operator);
});

const blockers = async () =>
  (await showRotation(hub, 'fleet')).gate.blockers.map(({ member, missing }) => `${member} ${missing}`);
const flatSince = () => ({
  hub: hub.tokenHits.count('fleet', 1, hub.clock.now()).flatSinceMs,
  a: hub.tokenReports.quiet('a', 'fleet', 1)?.flatSinceMs ?? 0,
});
const textOf = (version: number) => Buffer.from(hub.tokens.read('fleet', version).reveal()).toString();
const phase = async () => (await findRotation(hub.db, hub.vault, 'fleet'))?.phase;

async function jobs(): Promise<void> {
  do await observeRotations(hub, new AbortController().signal);
  while (await stepTokens(hub));
}

interface Sent {
  readonly version: number;
  readonly address: string;
}

/** As its agent beats: of what it accepts, what was sent; and who sent it. */
async function beat(from: readonly Sent[] = [], open = true): Promise<void> {
  const accept = host.tokens.get('fleet')?.accept ?? [];
  const hits = accept.map(({ version }) => ({ version, count: counted.get(version) ?? 0 }));
  const samples = from.map((sent) => ({ at: NO_TIME, userAgent: 'cron/1', route: '/v1/echo', host: null, ...sent }));
  const listener = { address: '127.0.0.1:7444', open };
  await host.beat(hub, { body: { listener, tokens: [{ secret: 'fleet', counter: COUNTER, hits, samples }] } });
  await jobs();
}

async function beats(times: number): Promise<void> {
  for (let round = 0; round < times; round += 1) {
    await hub.wall.advance(beatMs);
    await beat();
  }
}

describe('on the way back', () => {
  it('names who sends the version that goes, which is the higher one', async () => {
    await beats(6);
    expect(await phase()).toBe('proving');
    const both = [1, 2].map((version) => ({ version, address: `127.0.0.2${version}` }));
    const named = async () => {
      const { gate, retiringHits } = await showRotation(hub, 'fleet');
      const blocker = gate.blockers.find(({ member, missing }) => member === 'a' && missing === 'quiet_window');
      const addresses = retiringHits.sources.flatMap(({ verifier, address }) => (verifier === 'a' ? [address] : []));
      return [...addresses, /from (\S+)/.exec(blocker?.hint ?? '')?.[1]];
    };
    await beat(both);
    expect(await named()).toEqual(['127.0.0.21', '127.0.0.21']);
    await rollBackRotation(hub, 'fleet', 'not today', operator);
    await beat();
    expect(await phase()).toBe('reverting');
    await beat(both);
    expect(await named()).toEqual(['127.0.0.22', '127.0.0.22']);
  });
});

/** As its jobs end. */
async function stopCleanly(): Promise<void> {
  await hub.tokenHits.save(hub.clock.now());
  await hub.tokenReports.save();
}

describe('a window', () => {
  beforeEach(async () => {
    await beats(6);
    expect(await phase()).toBe('proving');
  });

  it('is not covered by the time for which the hub was stopped, and goes on where it was', async () => {
    await beats(6);
    const before = flatSince();
    await stopCleanly();
    await hub.wall.advance(2 * DAY_MS);
    hub = await hub.restart();
    await beat();
    expect(flatSince()).toEqual({ hub: before.hub + 2 * DAY_MS, a: before.a + 2 * DAY_MS });
    expect(await blockers()).toEqual(['a quiet_window', 'replica:local quiet_window']);
    await beats(WINDOW_MS / beatMs);
    expect(await blockers()).toEqual([]);
  });

  it('goes on over a restart that takes a moment, as if there had been none', async () => {
    await beats(6);
    const before = flatSince();
    await stopCleanly();
    await hub.wall.advance(20_000);
    hub = await hub.restart();
    await beat();
    expect(flatSince()).toEqual(before);
  });

  it('is not covered by the time for which an agent was stopped, or its listener closed', async () => {
    await beats(6);
    const before = flatSince();
    await hub.wall.advance(2 * DAY_MS);
    await beat();
    expect(flatSince()).toEqual({ hub: before.hub, a: before.a + 2 * DAY_MS });
    expect(await blockers()).toEqual(['a quiet_window']);
    for (let round = 0; round < 12; round += 1) {
      await hub.wall.advance(beatMs);
      await beat([], false);
    }
    expect(await blockers()).toEqual(['a listener_open']);
    await beats(1);
    expect(flatSince().a).toBe(before.a + 2 * DAY_MS + 13 * beatMs);
  });

  it('is written down a few times, and not with each beat', async () => {
    let writes = 0;
    const { transaction } = hub.db;
    hub.db.transaction = () => {
      writes += 1;
      return transaction.call(hub.db);
    };
    const report = () => hub.tokenReports.count({ ...counter, count: 7 }, hub.clock.now(), hub.settings);
    const counter = { secret: 'fleet', member: 'b', version: 1, counter: COUNTER };
    for (let round = 0; round < WINDOW_MS / beatMs; round += 1) {
      await report();
      await hub.wall.advance(beatMs);
    }
    expect(writes).toBe(20);
  });
});

it('is forgotten with the rotation that asked for it', async () => {
  await beats(6);
  await beat([{ version: 1, address: '127.0.0.21' }]);
  const rows = async () => (await listTokenCounts(hub.db, hub.vault, 'fleet')).map(({ member }) => member).sort();
  await stopCleanly();
  const kept = async () => ({
    rows: await rows(),
    quiet: hub.tokenReports.quiet('a', 'fleet', 1) !== null,
    named: hub.tokenReports.of('a').sources.length,
    senders: hub.tokenHits.sources('fleet', 1).length,
  });
  expect(await kept()).toEqual({ rows: ['a', 'replica:local'], quiet: true, named: 1, senders: 1 });
  await beats(WINDOW_MS / beatMs);
  await advanceRotation(hub, 'fleet', 'proving', operator);
  for (let round = 0; round < 4; round += 1) {
    await beats(1);
    await advanceRotation(hub, 'fleet', undefined, operator).catch(() => undefined);
  }
  expect(await phase()).toBe('done');
  await beats(2);
  expect(await kept()).toEqual({ rows: [], quiet: false, named: 0, senders: 0 });
});

it('counts how often the retiring version came since the rotation began, and not who sent it', async () => {
  counted.set(1, 1_000);
  await beat();
  const hits = async () => (await showRotation(hub, 'fleet')).retiringHits;
  // What was counted before is not of this rotation; what its host itself sent to the hub since then is.
  const { count: own } = await hits();
  expect(own).toBeLessThan(20);
  counted.set(1, 6_000);
  await beat([{ version: 1, address: '127.0.0.21' }]);
  const address = { address: '127.0.0.22', userAgent: '', route: '/v1/whoami', host: null };
  for (let n = 0; n < 70; n += 1) {
    hub.tokenHits.note('fleet', 1, 'retiring', { ...address, atMs: hub.clock.now() });
  }
  const { count, sources } = await hits();
  expect(count - own).toBeGreaterThanOrEqual(5_070);
  expect(count - own).toBeLessThan(5_080);
  expect(sources.filter((source) => source.address.startsWith('127.0.0.2')).length).toBe(2);
  await stopCleanly();
  hub = await hub.restart();
  expect((await hits()).count).toBe(count);
});
