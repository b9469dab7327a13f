import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { connect } from 'node:tls';
import { limits } from '@rollcall/core/limits';
import { unauthenticatedBody } from '@rollcall/wire';
import { afterEach, describe, expect, it } from 'vitest';
import { durableState, host } from '../fleet.fixture.ts';
import { commandBearer, dropOf, dropping, holding, tokenStep, tokenText } from '../listener/listener.fixture.ts';
import { certified } from '../listener.fixture.ts';
import { encodeDurableState, parseDurableState } from '../state/durable-state.ts';
import { authority, certificate, createTestHost, type TestHost, until } from './host-listener.fixture.ts';
import { callTls, type Headers } from './tls-call.fixture.ts';

const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function made(...given: Parameters<typeof createTestHost>): TestHost {
  const at = createTestHost(...given);
  closing.push(() => at.listener.close());
  return at;
}

async function opened(...given: Parameters<typeof createTestHost>): Promise<TestHost> {
  const at = made(...given);
  await at.confirm();
  expect(at.listener.status()).toMatchObject({ open: true, reason: null });
  return at;
}

const step = tokenStep(1, [1]);
const narrowed = dropping(tokenStep(4, [2]), 1);
const token = (version = 1): Headers => [['X-Node-Token', tokenText(version)]];
const command: Headers = [
  ['Authorization', `Bearer ${commandBearer(1)}`],
  ['X-Rollcall-Host', host],
];

describe('the listener opens', () => {
  it('once the hub has confirmed the generation, and not before', async () => {
    const at = made([step]);
    await at.listener.settled();
    expect(at.listener.status()).toEqual({ open: false, address: '127.0.0.1:0', reason: 'listener_unconfirmed' });
    await at.confirm();
    const { address } = at.listener.status();
    expect(at.listener.status()).toMatchObject({ open: true, reason: null });
    expect(at.listener.reports.take().listener).toEqual({ address, open: true });
    expect(await callTls(at.port(), '/v1/host', token())).toMatchObject({ status: 200, protocol: 'TLSv1.3' });
    expect(at.codes).toEqual(['listener_unconfirmed']);
  });

  it('with what came beside the confirmation, and not a moment before it: nobody is refused what others were told to present', async () => {
    const at = made([step]);
    const { durable } = at.state();
    const next = tokenStep(2, [1, 2]);
    const taken = { ...durable, assignments: new Map(durable.assignments).set(next.secret, next) };
    const doing = {
      kind: 'persisting',
      next: taken,
      secrets: [next.secret],
      refusedBefore: new Map(),
      isBeginning: false,
      thenAtOnce: true,
      wakeAtMs: 0,
    } as const;
    await at.change({ doing });
    await at.confirm();
    expect(at.listener.status()).toMatchObject({ open: false, reason: 'listener_unconfirmed' });
    await at.change({ durable: taken, doing: { kind: 'waiting' } });
    for (const version of [1, 2]) expect((await callTls(at.port(), '/v1/host', token(version))).status).toBe(200);
    // The control: it is no reason to close what is open.
    await at.change({ doing });
    expect(at.listener.status().open).toBe(true);
  });

  it('having said so before: the answer to that beat may open it, and callers must not switch past a verifier', async () => {
    const at = made([step]);
    await at.listener.settled();
    expect(at.listener.reports.take().listener).toEqual({ address: '127.0.0.1:0', open: false });
    await at.confirm();
    expect(at.listener.reports.take().listener).toMatchObject({ open: true });
    // The control: who has none says none.
    const { listener } = createTestHost([step], { listen: undefined as never });
    expect(listener.reports.take().listener).toBeUndefined();
    await listener.close();
  });

  it.each([
    ['listener_no_credential', { assignments: new Map() }],
    ['listener_no_certificate', { listener: {} }],
  ])('not with %s, closes when it comes to that, and says so once', async (code, lacking) => {
    const at = await opened([step]);
    const { durable } = at.state();
    const port = at.port();
    await at.change({ durable: { ...durable, ...lacking } });
    await at.change({ durable: { ...durable, ...lacking } });
    expect(at.listener.status()).toMatchObject({ open: false, reason: code });
    await expect(callTls(port, '/healthz')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(at.codes).toEqual([code]);
    await at.change({ durable });
    expect(at.listener.status().open).toBe(true);
  });

  it('not where another program listens, and says so', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    closing.push(() => new Promise((resolve) => other.close(resolve)));
    const at = made([step], { address: `127.0.0.1:${(other.address() as AddressInfo).port}` });
    await at.confirm();
    expect(at.listener.status()).toMatchObject({ open: false, reason: 'listen_failed' });
  });

  it('nowhere on the network where none is configured, and is no problem', async () => {
    const at = createTestHost([step]);
    await at.listener.close();
    const without = made([step], { listen: undefined } as never);
    await without.confirm();
    expect(without.listener.status()).toEqual({ open: false, address: null, reason: 'listener_not_configured' });
    expect(without.codes).toEqual([]);
  });
});

