/** The rung `host-token`: what proves one host, issued once, found by a keyed digest (design 3). */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { encodeBase64url, utf8 } from '@rollcall/core/bytes';
import { encodeToken, parseToken } from '@rollcall/core/keys';
import { beforeEach, describe, expect, it } from 'vitest';
import { type AuthenticatedHost, authenticateHost, authenticateMember } from './authenticate.ts';
import { createTestHost, createWrapKey, enrolNew, type TestHost, thiefBearer } from './host.fixture.ts';
import { auditOf, codeOf, createTestHub, DAY_MS, MINUTE_MS, operator, type TestHub } from './hub.fixture.ts';
import { acceptFirstUse } from './operations/accept-first-use.ts';
import { addHost, reenrolHost } from './operations/add-host.ts';
import { createSecret } from './operations/create-secret.ts';
import { approvePin } from './operations/decide-pin.ts';
import { evictHost, removeHost } from './operations/end-host.ts';
import { dropHostToken, giveHostToken, issueHostToken } from './operations/issue-host-token.ts';
import { resumeHost, suspendHost, unbanHost } from './operations/suspend-host.ts';
import { receiveDeclaredBeat } from './operations/token/receive-declared-beat.ts';
import { readHost } from './store/hosts.ts';
import { findPin } from './store/pins.ts';
import { listHostRows, showHost } from './views/hosts.ts';

const ID = 'printer-1';
let hub: TestHub;
let host: TestHost;
let token: string;
beforeEach(async () => {
  hub = await createTestHub();
  token = (await addHost(hub, { host: ID, token: true }, operator)).token ?? '';
  host = createTestHost(ID);
});

/** With the headers alone, as they come. */
async function authenticate(...rawHeaders: string[]): Promise<AuthenticatedHost> {
  return authenticateHost(hub, { rawHeaders } as IncomingMessage, 'heartbeat');
}

const present = (text = token) => authenticate('Authorization', `Bearer ${text}`);
const beat = (changes: Parameters<TestHost['beat']>[1] = {}) => host.beat(hub, { bearer: token, ...changes });
const rowOf = async (id = ID) => (await listHostRows(hub)).find((row) => row.id === id);
const tokensOf = async (id = ID) => (await showHost(hub, id)).tokens;

describe('a token of a host', () => {
  it('is of its form, and lets in the host that it was issued for, with its id beside it or without', async () => {
    expect(parseToken('rch', token)).toHaveLength(32);
    expect(await present()).toMatchObject({ entry: { id: ID }, rung: 'host-token', version: null, life: 1 });
    expect(await authenticate('X-Rollcall-Host', ID, 'authorization', `Bearer ${token}`)).toMatchObject({
      entry: { id: ID },
    });
    expect([...hub.counts.read('host_token_auth')]).toEqual([['ok', 2]]);
  });

  it('moves what describes its host, proves nothing of a generation, and gets what is sealed to its pin alone', async () => {
    expect(await beat()).toMatchObject({ pin: { state: 'not_accepted' }, deliveries: [] });
    expect(await rowOf()).toMatchObject({ fresh: true, rung: 'host-token', proven: {}, pin: null });
    expect(await codeOf(beat({ bearer: `${token}x` }))).toBe('unauthenticated');
  });

  it.each<[string, () => string[], string]>([
    [
      'another value',
      () => ['Authorization', `Bearer ${encodeToken('rch', new Uint8Array(32).fill(7))}`],
      'unauthenticated',
    ],
    ['a typing error', () => ['Authorization', `Bearer ${token.slice(0, -2)}`], 'unauthenticated'],
    [
      'its value as a bearer of the rung above',
      () => ['Authorization', `Bearer rcb_${token.slice(4)}`, 'X-Rollcall-Host', ID],
      'unauthenticated',
    ],
    [
      'its value as an operator’s',
      () => ['Authorization', `Bearer rco_${token.slice(4)}`, 'X-Rollcall-Host', ID],
      'unauthenticated',
    ],
    ['another scheme', () => ['Authorization', `Basic ${token}`], 'unauthenticated'],
    ['itself twice', () => ['Authorization', `Bearer ${token}`, 'Authorization', `Bearer ${token}`], 'unauthenticated'],
    ['a malformed id', () => ['Authorization', `Bearer ${token}`, 'X-Rollcall-Host', 'a/b'], 'unauthenticated'],
    [
      'a shared token that nobody knows',
      () => ['Authorization', `Bearer ${token}`, 'X-Node-Token', 'x'.repeat(32)],
      'unauthenticated',
    ],
    [
      'the id of another host',
      () => ['Authorization', `Bearer ${token}`, 'X-Rollcall-Host', 'agent-7'],
      'host_mismatch',
    ],
    ['an id of nobody', () => ['Authorization', `Bearer ${token}`, 'X-Rollcall-Host', 'nobody'], 'host_mismatch'],
  ])('with %s is refused', async (_name, headers, code) => {
    await enrolNew(hub, 'agent-7');
    expect(await codeOf(authenticate(...headers()))).toBe(code);
    expect(await codeOf(present())).toBe('done');
  });

  it('beside the body of another host is refused, and nothing of either moves', async () => {
    await enrolNew(hub, 'agent-7');
    const before = await rowOf('agent-7');
    expect(await codeOf(beat({ body: { host: 'agent-7' } }))).toBe('host_mismatch');
    expect([await rowOf('agent-7'), (await rowOf())?.lastSeenAt]).toEqual([before, null]);
    expect(await codeOf(beat({ body: { host: ID } }))).toBe('done');
  });

  it('is refused where the other verifiers of the fleet would take a bearer of the same host', async () => {
    const agent = await enrolNew(hub, 'agent-7');
    const { token: own } = await issueHostToken(hub, 'agent-7', operator);
    expect(await authenticate('Authorization', `Bearer ${own}`)).toMatchObject({ entry: { id: 'agent-7' } });
    expect(await codeOf(host.beat(hub, { bearer: own }))).toBe('host_mismatch');
    expect(await codeOf(agent.beat(hub))).toBe('done');
  });
});

