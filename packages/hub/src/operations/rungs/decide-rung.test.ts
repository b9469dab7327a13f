/** Which rungs are accepted, of whom and why: decided, enforced at every door, and shown (design 3). */
import type { IncomingMessage } from 'node:http';
import { encodeBase64url, utf8 } from '@rollcall/core/bytes';
import { beforeEach, describe, expect, it } from 'vitest';
import { authenticateHost, authenticateMember } from '../../authenticate.ts';
import { addExisting, enrolNew, type TestHost } from '../../host.fixture.ts';
import { whoAmI } from '../../http/who-am-i.ts';
import { auditOf, codeOf, createTestHub, HOUR_MS, operator, type TestHub } from '../../hub.fixture.ts';
import { showHost } from '../../views/hosts.ts';
import { listRungRows } from '../../views/rungs.ts';
import { addHost } from '../add-host.ts';
import { createSecret } from '../create-secret.ts';
import { evictHost, removeHost } from '../end-host.ts';
import { issueHostToken } from '../issue-host-token.ts';
import { receiveHeartbeat } from '../receive-heartbeat.ts';
import { rollBackRotation, startRotation, stepRungs } from '../rotation/walk.ts';
import { receiveDeclaredBeat } from '../token/receive-declared-beat.ts';
import { clearRungRule, decideRungRule } from './decide-rung.ts';

const SHARED = 'shared-token-of-the-fleet-0001';
const reason = 'every host has climbed';
let hub: TestHub;
let agent: TestHost;
let own: string;
beforeEach(async () => {
  hub = await createTestHub();
  await createSecret(hub, { name: 'shared', value: encodeBase64url(utf8(SHARED)), holders: ['caller:old'] }, operator);
  agent = await enrolNew(hub, 'agent-7');
  own = (await addHost(hub, { host: 'printer-1', token: true }, operator)).token ?? '';
});

const asMember = (host?: string) => {
  const rawHeaders = ['X-Node-Token', SHARED, ...(host === undefined ? [] : ['X-Rollcall-Host', host])];
  return authenticateMember(hub, { rawHeaders } as IncomingMessage, 'heartbeat');
};
const asPrinter = async () =>
  authenticateHost(hub, { rawHeaders: ['Authorization', `Bearer ${own}`] } as IncomingMessage, 'heartbeat');
const asAgent = async () =>
  authenticateHost(
    hub,
    { rawHeaders: ['Authorization', `Bearer ${agent.bearer()}`, 'X-Rollcall-Host', 'agent-7'] } as IncomingMessage,
    'heartbeat',
  );
const doors = async () => [await codeOf(asMember()), await codeOf(asPrinter()), await codeOf(asAgent())];
const YES = 'done';
const NO = 'unauthenticated';
const refuse = (rung: 'fleet-token' | 'host-token' | 'derived', more: { host?: string; leave?: string[] } = {}) =>
  decideRungRule(hub, rung, { isAccepted: false, reason, ...more }, operator);
const accept = (rung: 'fleet-token' | 'host-token' | 'derived', host?: string) =>
  decideRungRule(hub, rung, { isAccepted: true, reason, ...(host === undefined ? {} : { host }) }, operator);

