import { beforeEach, describe, expect, it } from 'vitest';
import { addExisting, createTestHost, type TestHost } from './host.fixture.ts';
import { codeOf, createTestHub, operator, type TestHub } from './hub.fixture.ts';
import { addHost } from './operations/add-host.ts';
import { createSecret } from './operations/create-secret.ts';
import { startRotation, stepTokens } from './operations/rotation/walk.ts';
import { createSelfChecks } from './self-checks.ts';

const BAD = 'the-token-whose-rows-are-damaged';
const GOOD = 'the-token-that-others-go-on-with';

let hub: TestHub;
let host: TestHost;

beforeEach(async () => {
  hub = await createTestHub();
  host = createTestHost('agent-7');
  const { token = '' } = await addHost(hub, { host: host.id }, operator);
  await host.enrol(hub, token);
  const asText = (text: string) => Buffer.from(text).toString('base64url');
  await createSecret(hub, { name: 'bad', value: asText(BAD), holders: ['caller:deploy'] }, operator);
  await createSecret(hub, { name: 'good', value: asText(GOOD), holders: ['agent-7'] }, operator);
  await host.beat(hub);
  await host.beat(hub);
});

const start = (secret: string) =>
  startRotation(hub, { secret, reason: 'planned', leave: [], narrowByMs: null }, operator);
const outcome = (text: string) => codeOf(() => hub.tokens.verify(text));
const check = async () => {
  const certificate = { hasEnded: false, isLate: false };
  const checks = await createSelfChecks(hub, { areJobsAlive: () => true, certificate })();
  return checks.find(({ code }) => code === 'token_store');
};

it('counts the 30 s from when the store was read last, and not from when that failed first', async () => {
  hub.tamper('alter table tokens rename to tokens_away');
  await hub.wall.advance(20_000);
  expect(await codeOf(hub.tokens.reload())).not.toBe('done');
  await hub.wall.advance(9_999);
  expect(await outcome(GOOD)).toBe('done');
  await hub.wall.advance(1);
  expect(await outcome(GOOD)).toBe('unavailable');
  hub.tamper('alter table tokens_away rename to tokens');
  await hub.tokens.reload();
  expect(await outcome(GOOD)).toBe('done');
});

/** Where whoever can write the database file and no more has been, one table at a time. */
const damages = [
  ['tokens', 'created_at', "name = 'bad'"],
  ['token_versions', 'created_at', "secret = 'bad'"],
  ['rotations', 'started_at', "secret = 'bad'"],
  ['rotation_terms', 'batch', "rotation in (select id from rotations where secret = 'bad')"],
] as const;

describe.each(damages)('a token with a damaged row in %s', (table, column, where) => {
  const damage = `update ${table} set ${column} = ${column} + 1 where ${where}`;
  const mend = `update ${table} set ${column} = ${column} - 1 where ${where}`;

  beforeEach(async () => {
    await start('bad');
    await start('good');
  });

  it('says yes for 30 s to what it was, and then no answer to what may be it; who sends another is let in throughout', async () => {
    hub.tamper(damage);
    await hub.tokens.reload();
    expect(await check()).toMatchObject({ ok: false, hint: expect.stringContaining('bad') });
    await hub.wall.advance(29_999);
    expect([await outcome(BAD), await outcome(GOOD), await outcome('x'.repeat(30))]).toEqual([
      'done',
      'done',
      'unavailable',
    ]);
    await hub.wall.advance(1);
    expect([await outcome(BAD), await outcome(GOOD), await outcome('x'.repeat(30))]).toEqual([
      'unavailable',
      'done',
      'unavailable',
    ]);
    expect((await host.beat(hub)).deliveries.map(({ secret }) => secret)).toEqual(['good']);
  });

  it('lets a hub start, and everybody else go on', async () => {
    hub.tamper(damage);
    hub = await hub.restart();
    expect([await outcome(BAD), await outcome(GOOD)]).toEqual(['unavailable', 'done']);
    await host.beat(hub);
    await addExisting(hub, 'agent-8');
    // The job fails for the one, in the end, and has stepped the other.
    expect(await codeOf(stepTokens(hub))).toBe(table.startsWith('token') ? 'done' : 'store_unreadable');
    expect(host.tokens.get('good')?.accept.map(({ version }) => version)).toEqual([2, 1]);
  });

  it('is let in by again once the row is mended', async () => {
    hub.tamper(damage);
    await hub.tokens.reload();
    await hub.wall.advance(60_000);
    expect(await outcome(BAD)).toBe('unavailable');
    hub.tamper(mend);
    await hub.tokens.catchUp();
    expect([await outcome(BAD), await outcome(GOOD), await outcome('x'.repeat(30))]).toEqual([
      'done',
      'done',
      'unauthenticated',
    ]);
    expect(await check()).toMatchObject({ ok: true });
  });
});
