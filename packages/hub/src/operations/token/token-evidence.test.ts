/** What verifiers count of a shared token and say of who sends it, through the hub: since when, by whom, how often, and for how long. */
import { encodeBase64url, utf8 } from '@rollcall/core/bytes';
import { beforeEach, describe, expect, it } from 'vitest';
import { createTestHost, type TestHost } from '../../host.fixture.ts';
import { createTestHub, MINUTE_MS, operator, type TestHub } from '../../hub.fixture.ts';
import { findRotation } from '../../store/rotations.ts';
import { showRotation } from '../../views/rotations.ts';
import { addHost } from '../add-host.ts';
import { createSecret } from '../create-secret.ts';
import { observeRotations, rollBackRotation, startRotation, stepTokens } from '../rotation/walk.ts';

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
async function beat(from: readonly Sent[] = []): Promise<void> {
  const accept = host.tokens.get('fleet')?.accept ?? [];
  const hits = accept.map(({ version }) => ({ version, count: counted.get(version) ?? 0 }));
  const samples = from.map((sent) => ({ at: NO_TIME, userAgent: 'cron/1', route: '/v1/echo', host: null, ...sent }));
  const listener = { address: '127.0.0.1:7444', open: true };
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
