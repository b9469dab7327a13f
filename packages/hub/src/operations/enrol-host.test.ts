import { encodeBase64url } from '@rollcall/core/bytes';
import { enrolmentKey, enrolmentProof, parseEnrolmentToken } from '@rollcall/core/keys';
import { beforeEach, describe, expect, it } from 'vitest';
import { createTestHost, createWrapKey, enrolNew, open, type TestHost, thiefBearer } from '../host.fixture.ts';
import { auditOf, codeOf, createTestHub, HOUR_MS, MINUTE_MS, operator, type TestHub } from '../hub.fixture.ts';
import { addHost, reenrolHost } from './add-host.ts';
import { evictHost, removeHost } from './end-host.ts';
import { enrolHost } from './enrol-host.ts';
import { suspendHost, unbanHost } from './suspend-host.ts';

let hub: TestHub;
let host: TestHost;
let token: string;
beforeEach(async () => {
  hub = await createTestHub();
  host = createTestHost('agent-7');
  token = (await addHost(hub, { host: 'agent-7' }, operator)).token ?? '';
});

const enrol = (of: TestHost, text: string, changes = {}) =>
  codeOf(enrolHost(hub, of.enrolBody(text, changes), '192.0.2.9'));
const pinOf = (id: string) => hub.roll.get(id)?.pinFingerprint;

describe('a live token', () => {
  it('makes the host active, pins its key, and brings it what it is to present, sealed to that key', async () => {
    const { deliveries } = await host.enrol(hub, token);
    expect(hub.roll.get('agent-7')).toMatchObject({
      status: 'active',
      life: 1,
      pinFingerprint: host.key.public.fingerprint,
    });
    expect(deliveries).toHaveLength(1);
    expect(await codeOf(() => open(hub, createTestHost('agent-7'), deliveries[0]))).toBe('delivery_unknown_recipient');
    expect(host.assignment).toMatchObject({ secret: 'master', present: 1 });
    await host.beat(hub);
    expect(hub.roll.get('agent-7')).toMatchObject({ provenVersion: 1 });
    expect(await auditOf(hub)).toContain('host.enrolled agent-7 done');
  });

  it.each<[string, (body: ReturnType<TestHost['enrolBody']>) => object]>([
    ['proof', ({ proof }) => ({ proof: `${proof.startsWith('A') ? 'B' : 'A'}${proof.slice(1)}` })],
    ['wrap key', () => ({ wrapKey: { suite: 'x25519', public: encodeBase64url(createWrapKey().public.bytes) } })],
    ['instance', () => ({ instance: encodeBase64url(new Uint8Array(16)) })],
    ['host', () => ({ host: 'agent-8' })],
  ])('is not redeemed by a request whose %s is another, and is good afterwards', async (_what, change) => {
    await addHost(hub, { host: 'agent-8' }, operator);
    const body = host.enrolBody(token);
    expect(await codeOf(enrolHost(hub, { ...body, ...change(body) }, ''))).toBe('unauthenticated');
    expect((await auditOf(hub)).filter((line) => line.startsWith('host.enrol'))).toEqual([]);
    expect(await codeOf(enrolHost(hub, body, ''))).toBe('done');
  });

  it('is not redeemed by a host that is on no roll', async () => {
    expect(await enrol(createTestHost('nobody'), token)).toBe('unauthenticated');
    expect(await enrol(host, token)).toBe('done');
  });

  it('is not spent by a key that nothing can be sealed to', async () => {
    const wrapPublic = new Uint8Array(32);
    const instance = new Uint8Array(16);
    const key = enrolmentKey(parseEnrolmentToken(token).secret);
    const proof = encodeBase64url(enrolmentProof(key, { host: 'agent-7', wrapPublic, instance }));
    const body = {
      host: 'agent-7',
      wrapKey: { suite: 'x25519', public: encodeBase64url(wrapPublic) },
      instance: encodeBase64url(instance),
      proof,
    };
    expect(await codeOf(enrolHost(hub, body, ''))).toBe('malformed_key');
    expect(pinOf('agent-7')).toBe('');
    expect(await enrol(host, token)).toBe('done');
  });

  it('is good until it expires, and not at that moment', async () => {
    await hub.wall.advance(HOUR_MS - 1);
    const body = host.enrolBody(token);
    await hub.wall.advance(1);
    expect(await codeOf(enrolHost(hub, body, ''))).toBe('unauthenticated');
    const { token: second = '' } = await reenrolHost(hub, 'agent-7', undefined, operator);
    await hub.wall.advance(HOUR_MS - 1);
    expect(await enrol(host, second)).toBe('done');
  });

  it('is killed by issuing another', async () => {
    const { token: second = '' } = await reenrolHost(hub, 'agent-7', undefined, operator);
    expect(await enrol(host, token)).toBe('unauthenticated');
    expect(await enrol(host, second)).toBe('done');
  });

  it('is good after a commit that failed, and after a database that was read-only', async () => {
    hub.tamper(`create trigger full before insert on audit begin select raise(fail, 'disk full'); end`);
    expect(await enrol(host, token)).toMatch(/^SQLITE/);
    expect(hub.roll.get('agent-7')).toMatchObject({ status: 'invited', pinState: 'none' });
    hub.tamper('drop trigger full');
    expect(await enrol(host, token)).toBe('done');
  });
});