describe('a refusal', () => {
  const asked: string[] = [];
  const watch = (what: string, ask: () => Promise<void>) => async () => {
    asked.push(what);
    await ask();
  };

  it('asks the source the same, whatever was wrong, and hashes as often', async () => {
    await addHost(hub, { host: 'gone', token: true }, operator);
    const gone = (await issueHostToken(hub, 'gone', operator)).token;
    await suspendHost(hub, 'gone', operator);
    let digests = 0;
    const count = (digest: Uint8Array) => {
      digests += 1;
      return digest;
    };
    const watched = {
      ...hub,
      vault: { ...hub.vault, digest: (bytes: Uint8Array) => count(hub.vault.digest(bytes)) },
      roll: { ...hub.roll, catchUp: watch('roll', hub.roll.catchUp) },
      generations: { ...hub.generations, catchUp: watch('generations', hub.generations.catchUp) },
    } as TestHub;
    const texts = [gone, encodeToken('rch', new Uint8Array(32)), 'rch_', `rch_${'x'.repeat(2_000)}`, `${token}x`];
    for (const text of texts) {
      asked.length = 0;
      digests = 0;
      const request = { rawHeaders: ['Authorization', `Bearer ${text}`] } as IncomingMessage;
      expect(await codeOf(() => authenticateHost(watched, request, 'heartbeat'))).toBe('unauthenticated');
      expect([asked, digests]).toEqual([['generations', 'roll'], 4]);
    }
    expect(hub.counts.read('host_token_auth').get('refused')).toBe(texts.length);
  });

  it('is asked of the store: what this process did not see yet is taken, and what it did not see end is not', async () => {
    const fresh = await hub.db
      .transaction()
      .execute(async (tx) => giveHostToken(hub, tx, await readHost(tx, hub.vault, ID), operator));
    expect(await codeOf(present(fresh.token))).toBe('done');
    expect(await codeOf(dropHostToken(hub, ID, fresh.id, operator))).toBe('done');
    expect(await codeOf(present(fresh.token))).toBe('unauthenticated');
  });

  it('is none while the store does not answer, and a yes ends 30 s after it was read', async () => {
    await present();
    await hub.close();
    expect(await codeOf(present(`${token}x`))).toBe('unavailable');
    expect(await codeOf(present())).toBe('done');
    await hub.wall.advance(30_000);
    expect(await codeOf(present())).toBe('unavailable');
  });
});