describe('the listener closes', () => {
  it.each<[string, (at: TestHost) => unknown]>([
    ['the window has passed without a word', (at) => at.skip(limits.verifyWindowMs)],
    ['the machine was suspended, though the window is open', (at) => at.suspend(60_000)],
  ])('when %s: nobody is answered, whoever was connected is cut off', async (_, happens) => {
    const at = await opened([step]);
    const port = at.port();
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
    closing.push(async () => socket.destroy());
    socket.on('error', () => undefined);
    await new Promise((resolve) => socket.once('secureConnect', resolve));
    const ended = new Promise((resolve) => socket.once('close', resolve));
    happens(at);
    await expect(callTls(port, '/v1/host', token())).rejects.toThrow();
    await at.listener.settled();
    expect(at.listener.status()).toMatchObject({ open: false, reason: 'listener_unconfirmed' });
    await ended;
    // And opens again with the hub's word.
    await at.confirm();
    expect(await callTls(at.port(), '/v1/host', token())).toMatchObject({ status: 200 });
  });

  it('by itself, without anybody who asks', async () => {
    const at = await opened([step]);
    at.skip(limits.verifyWindowMs);
    await until(() => !at.listener.status().open);
  });

  it('when the hub verifies another generation', async () => {
    const at = await opened([step]);
    await at.confirm([2]);
    expect(at.listener.status()).toMatchObject({ open: false, reason: 'listener_unconfirmed' });
  });
});

describe('a caller over the network', () => {
  it('is told who it is: by token declared, by command verified', async () => {
    const at = await opened([step]);
    const said = async (headers: Headers, method = 'GET') =>
      JSON.parse((await callTls(at.port(), '/v1/echo?x=1', headers, { method })).body) as unknown;
    expect(await said([...token(), ['X-Rollcall-Host', 'agent-8']])).toEqual({
      method: 'GET',
      path: '/v1/echo',
      rung: 'fleet-token',
      host: null,
      declaredHost: 'agent-8',
    });
    expect(await said([...command, ...token()], 'POST')).toMatchObject({ method: 'POST', rung: 'command', host });
  });

  it('sees what the host holds by number, and no value', async () => {
    const at = await opened([tokenStep(2, [1, 2], 1)]);
    const { body } = await callTls(at.port(), '/v1/host', command);
    expect(JSON.parse(body)).toMatchObject({
      host,
      life: 1,
      held: { master: { epoch: 1, step: 1 }, api: { epoch: 1, step: 2 } },
      tokens: [{ secret: 'api', accepts: [1, 2], presents: 1 }],
      listener: { open: true },
    });
    expect(body).not.toContain(tokenText(1).slice(4, 20));
    expect(JSON.parse((await callTls(at.port(), '/v1/sinks', token())).body)).toEqual({ sinks: [] });
  });

  it.each<[string, Headers]>([
    ['nothing', []],
    ['another token', token(9)],
    ['a good token and an empty one', [...token(), ['X-Node-Token', '']]],
    ['a command twice', [...command, ...command]],
    ['a command for another host', [command[0] as [string, string], ['X-Rollcall-Host', 'agent-8']]],
    ['a command and a bad token', [...command, ...token(9)]],
  ])('with %s gets the same bytes, whatever it asks for', async (_, headers) => {
    const at = await opened([step]);
    for (const path of ['/v1/host', '/v1/nothing', '/', '/healthz/', '/v1/status', '/v1/reload', '/v1/probe']) {
      const { status, contentType, body } = await callTls(at.port(), path, headers, { method: 'POST', body: '{' });
      expect([status, contentType, body]).toEqual([401, 'application/json', unauthenticatedBody]);
    }
    expect(await callTls(at.port(), '/v1/nothing', token())).toMatchObject({ status: 404 });
    expect(await callTls(at.port(), '/v1/host', token(), { method: 'DELETE' })).toMatchObject({ status: 404 });
    for (const verb of ['/v1/status', '/v1/reload', '/v1/probe']) {
      expect(await callTls(at.port(), verb, command, { method: 'POST' })).toMatchObject({ status: 404 });
    }
  });

  it('may ask without a credential whether it lives', async () => {
    const at = await opened([step]);
    expect(await callTls(at.port(), '/healthz?x')).toMatchObject({ status: 200, body: '{"status":"ok"}' });
    expect(await callTls(at.port(), '/readyz')).toMatchObject({ status: 200, body: '{"status":"ready"}' });
    expect(await callTls(at.port(), '/version')).toMatchObject({ status: 200, body: '{"version":"0.0.0-test"}' });
    expect(await callTls(at.port(), '/healthz', [], { method: 'POST' })).toMatchObject({ status: 404 });
  });

  it('speaks TLS 1.3, and stays within bounds', async () => {
    const at = await opened([step]);
    await expect(callTls(at.port(), '/healthz', [], { maxVersion: 'TLSv1.2' })).rejects.toThrow();
    const large: Headers = [['X-Large', 'x'.repeat(limits.headerBytes)]];
    expect(await callTls(at.port(), '/v1/host', large)).toMatchObject({ status: 431 });
    const body = 'x'.repeat(limits.heartbeatBodyBytes);
    expect(await callTls(at.port(), '/v1/echo', token(), { method: 'POST', body })).toMatchObject({ status: 200 });
  });

  it('meets a new certificate without a moment in which nobody listens', async () => {
    const at = await opened([step]);
    const port = at.port();
    const next = certified(authority, Date.now());
    expect((await callTls(port, '/healthz')).leaf).toEqual(certificate.chain[0]);
    await at.change({ durable: { ...at.state().durable, listener: { current: next } } });
    expect((await callTls(port, '/healthz')).leaf).toEqual(next.chain[0]);
    expect(at.port()).toBe(port);
    await expect(callTls(port, '/healthz', [], { maxVersion: 'TLSv1.2' })).rejects.toThrow();
    // A resumed connection would show no certificate to judge, neither before nor after.
    const { offered } = await exchangeOnce(port);
    expect(await exchangeOnce(port, offered)).toMatchObject({ isReused: false });
  });
});