describe('a rung that the fleet refuses', () => {
  it.each<['fleet-token' | 'host-token' | 'derived', string[]]>([
    ['fleet-token', [NO, YES, YES]],
    ['host-token', [YES, NO, YES]],
    ['derived', [YES, YES, NO]],
  ])('%s lets nobody in, every other does, and it is open again at once', async (rung, codes) => {
    expect(await doors()).toEqual([YES, YES, YES]);
    await refuse(rung, { leave: ['agent-7', 'printer-1'] });
    expect(await doors()).toEqual(codes);
    hub = await hub.restart();
    expect(await doors()).toEqual(codes);
    await accept(rung);
    expect(await doors()).toEqual([YES, YES, YES]);
  });

  it('is asked of the store: what another process decided holds, in both directions', async () => {
    await refuse('fleet-token', { leave: ['printer-1'] });
    const other = await hub.restart();
    await decideRungRule(other, 'fleet-token', { isAccepted: true, reason }, operator);
    expect(await codeOf(authenticateMember(other, memberRequest(), 'heartbeat'))).toBe(YES);
  });

  it('is refused where the body comes after it was closed', async () => {
    const [member, printer, bearer] = [await asMember('agent-7'), await asPrinter(), await asAgent()];
    const sentAt = new Date(hub.wall.now()).toISOString();
    const body = { instance: encodeBase64url(new Uint8Array(16)), seq: 1, held: {}, refused: [], sentAt };
    const rest = { agent: { version: '1' }, startup: 'fresh' as const };
    const beat = (who: typeof printer) =>
      codeOf(receiveHeartbeat(hub, { who, body: { ...body, ...rest }, from: '192.0.2.1', userAgent: '' }));
    const declared = () =>
      codeOf(receiveDeclaredBeat(hub, { who: member, body: { ...body, ...rest }, from: '192.0.2.1', userAgent: '' }));
    await refuse('fleet-token', { leave: ['printer-1'] });
    await refuse('host-token', { leave: ['printer-1'] });
    expect([await declared(), await beat(printer), await beat(bearer)]).toEqual([NO, NO, YES]);
    await accept('fleet-token');
    expect([await declared(), await beat(printer)]).toEqual([YES, NO]);
  });

  it('leaves shared tokens beside a bearer what they are, and the hub’s own probes of them', async () => {
    await createSecret(hub, { name: 'ci', holders: ['agent-7'] }, operator);
    await agent.beat(hub);
    await refuse('fleet-token', { leave: ['printer-1'] });
    expect(await codeOf(agent.beat(hub))).toBe(YES);
    const ask = (headers: Record<string, string>, raw: string[]) =>
      codeOf(whoAmI(hub, { headers, rawHeaders: raw, socket: { remoteAddress: '' } } as unknown as IncomingMessage));
    const plain = { 'x-node-token': SHARED };
    expect(await ask(plain, ['X-Node-Token', SHARED])).toBe(NO);
    expect(await ask({ ...plain, 'x-rollcall-probe': 'x' }, ['X-Node-Token', SHARED])).toBe(NO);
    expect(await ask({ ...plain, 'x-rollcall-probe': hub.tokenProbes.mark }, ['X-Node-Token', SHARED])).toBe(YES);
    const wrong = { ...plain, 'x-node-token': 'x', 'x-rollcall-probe': hub.tokenProbes.mark };
    expect(await ask(wrong, ['X-Node-Token', 'x'])).toBe(NO);
  });

  it('cuts nobody off who is not named, whatever its state', async () => {
    await addExisting(hub, 'old-1');
    await addHost(hub, { host: 'invited' }, operator);
    expect(await codeOf(refuse('fleet-token'))).toBe('rung_in_use');
    expect(await codeOf(refuse('fleet-token', { leave: ['old-1'] }))).toBe('rung_in_use');
    expect(await codeOf(refuse('fleet-token', { leave: ['old-1', 'nobody'] }))).toBe('leave_unknown');
    expect(await doors()).toEqual([YES, YES, YES]);
    expect(await codeOf(refuse('fleet-token', { leave: ['old-1', 'printer-1'] }))).toBe(YES);
    await accept('fleet-token');
    // What was seen of a host that is higher is enough, and an evicted one lacks nothing.
    await hostBeat();
    await evictHost(hub, 'old-1', false, operator);
    expect(await codeOf(refuse('fleet-token'))).toBe(YES);
  });

  it('is never the last', async () => {
    const leave = ['agent-7', 'printer-1'];
    await refuse('fleet-token', { leave });
    await refuse('host-token', { leave });
    expect(await codeOf(refuse('derived', { leave }))).toBe('no_rung_left');
    expect(await codeOf(refuse('derived', { host: 'agent-7' }))).toBe('no_rung_left');
    expect(await doors()).toEqual([NO, NO, YES]);
  });
});

describe('the last rung that a rotation leaves', () => {
  const leave = ['agent-7', 'printer-1'];
  const close = (terms: Partial<Parameters<typeof startRotation>[1]> = {}) => {
    const leak = { reason: 'leak', narrowByMs: hub.clock.now() + HOUR_MS } as const;
    return startRotation(hub, { secret: 'rung:host-token', leave: [], ...leak, ...terms }, operator);
  };

  it('is not refused while it runs: at its end nobody could get back in', async () => {
    await refuse('fleet-token', { leave });
    await close();
    expect(await codeOf(refuse('derived', { leave }))).toBe('no_rung_left');
    await hub.wall.advance(HOUR_MS);
    while (await stepRungs(hub));
    expect(await doors()).toEqual([NO, NO, YES]);
  });

  it('may be refused where another one stays, and once the rotation goes back', async () => {
    await close({ reason: 'planned', narrowByMs: null });
    expect(await codeOf(refuse('derived', { leave }))).toBe(YES);
    await accept('derived');
    await refuse('fleet-token', { leave });
    expect(await codeOf(refuse('derived', { leave }))).toBe('no_rung_left');
    await rollBackRotation(hub, 'rung:host-token', 'not yet', operator);
    expect(await codeOf(refuse('derived', { leave }))).toBe(YES);
  });
});

