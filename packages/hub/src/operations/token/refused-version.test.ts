/** What narrowing drops is named to whoever has to prove that it refuses it, and forgotten with the end of the walk (design 5). */
import type { HeartbeatBody } from '@rollcall/wire';
import { beforeEach, describe, expect, it } from 'vitest';
import { enrolNew, type TestHost } from '../../host.fixture.ts';
import { codeOf, createTestHub, operator, type TestHub } from '../../hub.fixture.ts';
import { findRotation } from '../../store/rotations.ts';
import { showRotation } from '../../views/rotations.ts';
import { createSecret } from '../create-secret.ts';
import { advanceRotation, rollBackRotation, startRotation, stepTokens } from '../rotation/walk.ts';

/** As long as may pass between two reports. */
const WINDOW_MS = 30_000;
let hub: TestHub;
let host: TestHost;
const SECRET = 'fleet';

beforeEach(async () => {
  hub = await createTestHub({ settings: { quietWindowMs: WINDOW_MS } });
  host = await enrolNew(hub, 'agent-7');
  await createSecret(hub, { name: SECRET, holders: ['agent-7'] }, operator);
  await beats();
});

const versions = (list: readonly { readonly version: number }[] = []) => list.map(({ version }) => version);
const held = () => host.tokens.get(SECRET);
const step = () => ({ step: held()?.step ?? 0, accept: versions(held()?.accept), refuse: versions(held()?.refuse) });

/** A host that only it can reach, started a moment ago: it probes what its own disk says, and nothing that it remembers. */
function restarted(): Partial<HeartbeatBody> {
  host.newInstance();
  const { step: number, accept, refuse } = step();
  return {
    listener: { address: '127.0.0.1:1', open: true },
    tokens: [{ secret: SECRET, counter: COUNTER, hits: [1, 2].map((version) => ({ version, count: 0 })), samples: [] }],
    probes: [
      { secret: SECRET, step: number, takes: accept, refuses: refuse, randomRefused: true, at: '2026-11-29T12:00:00Z' },
    ],
  };
}

const COUNTER = 'AAAAAAAAAAAAAAAAAAAAAA';

async function beats(): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    await host.beat(hub, { body: restarted() });
    while (await stepTokens(hub));
  }
}

const phase = async () => (await findRotation(hub.db, hub.vault, SECRET))?.phase;

async function carryTo(wanted: string): Promise<void> {
  for (let round = 0; round < 12 && (await phase()) !== wanted; round += 1) {
    if (['proving', 'reverting'].includes((await phase()) ?? '')) await hub.wall.advance(WINDOW_MS);
    await beats();
    await codeOf(advanceRotation(hub, SECRET, undefined, operator));
  }
  expect(await phase()).toBe(wanted);
}

/** What the hub itself takes is asked elsewhere. */
const start = () =>
  startRotation(
    hub,
    { secret: SECRET, reason: 'planned', leave: ['replica:local'], narrowByMs: null, auto: 'off', batch: 1 },
    operator,
  );

describe('the version that narrowing drops', () => {
  it('is named in that step alone, proven by a host that was started since, and forgotten at the end', async () => {
    await start();
    await carryTo('proving');
    expect(step()).toMatchObject({ accept: [2, 1], refuse: [] });
    await carryTo('narrowing');
    const proving = step().step;
    await host.beat(hub, { body: restarted() });
    expect(step()).toEqual({ step: proving + 1, accept: [2], refuse: [1] });
    const { gate } = await showRotation(hub, SECRET);
    expect(gate.blockers.map(({ missing }) => missing)).toContain('probe');
    await carryTo('done');
    await host.beat(hub);
    expect(step()).toEqual({ step: proving + 2, accept: [2], refuse: [] });
    await host.beat(hub);
    expect((await host.beat(hub)).deliveries).toEqual([]);
  });

  it('of a walk that goes back is the new one', async () => {
    await start();
    await carryTo('rolling');
    await beats();
    await rollBackRotation(hub, SECRET, 'no', operator);
    await carryTo('withdrawing');
    await host.beat(hub, { body: restarted() });
    expect(step()).toMatchObject({ accept: [1], refuse: [2] });
    await carryTo('rolled_back');
    await host.beat(hub);
    expect(step()).toMatchObject({ accept: [1], refuse: [] });
  });

  it('is not waited for at the end, and a host that slept over it is told without the value that is gone', async () => {
    await start();
    await carryTo('narrowing');
    await host.beat(hub, { body: restarted() });
    const { wanted } = hub.roll.get('agent-7')?.tokens[0] ?? {};
    await carryTo('done');
    // As a hub that has not read the last step yet.
    const entry = hub.roll.get('agent-7');
    if (entry === undefined || wanted === undefined) throw new TypeError('not on the roll');
    const { tokens } = entry;
    Object.assign(entry, { tokens: [{ ...tokens[0], wanted, envelope: null }] });
    host.tokens.delete(SECRET);
    await host.beat(hub, { tokens: [] });
    expect(step()).toEqual({ step: wanted.step, accept: [2], refuse: [] });
    Object.assign(entry, { tokens });
    await host.beat(hub);
    expect(step()).toEqual({ step: wanted.step + 1, accept: [2], refuse: [] });
  });
});