/** One exchange, and the session that was offered with it; whether it went on with the one that was given. */
async function exchangeOnce(port: number, session?: Buffer) {
  const socket = connect({
    host: '127.0.0.1',
    port,
    rejectUnauthorized: false,
    ...(session === undefined ? {} : { session }),
  });
  let offered: Buffer | undefined;
  socket.on('session', (next) => {
    offered = next;
  });
  await new Promise((resolve) => socket.once('secureConnect', resolve));
  const isReused = socket.isSessionReused();
  socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  socket.resume();
  await new Promise((resolve) => socket.once('close', resolve));
  return { isReused, offered };
}

describe('hits', () => {
  const count = (at: TestHost, version: number) =>
    at.listener.reports.take().tokens?.[0]?.hits.find((hit) => hit.version === version)?.count;

  it('are counted by version, with who still sends the old one; what is refused or open is not', async () => {
    const at = await opened([tokenStep(2, [1, 2], 2)]);
    await callTls(at.port(), '/v1/host', token(2));
    await callTls(at.port(), '/healthz', token(1));
    await callTls(at.port(), '/v1/host', [...token(1), ...token(9)]);
    expect([count(at, 1), count(at, 2)]).toEqual([0, 1]);
    const named: Headers = [...token(1), ['X-Rollcall-Host', 'agent-8'], ['User-Agent', 'cron/1']];
    await callTls(at.port(), '/v1/sinks?token=secret', named);
    const [report] = at.listener.reports.take().tokens ?? [];
    expect(report?.hits).toEqual([
      { version: 1, count: 1 },
      { version: 2, count: 1 },
    ]);
    expect(report?.samples).toMatchObject([
      { address: '127.0.0.1', userAgent: 'cron/1', route: '/v1/sinks', host: 'agent-8', version: 1 },
    ]);
    // On the host's own socket too: it is the same verifier.
    expect(JSON.stringify(report)).not.toContain('secret=');
  });

  it('are not those of probes, by the hub or by the agent', async () => {
    const at = await opened([tokenStep(2, [1, 2], 2)]);
    await until(() => (at.listener.reports.take().probes ?? []).length === 1);
    expect((await at.listener.probe()).probes).toMatchObject([{ takes: [1, 2], randomRefused: true, passed: true }]);
    const probe: Headers = [...command, ['X-Rollcall-Probe', '1']];
    expect(await callTls(at.port(), '/v1/echo', [...probe, ...token(1)])).toMatchObject({ status: 200 });
    expect(await callTls(at.port(), '/v1/echo', [...probe, ...token(9)])).toMatchObject({ status: 401 });
    expect([count(at, 1), count(at, 2)]).toEqual([0, 0]);
    // A mark without the hub's bearer hides nothing.
    await callTls(at.port(), '/v1/echo', [...token(1), ['X-Rollcall-Probe', '1']]);
    expect(count(at, 1)).toBe(1);
  });

  it('are handed to the next start as they are', async () => {
    const at = createTestHost([step]);
    await at.confirm();
    await callTls(at.port(), '/v1/host', token());
    const before = at.listener.reports.take().tokens;
    const keptCounters = await at.listener.close();
    const next = made([step], { keptCounters });
    expect(next.listener.reports.take().tokens).toEqual(before);
    const anew = made([step], { keptCounters: 'damaged' });
    expect(anew.codes).toContain('malformed_json');
    expect(anew.listener.reports.take().tokens?.[0]).toMatchObject({ hits: [{ version: 1, count: 0 }] });
  });
});

