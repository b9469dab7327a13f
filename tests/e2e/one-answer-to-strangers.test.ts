/** Every way to fail authentication gets the same bytes (I13); what succeeds shows that the difference could be seen. */
import { encodeBase64url } from '@rollcall/core/bytes';
import { encodeToken } from '@rollcall/core/keys';
import { generateWrapKey } from '@rollcall/core/seal';
import { unauthenticatedBody } from '@rollcall/wire';
import { beforeAll, describe, expect, it } from 'vitest';
import { exchange } from './harness/exchange.ts';
import { readHubRootFile, readToken } from './harness/fleet.ts';
import {
  bearerOf,
  createRawHost,
  enrolRawHost,
  type RawHost,
  random,
  randomMaster,
  toPublished,
} from './harness/raw-host.ts';
import { useFleet } from './harness/use-fleet.ts';

const master = randomMaster();
const fleet = useFleet({ master });
let host: RawHost;
let evictedBearer: string;

beforeAll(async () => {
  host = await enrolRawHost(fleet(), 'web-1');
  const evicted = await enrolRawHost(fleet(), 'evicted');
  evictedBearer = evicted.bearer();
  await fleet().ask('POST', '/v1/hosts/evicted/evict', {});
  await enrolRawHost(fleet(), 'removed');
  await fleet().ask('POST', '/v1/hosts/removed/remove');
  await fleet().addHost('invited');
});

const as = (id: string, bearer: string) => ({ Authorization: `Bearer ${bearer}`, 'X-Rollcall-Host': id });
const good = () => as('web-1', host.bearer());
const flip = (text: string) => `${text.slice(0, 20)}${text[20] === 'A' ? 'B' : 'A'}${text.slice(21)}`;

type Pairs = readonly (readonly [string, string])[];
const strangers: Readonly<Record<string, () => Readonly<Record<string, string>> | Pairs>> = {
  'nothing presented': () => ({}),
  'an id without a bearer': () => ({ 'X-Rollcall-Host': 'web-1' }),
  'a bearer without an id': () => ({ Authorization: `Bearer ${host.bearer()}` }),
  'an empty bearer': () => as('web-1', ''),
  'another scheme': () => ({ ...good(), Authorization: `Basic ${host.bearer()}` }),
  'a bearer of wrong form': () => as('web-1', 'letmein'),
  'a bearer with a wrong checksum': () => as('web-1', flip(host.bearer())),
  'a well-formed bearer that nobody has': () => as('web-1', encodeToken('rcb', random(32))),
  'a token of another kind': () => as('web-1', encodeToken('rco', random(32))),
  'the bearer of another host': () => as('web-1', bearerOf(master, 'web-2', 1)),
  'the bearer of another life': () => as('web-1', bearerOf(master, 'web-1', 2)),
  'an unknown host': () => as('web-9', bearerOf(master, 'web-9', 1)),
  'an invited host, by the master': () => as('invited', bearerOf(master, 'invited', 1)),
  'an evicted host': () => as('evicted', evictedBearer),
  'an evicted host, by the master': () => as('evicted', bearerOf(master, 'evicted', 2)),
  'a removed host': () => as('removed', bearerOf(master, 'removed', 1)),
  'an id that is none': () => as('../web-1', host.bearer()),
  'an id in another case': () => as('WEB-1', host.bearer()),
  'a fleet token beside a good bearer': () => ({ ...good(), 'X-Node-Token': 'some-token-of-the-fleet' }),
  'two bearers, one of them good': () => [...Object.entries(good()), ['Authorization', 'Bearer rcb_x']],
  'two ids': () => [...Object.entries(good()), ['X-Rollcall-Host', 'web-2']],
};

describe('a heartbeat that fails authentication', () => {
  it.each(Object.entries(strangers))('is answered alike: %s', async (_name, headers) => {
    const given = headers();
    const pairs = Array.isArray(given) ? (given as Pairs) : Object.entries(given as Record<string, string>);
    const answer = await host.beat({ headers: pairs });
    expect(answer.status).toBe(401);
    expect(withoutDate(answer.raw)).toBe(withoutDate((await host.beat({ headers: [] })).raw));
    expect(answer.body).toBe(unauthenticatedBody);
  });

  it.each([
    ['JSON that is none', '{'],
    ['nothing', ''],
    ['far too much', 'x'.repeat(100_000)],
  ])('is answered before its body is looked at: %s', async (_name, body) => {
    const ask = (headers: Pairs) =>
      exchange({ port: fleet().port }, { method: 'POST', path: '/v1/heartbeat', headers, body }, fleet().recorder);
    const answer = await ask([]);
    expect(withoutDate(answer.raw)).toBe(withoutDate((await host.beat({ headers: [] })).raw));
    // The control: of someone it knows, the hub does look at the body.
    expect([400, 413]).toContain((await ask(Object.entries(good()))).status);
  });

  it('is told from one that passes', async () => {
    const answer = await host.beat();
    expect(answer.status).toBe(200);
    expect(withoutDate(answer.raw)).not.toBe(withoutDate((await host.beat({ headers: [] })).raw));
  });
});

describe('an enrolment that proves nothing', () => {
  it('is answered like a heartbeat that does: unknown, wrong, spent, expired, replaced', async () => {
    const expected = withoutDate((await host.beat({ headers: [] })).raw);
    const { root } = readHubRootFile(fleet());
    const expired = await fleet().addHost('expired', { tokenLifeMs: 1 });
    const replaced = await fleet().addHost('replaced');
    await fleet().ask('POST', '/v1/hosts/replaced/reenrol', {});
    const live = await fleet().addHost('live');
    const spent = await fleet().addHost('spent');
    expect((await createRawHost(fleet(), 'spent', root).enrol(spent)).status).toBe(200);

    const refused = [
      await createRawHost(fleet(), 'nobody', root).enrol(live),
      await createRawHost(fleet(), 'invited', root).enrol(live),
      await createRawHost(fleet(), 'web-1', root).enrol(live),
      await createRawHost(fleet(), 'evicted', root).enrol(live),
      await createRawHost(fleet(), 'expired', root).enrol(expired),
      await createRawHost(fleet(), 'replaced', root).enrol(replaced),
      await createRawHost(fleet(), 'spent', root).enrol(spent),
      await forged('live'),
    ];
    expect(refused.map(({ raw }) => withoutDate(raw))).toEqual(refused.map(() => expected));
    // The control: the one that proves is answered.
    expect((await createRawHost(fleet(), 'live', readToken(live).root).enrol(live)).status).toBe(200);
  });

  function forged(id: string) {
    const wrapKey = toPublished(generateWrapKey(random));
    const body = { host: id, wrapKey, instance: encodeBase64url(random(16)), proof: encodeBase64url(random(32)) };
    const asked = { method: 'POST', path: '/v1/enrol', body: JSON.stringify(body) };
    return exchange({ port: fleet().port }, asked, fleet().recorder);
  }
});

function withoutDate(raw: Buffer): string {
  const text = raw.toString('latin1');
  const without = text.replace(/^date: .*\r\n/im, '');
  expect(without).not.toBe(text);
  return without;
}