describe('the end of a host', () => {
  it('is the end of its token while it is suspended, and no longer', async () => {
    expect(await codeOf(present())).toBe('done');
    await suspendHost(hub, ID, operator);
    expect(await codeOf(present())).toBe('unauthenticated');
    await resumeHost(hub, ID, operator);
    expect(await codeOf(present())).toBe('done');
  });

  it.each<[string, () => Promise<unknown>]>([
    ['evicted', () => evictHost(hub, ID, false, operator)],
    ['banned', () => evictHost(hub, ID, true, operator)],
    [
      'banned, and let enrol again',
      async () => {
        await evictHost(hub, ID, true, operator);
        await unbanHost(hub, ID, operator);
      },
    ],
    ['removed', () => removeHost(hub, ID, operator)],
    [
      'removed and added anew',
      async () => {
        await removeHost(hub, ID, operator);
        await addHost(hub, { host: ID, token: true }, operator);
      },
    ],
    [
      'enrolled, which begins a life',
      async () => {
        const { token: enrolment = '' } = await reenrolHost(hub, ID, undefined, operator);
        await host.enrol(hub, enrolment);
      },
    ],
  ])('that is %s is for ever, after a restart too', async (_name, end) => {
    expect(await codeOf(present())).toBe('done');
    await end();
    expect(await codeOf(present())).toBe('unauthenticated');
    hub = await hub.restart();
    expect(await codeOf(present())).toBe('unauthenticated');
  });

  it('is that of its token at an operator’s re-pin, and no former life stays open to it', async () => {
    const agent = await enrolNew(hub, 'agent-7');
    const own = (await issueHostToken(hub, 'agent-7', operator)).token;
    expect(await codeOf(agent.beat(hub, { bearer: own }))).toBe('done');
    const reinstalled = createWrapKey();
    await agent.beat(hub, { key: reinstalled });
    await approvePin(hub, 'agent-7', reinstalled.public.fingerprint, operator);
    expect(await codeOf(agent.beat(hub, { bearer: own }))).toBe('unauthenticated');
    const former = { bearer: thiefBearer(hub, 'agent-7', 1, 1), key: reinstalled, lost: true };
    expect(await codeOf(agent.beat(hub, former))).toBe('done');
  });

  it.each(['invited', 'evicted', 'suspended', 'removed'])('gives no token to one that is %s', async (state) => {
    await addHost(hub, { host: 'other', ...(state === 'invited' ? {} : { token: true }) }, operator);
    if (state === 'evicted') await evictHost(hub, 'other', false, operator);
    if (state === 'suspended') await suspendHost(hub, 'other', operator);
    if (state === 'removed') await removeHost(hub, 'other', operator);
    const codes = { invited: 'host_not_enrolled', evicted: 'host_not_enrolled', suspended: 'host_suspended' };
    expect(await codeOf(issueHostToken(hub, 'other', operator))).toBe(
      (codes as Record<string, string>)[state] ?? 'host_unknown',
    );
    expect(await codeOf(issueHostToken(hub, ID, operator))).toBe('done');
  });
});

describe('a further token', () => {
  it('is beside the one before until it is seen, and never a third', async () => {
    await beat();
    const second = await issueHostToken(hub, ID, operator);
    expect([await codeOf(present()), await codeOf(present(second.token))]).toEqual(['done', 'done']);
    expect(await codeOf(issueHostToken(hub, ID, operator))).toBe('host_tokens_full');
    // Authenticated is not yet seen: what a host sends has come whole by then.
    expect(await tokensOf()).toHaveLength(2);
    await beat({ bearer: second.token });
    expect(await tokensOf()).toEqual([{ id: second.id, issuedAt: expect.any(String), seenAt: expect.any(String) }]);
    expect([await codeOf(beat()), await codeOf(beat({ bearer: second.token }))]).toEqual(['unauthenticated', 'done']);
    expect(await codeOf(issueHostToken(hub, ID, operator))).toBe('done');
    expect((await auditOf(hub)).slice(-4)).toEqual([
      'host.token_seen printer-1 done',
      'host.token_issued printer-1 done',
      'host.token_seen printer-1 done',
      'host.token_issued printer-1 done',
    ]);
  });

  it('is not ended by the one before it that is seen first', async () => {
    const second = await issueHostToken(hub, ID, operator);
    await beat();
    expect([await codeOf(beat()), await codeOf(present(second.token))]).toEqual(['done', 'done']);
  });

  it('ends by an operator’s word, and no other does', async () => {
    const second = await issueHostToken(hub, ID, operator);
    const [first] = await tokensOf();
    expect(await codeOf(dropHostToken(hub, ID, '00000000', operator))).toBe('host_token_unknown');
    await dropHostToken(hub, ID, first?.id ?? '', operator);
    expect([await codeOf(present()), await codeOf(present(second.token))]).toEqual(['unauthenticated', 'done']);
    expect(await codeOf(dropHostToken(hub, ID, first?.id ?? '', operator))).toBe('host_token_unknown');
  });
});