describe('a rule of one host', () => {
  it('goes before that of the fleet, in both directions, and no other host is touched', async () => {
    await addExisting(hub, 'old-1');
    await refuse('fleet-token', { host: 'old-1' });
    expect([await codeOf(asMember('old-1')), await codeOf(asMember('other')), await codeOf(asMember())]).toEqual([
      NO,
      YES,
      YES,
    ]);
    await accept('fleet-token', 'old-1');
    await refuse('fleet-token', { leave: ['printer-1'] });
    expect([await codeOf(asMember('old-1')), await codeOf(asMember('other')), await codeOf(asMember())]).toEqual([
      YES,
      NO,
      NO,
    ]);
    await clearRungRule(hub, 'fleet-token', { host: 'old-1', reason }, operator);
    expect(await codeOf(asMember('old-1'))).toBe(NO);
    expect(await codeOf(clearRungRule(hub, 'fleet-token', { host: 'old-1', reason }, operator))).toBe('rung_undecided');
  });

  it('closes the rung that the host itself stands on', async () => {
    await refuse('host-token', { host: 'printer-1' });
    expect(await doors()).toEqual([YES, NO, YES]);
    const { token } = await issueHostToken(hub, 'agent-7', operator);
    expect(await codeOf(agent.beat(hub, { bearer: token }))).toBe(YES);
  });

  it('goes when the host leaves the roll, and stays while it is evicted', async () => {
    await refuse('derived', { host: 'agent-7' });
    await evictHost(hub, 'agent-7', false, operator);
    expect((await listRungRows(hub)).exceptions).toHaveLength(1);
    await removeHost(hub, 'agent-7', operator);
    expect((await listRungRows(hub)).exceptions).toEqual([]);
    expect(await codeOf(accept('derived', 'agent-7'))).toBe('host_unknown');
  });
});

describe('what was decided', () => {
  it('is shown with its reason, by rung and by host, and who stands where', async () => {
    await hostBeat();
    await addExisting(hub, 'old-1');
    await accept('fleet-token', 'old-1');
    await refuse('fleet-token');
    expect(await listRungRows(hub)).toMatchObject({
      rungs: [
        { rung: 'fleet-token', accepted: false, decidedFor: 'fleet', reason, hosts: 0 },
        { rung: 'host-token', accepted: true, decidedFor: 'nobody', since: null, hosts: 1 },
        { rung: 'derived', accepted: true, hosts: 1 },
      ],
      neverHeard: 1,
      examined: 3,
      exceptions: [{ host: 'old-1', rung: 'fleet-token', accepted: true, decidedFor: 'host' }],
    });
    expect((await showHost(hub, 'old-1')).rungs[0]).toMatchObject({ accepted: true, decidedFor: 'host', reason });
    expect((await showHost(hub, 'agent-7')).rungs[0]).toMatchObject({ accepted: false, decidedFor: 'fleet' });
    expect((await auditOf(hub)).slice(-2)).toEqual(['rung.accepted old-1 done', 'rung.refused fleet done']);
  });

  it('needs a reason', async () => {
    const body = { isAccepted: false, reason: '  ', host: 'printer-1' };
    expect(await codeOf(decideRungRule(hub, 'derived', body, operator))).toBe('malformed_request');
    expect(await codeOf(decideRungRule(hub, 'derived', { ...body, reason }, operator))).toBe(YES);
  });
});

describe('a row that this hub did not write', () => {
  it.each([
    ['that reopens a rung', 'update rung_rules set accepted = 1'],
    ['of another rung', `update rung_rules set rung = 'host-token', accepted = 1`],
    ['with another reason', `update rung_rules set reason = 'a thief wrote this'`],
  ])('%s opens nothing: nobody is let in by that rung, it is said, and decided anew', async (_name, sql) => {
    await refuse('fleet-token', { leave: ['printer-1'] });
    hub.tamper(sql);
    hub = await hub.restart();
    const rung = sql.includes('host-token') ? 'host-token' : 'fleet-token';
    const codes = await doors();
    expect(codes[rung === 'fleet-token' ? 0 : 1]).toBe('unavailable');
    expect(codes[2]).toBe(YES);
    const row = (await listRungRows(hub)).rungs.find((one) => one.rung === rung);
    expect(row).toMatchObject({ accepted: null });
    expect(JSON.stringify(row)).not.toContain('thief');
    await accept(rung);
    expect((await doors())[rung === 'fleet-token' ? 0 : 1]).toBe(YES);
  });

  it('of one host concerns that host alone', async () => {
    await refuse('host-token', { host: 'printer-1' });
    hub.tamper('update rung_rules set accepted = 1');
    hub = await hub.restart();
    expect(await doors()).toEqual([YES, 'unavailable', YES]);
    expect((await showHost(hub, 'printer-1')).unreadable).toEqual(['rung_rules']);
    await accept('host-token', 'printer-1');
    expect(await doors()).toEqual([YES, YES, YES]);
  });
});

function memberRequest(): IncomingMessage {
  return { rawHeaders: ['X-Node-Token', SHARED] } as IncomingMessage;
}

/** The printer is heard, and its token seen. */
async function hostBeat(): Promise<void> {
  const sentAt = new Date(hub.wall.now()).toISOString();
  const body = { instance: encodeBase64url(new Uint8Array(16)), seq: 1, held: {}, refused: [], sentAt };
  const who = await asPrinter();
  const beat = { ...body, agent: { version: '1' }, startup: 'fresh' as const };
  await receiveHeartbeat(hub, { who, body: beat, from: '192.0.2.1', userAgent: '' });
}