describe('a token that was used', () => {
  beforeEach(async () => {
    await host.enrol(hub, token);
  });

  it('answers the same key again for ten minutes, with the same pin and life, also when its own time has ended', async () => {
    const { deliveries } = await host.enrol(hub, token);
    expect(deliveries).toHaveLength(1);
    await hub.wall.advance(10 * MINUTE_MS - 1);
    expect(await enrol(host, token)).toBe('done');
    expect(hub.roll.get('agent-7')).toMatchObject({ life: 1, pinFingerprint: host.key.public.fingerprint });
    expect((await auditOf(hub)).filter((line) => line === 'host.enrolled agent-7 done')).toHaveLength(1);
    await hub.wall.advance(1);
    expect(await enrol(host, token)).toBe('unauthenticated');

    const late = createTestHost('late');
    const { token: short = '' } = await addHost(hub, { host: 'late', tokenLifeMs: MINUTE_MS }, operator);
    await hub.wall.advance(MINUTE_MS - 1);
    expect(await enrol(late, short)).toBe('done');
    await hub.wall.advance(MINUTE_MS);
    expect(await enrol(late, short)).toBe('done');
  });

  it('refuses another key, audits it and says so in the log, and the pin stands', async () => {
    const thief = createTestHost('agent-7');
    expect(await enrol(thief, token)).toBe('unauthenticated');
    expect(await auditOf(hub)).toContain('host.enrolment_token_reused agent-7 refused');
    expect(hub.logged.filter((line) => line.startsWith('warn a spent enrolment token'))).toHaveLength(1);
    expect(pinOf('agent-7')).toBe(host.key.public.fingerprint);
    expect(await enrol(host, token)).toBe('done');
  });

  it('is not told apart, and not audited, without a valid proof', async () => {
    const before = await auditOf(hub);
    expect(await enrol(host, token, { proof: encodeBase64url(new Uint8Array(32)) })).toBe('unauthenticated');
    expect(await auditOf(hub)).toEqual(before);
  });

  it('redeemed by a thief first: the true host is refused, and a new token ends the thief’s pin and keys at once', async () => {
    const thief = host;
    await thief.beat(hub);
    const owner = createTestHost('agent-7');
    expect(await enrol(owner, token)).toBe('unauthenticated');
    const { token: second = '' } = await reenrolHost(hub, 'agent-7', undefined, operator);
    expect(await codeOf(thief.beat(hub))).toBe('done');
    await owner.enrol(hub, second);
    expect(await codeOf(thief.beat(hub))).toBe('unauthenticated');
    expect(await codeOf(owner.beat(hub))).toBe('done');
    expect(hub.roll.get('agent-7')).toMatchObject({ life: 2, pinFingerprint: owner.key.public.fingerprint });
    expect(hub.logged.filter((line) => line.includes('pin_replaced'))).toHaveLength(1);
  });
});

