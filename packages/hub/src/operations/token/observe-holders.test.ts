/** What a rotation of a shared token goes by of each who holds it. */
import { beforeEach, describe, expect, it } from 'vitest';
import { createWrapKey, enrolNew, type TestHost } from '../../host.fixture.ts';
import { createTestHub, HOUR_MS, MINUTE_MS, operator, type TestHub } from '../../hub.fixture.ts';
import { findRotation } from '../../store/rotations.ts';
import { reenrolHost } from '../add-host.ts';
import { createSecret } from '../create-secret.ts';
import { approvePin } from '../decide-pin.ts';
import { advanceRotation, observeRotations, startRotation, stepTokens } from '../rotation/walk.ts';
import { observeHolders } from './observe-holders.ts';

const COUNTER = 'AAAAAAAAAAAAAAAAAAAAAA';
let hub: TestHub;
let host: TestHost;
beforeEach(async () => {
  hub = await createTestHub({
    settings: { quietWindowMs: MINUTE_MS },
    ask: {
      replica: async (token) => {
        const texts = hub.tokens.accepts('fleet').map((version) => hub.tokens.read('fleet', version).reveal());
        return texts.some((text) => Buffer.from(text).toString() === token) ? 'taken' : 'refused';
      },
      host: async () => 'refused',
    },
  });
  host = await enrolNew(hub, 'a');
  await createSecret(hub, { name: 'fleet', holders: ['all'] }, operator);
  await host.beat(hub);
});

const start = (auto: 'off' | 'all' = 'off') =>
  startRotation(hub, { secret: 'fleet', reason: 'planned', leave: [], narrowByMs: null, auto }, operator);
const rotation = async () => (await findRotation(hub.db, hub.vault, 'fleet')) ?? null;
const seen = async () =>
  (await observeHolders(hub, hub.db, 'fleet', await rotation())).find(({ id }) => id === host.id);

/** As an agent with a listener that does what it is told. */
async function beat(): Promise<void> {
  const { step = 0, accept = [], refuse = [] } = host.tokens.get('fleet') ?? {};
  const found = { step, takes: accept.map(({ version }) => version), refuses: refuse.map(({ version }) => version) };
  const at = new Date(hub.wall.now()).toISOString();
  const hits = accept.map(({ version }) => ({ version, count: 0 }));
  await host.beat(hub, {
    body: {
      listener: { address: '192.0.2.1:7444', open: true },
      tokens: [{ secret: 'fleet', counter: COUNTER, hits, samples: [] }],
      probes: [{ secret: 'fleet', ...found, randomRefused: true, at }],
    },
  });
}

async function jobs(): Promise<void> {
  do await observeRotations(hub, new AbortController().signal);
  while (await stepTokens(hub));
}

describe('a host that says it has no listener', () => {
  it('is known by its word alone where it said otherwise in the course of the rotation', async () => {
    await beat();
    await hub.wall.advance(HOUR_MS);
    await start();
    await host.beat(hub);
    expect(await seen()).toMatchObject({ verifies: false, hadListener: false });
    await beat();
    expect(await seen()).toMatchObject({ verifies: true, hadListener: true });
    await host.beat(hub);
    expect(await seen()).toMatchObject({ verifies: false, hadListener: true });
  });

  it('in a life that has ended has said nothing of the next one', async () => {
    await start();
    await beat();
    const known = { verifies: true, hadListener: true, sinks: [] };
    expect(await seen()).toMatchObject(known);
    const { token = '' } = await reenrolHost(hub, 'a', undefined, operator);
    await host.enrol(hub, token);
    const unknown = { verifies: null, hadListener: false, sinks: null };
    expect(await seen()).toMatchObject(unknown);
    await beat();
    expect(await seen()).toMatchObject(known);
    // The same by an operator's word about its key.
    const former = host.bearer();
    host.key = createWrapKey();
    await host.beat(hub);
    await approvePin(hub, 'a', host.key.public.fingerprint, operator);
    await host.beat(hub, { bearer: former });
    expect(await seen()).toMatchObject(unknown);
  });

  it('lets no rotation narrow by itself with that, whoever says it with its bearer; a person may go on', async () => {
    await start('all');
    for (let round = 0; round < 20; round += 1) {
      await hub.wall.advance(10_000);
      await beat();
      await jobs();
    }
    expect((await rotation())?.phase).toBe('proving');
    await host.beat(hub, { body: { instance: 'dGhpZWYtaW5zdGFuY2UtMQ' } });
    await jobs();
    expect((await rotation())?.phase).toBe('proving');
    await advanceRotation(hub, 'fleet', 'proving', operator);
    expect((await rotation())?.phase).toBe('narrowing');
  });
});