describe('a host that was known by its token', () => {
  const SHARED = 'shared-token-of-the-fleet-0001';
  const declare = async () => {
    const rawHeaders = ['X-Node-Token', SHARED, 'X-Rollcall-Host', ID];
    const who = await authenticateMember(hub, { rawHeaders } as IncomingMessage, 'heartbeat');
    const sentAt = new Date(hub.wall.now()).toISOString();
    const body = { instance: encodeBase64url(new Uint8Array(16)), seq: 1, held: {}, refused: [], sentAt };
    await receiveDeclaredBeat(hub, {
      who,
      body: { ...body, agent: { version: '0.9' }, startup: 'fresh' },
      from: '192.0.2.9',
      userAgent: 'old/1',
    });
  };
  const rung = async () => (await rowOf())?.rung;

  it('is spoken for with a shared token until then, and never after, be it ended meanwhile', async () => {
    await createSecret(hub, { name: 'fleet', value: encodeBase64url(utf8(SHARED)), holders: ['caller:old'] }, operator);
    await declare();
    expect(await rung()).toBe('fleet-token');
    await beat();
    await declare();
    expect(await rung()).toBe('host-token');
    expect((await rowOf())?.flags).toContain('lower_rung_seen');
    const [own] = await tokensOf();
    await dropHostToken(hub, ID, own?.id ?? '', operator);
    const again = await hub.restart();
    expect([again.roll.get(ID)?.wasSeenByToken, again.roll.get(ID)?.hostTokens]).toEqual([true, []]);
  });
});

describe('beside the own bearer of its host', () => {
  it('says nothing of what the agent has refused: whoever found the token would pause what the agent takes part in', async () => {
    const agent = await enrolNew(hub, 'agent-7');
    const own = (await issueHostToken(hub, 'agent-7', operator)).token;
    const refused = [{ secret: 'fleet', reason: 'disk_full' }];
    await agent.beat(hub, { bearer: own, body: { refused } });
    expect(hub.roll.get('agent-7')?.refused).toEqual([]);
    // The control: its agent does, and no such beat says otherwise; and a host without an agent speaks for itself.
    await agent.beat(hub, { body: { refused } });
    await agent.beat(hub, { bearer: own });
    expect(hub.roll.get('agent-7')?.refused).toEqual(refused);
    await beat({ body: { refused } });
    expect(hub.roll.get(ID)?.refused).toEqual(refused);
  });
});

describe('a token of a host whose agent is heard', () => {
  let agent: TestHost;
  let own: string;
  beforeEach(async () => {
    agent = await enrolNew(hub, 'agent-7');
    own = (await issueHostToken(hub, 'agent-7', operator)).token;
  });
  const AS = { instance: 'dGhpZWYtaW5zdGFuY2UtMQ' };
  const program = (seq: number) => agent.beat(hub, { bearer: own, from: '198.51.100.9', body: { ...AS, seq } });
  const speaks = async () => {
    await agent.beat(hub, { body: { listener: { address: '192.0.2.1:7444', open: true } } });
    return hub.tokenReports.of('agent-7').listener;
  };

  it('takes the word from it neither for its reports nor for what describes it, and makes it no clone; that is counted and shown', async () => {
    expect(await speaks()).toBe('open');
    for (let seq = 1; seq <= 4; seq += 1) {
      await program(seq);
      hub.tokenReports.forget('agent-7');
      expect(await speaks()).toBe('open');
    }
    expect(await rowOf('agent-7')).toMatchObject({
      rung: 'derived',
      flags: expect.arrayContaining(['lower_rung_seen']),
    });
    expect([hub.roll.get('agent-7')?.address, hub.roll.get('agent-7')?.cloneAlertedAt]).toEqual(['192.0.2.1', null]);
    expect(hub.counts.read('instances').get('lower_rung')).toBe(4);
  });

  it('speaks for it once that has fallen silent, and the same again is a replay', async () => {
    await speaks();
    await hub.wall.advance(MINUTE_MS);
    await program(1);
    expect(await rowOf('agent-7')).toMatchObject({ rung: 'host-token', fresh: true });
    await hub.wall.advance(MINUTE_MS);
    await program(1);
    expect((await rowOf('agent-7'))?.fresh).toBe(false);
    expect(hub.counts.read('instances').get('replay')).toBe(1);
    // And the agent has the word again as soon as it is back.
    await speaks();
    await program(2);
    expect(await rowOf('agent-7')).toMatchObject({ rung: 'derived', fresh: true });
  });
});