describe('probes', () => {
  const found = (at: TestHost) => at.listener.reports.take().probes?.[0];

  it('follow each step, and say what it takes and takes no more; the beat does not wait for its time', async () => {
    const at = await opened([step]);
    await until(() => found(at)?.step === 1);
    const { reports } = at.listener;
    // What was told while nobody waited wakes the next one, once.
    expect([reports.news().aborted, reports.news().aborted]).toEqual([true, false]);
    const news = reports.news();
    await at.apply(tokenStep(2, [1, 2], 1));
    await until(() => news.aborted);
    expect(found(at)).toMatchObject({ step: 2, takes: [1, 2], refuses: [], randomRefused: true });
    expect(reports.news().aborted).toBe(false);
    await at.apply(tokenStep(3, [1, 2], 2));
    await at.apply(tokenStep(4, [2]));
    await until(() => found(at)?.step === 4);
    expect(found(at)).toMatchObject({ takes: [2], refuses: [1], randomRefused: true });
  });

  it('after a start in the middle of narrowing ask what the step names, which is taken from nobody', async () => {
    const held = parseDurableState(encodeDurableState(durableState({ assignments: holding([narrowed]) })));
    const at = await opened([held.assignments.get('api') ?? narrowed]);
    await until(() => found(at)?.step === 4);
    expect(found(at)).toMatchObject({ takes: [2], refuses: [1], randomRefused: true });
    expect((await at.listener.probe()).probes).toMatchObject([{ takes: [2], refuses: [1], passed: true }]);
    expect((await callTls(at.port(), '/v1/host', token(1))).status).toBe(401);
    expect((await callTls(at.port(), '/v1/host', token(2))).status).toBe(200);
    // The last step forgets it.
    await at.apply(tokenStep(5, [2]));
    await until(() => found(at)?.step === 5);
    expect(found(at)).toMatchObject({ takes: [2], refuses: [] });
  });

  it('of a token that was dropped are none, and nothing of it is taken or counted', async () => {
    const other = tokenStep(1, [1], 1, 'other');
    const at = await opened([step, other]);
    await until(() => at.listener.reports.take().probes?.length === 2);
    await at.apply(dropOf(2));
    expect((await callTls(at.port(), '/v1/host', token(1))).status).toBe(401);
    const ofOther: Headers = [['X-Node-Token', tokenText(1, 'other')]];
    const { status, body } = await callTls(at.port(), '/v1/host', ofOther);
    expect(status).toBe(200);
    expect(JSON.parse(body)).toMatchObject({ tokens: [{ secret: 'other' }], held: { api: { epoch: 1, step: 2 } } });
    const { probes = [], tokens = [] } = at.listener.reports.take();
    expect([probes, tokens].map((list) => list.map(({ secret }) => secret))).toEqual([['other'], ['other']]);
    expect((await at.listener.probe()).probes.map(({ secret }) => secret)).toEqual(['other']);
    await at.apply(tokenStep(3, [1]));
    expect((await callTls(at.port(), '/v1/host', token(1))).status).toBe(200);
  });

  it('wait for the listener', async () => {
    const at = made([step]);
    await at.apply(tokenStep(2, [1, 2], 1));
    await at.apply(tokenStep(3, [2]));
    expect(found(at)).toBeUndefined();
    await at.confirm();
    await until(() => found(at)?.step === 3);
    expect(found(at)).toMatchObject({ takes: [2], refuses: [1] });
    await at.change({ confirmation: undefined } as never);
    await expect(at.listener.probe()).rejects.toMatchObject({ code: 'listener_unconfirmed' });
  });
});