describe('re-enrolment', () => {
  it('with the pinned key keeps the pin and raises the life', async () => {
    await host.enrol(hub, token);
    await host.beat(hub);
    const former = host.bearer();
    const { token: second = '' } = await reenrolHost(hub, 'agent-7', undefined, operator);
    await host.enrol(hub, second);
    expect(hub.roll.get('agent-7')).toMatchObject({
      life: 2,
      pinFingerprint: host.key.public.fingerprint,
      provenVersion: null,
    });
    expect(await codeOf(host.beat(hub, { bearer: former }))).toBe('unauthenticated');
    expect(await codeOf(host.beat(hub))).toBe('done');
  });

  it('is refused for a suspended host, by its earlier token too', async () => {
    await host.enrol(hub, token);
    const { token: second = '' } = await reenrolHost(hub, 'agent-7', undefined, operator);
    await suspendHost(hub, 'agent-7', operator);
    expect(await enrol(host, second)).toBe('unauthenticated');
    expect(await codeOf(reenrolHost(hub, 'agent-7', undefined, operator))).toBe('host_suspended');
    expect(pinOf('agent-7')).toBe(host.key.public.fingerprint);
  });

  it('lets an evicted host back in, and a banned one not until it is unbanned', async () => {
    await host.enrol(hub, token);
    await host.beat(hub);
    const former = host.bearer();
    await evictHost(hub, 'agent-7', false, operator);
    const { token: second = '' } = await reenrolHost(hub, 'agent-7', undefined, operator);
    await evictHost(hub, 'agent-7', true, operator);
    expect(await enrol(host, second)).toBe('unauthenticated');
    expect(await codeOf(reenrolHost(hub, 'agent-7', undefined, operator))).toBe('host_banned');
    await unbanHost(hub, 'agent-7', operator);
    const { token: third = '' } = await reenrolHost(hub, 'agent-7', undefined, operator);
    await host.enrol(hub, third);
    expect(await codeOf(host.beat(hub, { bearer: former }))).toBe('unauthenticated');
    expect(await codeOf(host.beat(hub))).toBe('done');
  });

  it('takes no token that was issued for longer than seven days', async () => {
    expect(await codeOf(reenrolHost(hub, 'agent-7', 7 * 24 * HOUR_MS, operator))).toBe('done');
    expect(await codeOf(reenrolHost(hub, 'agent-7', 7 * 24 * HOUR_MS + 1, operator))).toBe('window_out_of_bounds');
  });
});

it('a host that was removed and added again begins a new life: no trace of the old pin, and the audit shows both', async () => {
  await host.enrol(hub, token);
  await host.beat(hub);
  const former = host.bearer();
  await removeHost(hub, 'agent-7', operator);
  expect(await enrol(host, token)).toBe('unauthenticated');
  const again = await addHost(hub, { host: 'agent-7' }, operator);
  expect(again.life).toBe(2);
  expect(await enrol(host, token)).toBe('unauthenticated');
  const other = createTestHost('agent-7');
  await other.enrol(hub, again.token ?? '');
  expect(pinOf('agent-7')).toBe(other.key.public.fingerprint);
  expect(await codeOf(other.beat(hub, { bearer: former }))).toBe('unauthenticated');
  expect(await codeOf(other.beat(hub))).toBe('done');
  expect((await auditOf(hub)).filter((line) => /host\.(added|removed|enrolled)/.test(line))).toEqual([
    'host.added agent-7 done',
    'host.enrolled agent-7 done',
    'host.removed agent-7 done',
    'host.added agent-7 done',
    'host.enrolled agent-7 done',
  ]);
});

it('a certificate to call the hub with is not offered, and asking for it does not touch the token', async () => {
  expect(await enrol(host, token, { csr: 'AAAA', use: 'client' })).toBe('certificates_not_offered');
  expect(await enrol(host, token)).toBe('done');
});

it('the token is stored under the key-encryption key: whoever copies its row elsewhere gains nothing', async () => {
  await enrolNew(hub, 'agent-8');
  const { token: eight = '' } = await reenrolHost(hub, 'agent-8', undefined, operator);
  hub.tamper(
    `update enrolment_tokens set key_ciphertext = (select key_ciphertext from enrolment_tokens where host = 'agent-8' and state = 'live') where host = 'agent-7'`,
  );
  expect(await enrol(host, token)).toBe('unavailable');
  expect(await enrol(createTestHost('agent-8'), eight)).toBe('done');
  expect(await codeOf(host.beat(hub, { bearer: thiefBearer(hub, 'agent-7', 1, 1) }))).toBe('unauthenticated');
});