describe('what its publication does', () => {
  it('is nothing where first use is not accepted, and is first use where it is', async () => {
    expect(await beat()).toMatchObject({ pin: { state: 'not_accepted' } });
    await hub.wall.advance(DAY_MS);
    await beat();
    const until = new Date(hub.wall.now() + DAY_MS).toISOString();
    await acceptFirstUse(hub, { on: true, exposed: 0, until }, operator);
    expect(await beat({ key: createWrapKey() })).toMatchObject({ pin: { state: 'not_accepted' } });
    const answer = await beat();
    expect(answer).toMatchObject({ pin: { state: 'pinned', fingerprint: host.key.public.fingerprint } });
    expect(answer.deliveries).toHaveLength(1);
    expect(await findPin(hub.db, hub.vault, ID)).toMatchObject({ anchor: 'first-use' });
    // The host has opened it, and stands one rung higher by its own bearer.
    expect(await codeOf(host.beat(hub))).toBe('done');
    expect(await rowOf()).toMatchObject({ rung: 'derived', proven: { master: { version: 1 } } });
  });

  it('of another key than the pin waits for a person, and deliveries go on to the pin', async () => {
    const agent = await enrolNew(hub, 'agent-7');
    const own = (await issueHostToken(hub, 'agent-7', operator)).token;
    const stranger = createWrapKey();
    expect(await agent.beat(hub, { bearer: own, key: stranger })).toMatchObject({
      pin: { state: 'pending', fingerprint: agent.key.public.fingerprint },
    });
    expect(await rowOf('agent-7')).toMatchObject({ pending: true, pin: { anchor: 'enrolment' } });
    expect(await auditOf(hub)).toContain('pin.challenged agent-7 refused');
    expect(await agent.beat(hub, { bearer: own })).toMatchObject({ pin: { state: 'pinned' } });
  });
});

describe('a stolen database', () => {
  it('holds neither a token nor what it could be guessed by', async () => {
    await beat();
    await hub.close();
    const files = [hub.file, `${hub.file}-wal`].map((file) => {
      try {
        return readFileSync(file);
      } catch {
        return Buffer.alloc(0);
      }
    });
    const bytes = Buffer.concat(files);
    const value = Buffer.from(parseToken('rch', token));
    expect(bytes.includes(Buffer.from(ID))).toBe(true);
    for (const plain of [value, Buffer.from(token), Buffer.from(token.slice(4))]) {
      expect(bytes.includes(plain)).toBe(false);
      for (const encoding of ['hex', 'base64', 'base64url'] as const) {
        expect(bytes.includes(Buffer.from(plain.toString(encoding)))).toBe(false);
      }
      expect(bytes.includes(createHash('sha256').update(plain).digest())).toBe(false);
    }
  });

  it.each<[string, string]>([
    ['another life', 'update host_tokens set life = life + 1'],
    ['that it was not ended', 'update host_tokens set live = 1'],
    ['another host', `update host_tokens set host = 'agent-7'`],
    ['another id', `update host_tokens set id = 'ffffffff'`],
    ['no MAC', 'update host_tokens set mac = zeroblob(32)'],
  ])('with a row that was changed to %s lets nobody in by it, and is not “no token”', async (_name, sql) => {
    const agent = await enrolNew(hub, 'agent-7');
    await beat();
    if (sql.includes('live')) {
      const [own] = await tokensOf();
      await dropHostToken(hub, ID, own?.id ?? '', operator);
    } else expect(await codeOf(present())).toBe('done');
    hub.tamper(sql);
    const codes = [await codeOf(present(`${token}x`)), await codeOf(present())];
    expect(codes).toEqual(['unauthenticated', 'unavailable']);
    expect(await codeOf(agent.beat(hub))).toBe('done');
    const id = sql.includes('agent-7') ? 'agent-7' : ID;
    expect((await showHost(hub, id)).unreadable).toEqual(['host_tokens']);
    expect((await rowOf(id))?.flags).toContain('unreadable');
    expect(await codeOf(issueHostToken(hub, id, operator))).toBe('store_unreadable');
    await reenrolHost(hub, id, undefined, operator);
    expect((await showHost(hub, id)).unreadable).toEqual([]);
    expect(await codeOf(issueHostToken(hub, id, operator))).toBe('done');
  });

  it('with a row that a thief wrote lets him in by none', async () => {
    const thiefs = encodeToken('rch', new Uint8Array(32).fill(3));
    hub.tamper(
      `insert into host_tokens select host, 'aaaaaaaa', life, ?, issued_at, seen_at, live, mac from host_tokens`,
      Buffer.from(hub.vault.digest(utf8(thiefs))),
    );
    expect(await codeOf(present(thiefs))).toBe('unavailable');
    hub.tamper(`delete from host_tokens where id = 'aaaaaaaa'`);
    await hub.wall.advance(MINUTE_MS);
    expect([await codeOf(present(thiefs)), await codeOf(present())]).toEqual(['unauthenticated', 'done']);
  });
});
