/** `rotation start rung:fleet-token`: a rung is closed by what was seen, and opened again by nobody who forgot (design 5). */
import type { IncomingMessage } from 'node:http';
import { encodeBase64url, utf8 } from '@rollcall/core/bytes';
import { beforeEach, describe, expect, it } from 'vitest';
import { authenticateMember } from '../../authenticate.ts';
import { addExisting, enrolNew, type TestHost } from '../../host.fixture.ts';
import { noteRung } from '../../http/note-rung.ts';
import { auditOf, codeOf, createTestHub, DAY_MS, HOUR_MS, operator, type TestHub } from '../../hub.fixture.ts';
import { showRotation } from '../../views/rotations.ts';
import { listRungRows } from '../../views/rungs.ts';
import { reenrolHost } from '../add-host.ts';
import { createSecret } from '../create-secret.ts';
import { removeHost } from '../end-host.ts';
import { cutRotation, leaveRotation, pauseRotation, resumeRotation } from '../rotation/hold.ts';
import { retireRotation } from '../rotation/retire.ts';
import { advanceRotation, observeRotations, rollBackRotation, startRotation, stepRungs } from '../rotation/walk.ts';
import { decideRungRule } from './decide-rung.ts';

const RUNG = 'rung:fleet-token';
const SHARED = 'shared-token-of-the-fleet-0001';
let hub: TestHub;
let old: TestHost;
/** How this hub's own listener answers its own questions. */
const asked: string[] = [];
let answers: (token: string, as: string) => Promise<'taken' | 'refused'>;
beforeEach(async () => {
  asked.length = 0;
  answers = async (token, as) => {
    const code = await codeOf(authenticateMember(hub, memberRequest(token), as === 'probe' ? 'probe' : 'ask-who-i-am'));
    return code === 'done' ? 'taken' : 'refused';
  };
  hub = await createTestHub({
    ask: {
      replica: (token, as = 'probe') => {
        asked.push(as);
        return answers(token, as);
      },
      host: async () => 'refused',
    },
  });
  await createSecret(hub, { name: 'shared', value: encodeBase64url(utf8(SHARED)), holders: ['caller:old'] }, operator);
  await enrolNew(hub, 'web-1');
  old = await addExisting(hub, 'web-2');
});

function memberRequest(token: string, host?: string): IncomingMessage {
  const rawHeaders = ['X-Node-Token', token, ...(host === undefined ? [] : ['X-Rollcall-Host', host])];
  const socket = { remoteAddress: '192.0.2.9' };
  return { rawHeaders, headers: { 'user-agent': 'cron/1' }, socket } as unknown as IncomingMessage;
}

/** Somebody comes with the shared token alone, as the listener sees him; the code that he is answered. */
async function stand(host?: string): Promise<string> {
  const request = memberRequest(SHARED, host);
  return codeOf(
    authenticateMember(hub, request, 'heartbeat').then((who) => noteRung(hub, who, request, '/v1/heartbeat')),
  );
}

const start = (more: object = {}) =>
  startRotation(hub, { secret: RUNG, reason: 'planned', leave: [], narrowByMs: null, ...more }, operator);
const step = async () => {
  const { signal } = new AbortController();
  // As the jobs do, in whatever order: what was asked is known at the next step.
  for (let round = 0; round < 3; round += 1) {
    while (await stepRungs(hub));
    await observeRotations(hub, signal);
  }
  while (await stepRungs(hub));
};
const status = () => showRotation(hub, RUNG);
const phase = async () => (await status()).rotation.phase;
const blockers = async () => (await status()).gate.blockers.map(({ member, missing }) => `${member} ${missing}`);
const advance = () => codeOf(advanceRotation(hub, RUNG, undefined, operator));
async function climb(): Promise<void> {
  const { token = '' } = await reenrolHost(hub, 'web-2', undefined, operator);
  await old.enrol(hub, token);
  await old.beat(hub);
}
async function toProving(): Promise<void> {
  await start();
  await climb();
  await advance();
  await advance();
}
async function silence(): Promise<void> {
  await hub.wall.advance(DAY_MS);
}

describe('a rung is closed', () => {
  it('by evidence: each has climbed, nobody stood on it for the whole window, and the hub refuses it with its control', async () => {
    await stand('web-2');
    await start();
    expect(await advance()).toBe('done');
    expect([await phase(), await blockers()]).toEqual(['rolling', ['web-2 seen_higher']]);
    expect(await advance()).toBe('gate_closed');
    await climb();
    expect(await advance()).toBe('done');
    expect([await phase(), await blockers()]).toEqual(['proving', ['web-2 quiet_window']]);
    await hub.wall.advance(DAY_MS - HOUR_MS);
    expect(await advance()).toBe('gate_closed');
    expect(await stand()).toBe('done');
    await hub.wall.advance(HOUR_MS);
    expect(await blockers()).toEqual(['192.0.2.9 quiet_window']);
    expect((await status()).retiringHits).toMatchObject({
      count: 2,
      sources: [{ host: null, address: '192.0.2.9', userAgent: 'cron/1', route: '/v1/heartbeat' }, { host: 'web-2' }],
    });
    await silence();
    expect(await advance()).toBe('done');
    expect([await phase(), await stand(), await stand('web-2')]).toEqual([
      'narrowing',
      'unauthenticated',
      'unauthenticated',
    ]);
    await step();
    expect([await phase(), asked]).toEqual(['done', ['caller', 'probe']]);
    expect((await listRungRows(hub)).rungs[0]).toMatchObject({ accepted: false, decidedFor: 'fleet' });
    expect(await codeOf(old.beat(hub))).toBe('done');
    expect((await auditOf(hub)).filter((line) => line.startsWith('rotation.'))).toHaveLength(5);
  });

  it('by asking with a token that can be read, also where another one cannot', async () => {
    await createSecret(hub, { name: 'broken', holders: ['caller:old'] }, operator);
    await toProving();
    await silence();
    await advance();
    hub.tamper("update tokens set created_at = created_at + 1 where name = 'broken'");
    const restarted = await hub.restart();
    expect(restarted.tokens.unreadable()).toEqual(['broken']);
    hub = restarted;
    await step();
    expect([await phase(), asked]).toEqual(['done', ['caller', 'probe']]);
  });

  it('only where the hub does refuse it, and its control is taken', async () => {
    await toProving();
    await silence();
    await advance();
    answers = async () => 'taken';
    await step();
    expect([await phase(), await blockers()]).toEqual(['narrowing', ['replica:local rung_refused']]);
    answers = async () => 'refused';
    await step();
    expect([await phase(), await blockers()]).toEqual(['narrowing', ['replica:local probe_control']]);
    answers = async () => Promise.reject(new Error('it does not answer'));
    await step();
    expect(await phase()).toBe('narrowing');
    answers = async (_token, as) => (as === 'probe' ? 'taken' : 'refused');
    await step();
    expect(await phase()).toBe('done');
  });

  it('by itself when it is told to, and not past narrowing but for =all', async () => {
    await start({ auto: 'to_narrowing' });
    await climb();
    await step();
    expect(await phase()).toBe('proving');
    await silence();
    await step();
    expect(await phase()).toBe('proving');
    await rollBackRotation(hub, RUNG, 'again', operator);
    await step();
    await start({ auto: 'all' });
    await silence();
    await step();
    expect([await phase(), await stand()]).toEqual(['done', 'unauthenticated']);
  });

  it('once: not again while it runs, nor while it is closed; and anew after it was opened', async () => {
    await toProving();
    expect(await codeOf(start())).toBe('rotation_running');
    await silence();
    await advance();
    await step();
    expect(await codeOf(start())).toBe('rung_closed');
    await decideRungRule(hub, 'fleet-token', { isAccepted: true, reason: 'a printer came back' }, operator);
    expect(await stand()).toBe('done');
    expect(await start()).toMatchObject({ from: 2, to: 3, phase: 'widening' });
  });

  it('never the highest', async () => {
    expect(await codeOf(start({ secret: 'rung:derived' }))).toBe('no_rung_left');
    expect(await codeOf(start({ secret: 'rung:mtls' }))).toBe('malformed_rung');
    expect(await codeOf(start({ secret: 'rung:host-token' }))).toBe('done');
  });
});

describe('on the way', () => {
  it('a host is left by name, and then is the operator’s', async () => {
    await start();
    await advance();
    expect(await codeOf(leaveRotation(hub, RUNG, { leave: ['nobody'], reason: 'x' }, operator))).toBe('leave_unknown');
    await leaveRotation(hub, RUNG, { leave: ['web-2'], reason: 'it is in a box' }, operator);
    await advance();
    await silence();
    await stand('web-2');
    expect(await advance()).toBe('done');
    await step();
    expect([await phase(), (await status()).rotation.left, await stand('web-2')]).toEqual([
      'done',
      ['web-2'],
      'unauthenticated',
    ]);
  });

  it('one that was left, went, and comes again under its id is waited for', async () => {
    await start();
    await advance();
    await leaveRotation(hub, RUNG, { leave: ['web-2'], reason: 'it is in a box' }, operator);
    expect(await blockers()).toEqual([]);
    await removeHost(hub, 'web-2', operator);
    await addExisting(hub, 'web-2');
    expect([(await status()).rotation.left, await blockers()]).toEqual([[], ['web-2 seen_higher']]);
  });

  it('a host with a rule of its own is nobody’s to wait for, before and after', async () => {
    const excepted = { isAccepted: true, reason: 'replaced on Monday', host: 'web-2' };
    await decideRungRule(hub, 'fleet-token', excepted, operator);
    await start();
    await advance();
    await advance();
    await silence();
    await stand('web-2');
    expect(await advance()).toBe('done');
    await step();
    expect([await phase(), await stand('web-2'), await stand()]).toEqual(['done', 'done', 'unauthenticated']);
  });

  it('it rests while it is paused, and a rung above that is closed holds it', async () => {
    await start();
    await pauseRotation(hub, RUNG, 'lunch', operator);
    expect(await advance()).toBe('rotation_paused');
    await resumeRotation(hub, RUNG, operator);
    const refused = { isAccepted: false, reason: 'x', host: 'web-2' };
    await decideRungRule(hub, 'derived', refused, operator);
    await decideRungRule(hub, 'host-token', refused, operator);
    expect(await blockers()).toEqual(['web-2 higher_rung_accepted']);
  });

  it('there is a way back before narrowing, by which nothing has changed, and none after', async () => {
    await toProving();
    await rollBackRotation(hub, RUNG, 'a printer needs it', operator);
    await step();
    expect([await phase(), await stand()]).toEqual(['rolled_back', 'done']);
    expect((await listRungRows(hub)).rungs[0]).toMatchObject({ accepted: true, decidedFor: 'nobody' });
    await start();
    await advance();
    await advance();
    await silence();
    await advance();
    expect(await codeOf(rollBackRotation(hub, RUNG, 'late', operator))).toBe('no_rollback');
    expect(await codeOf(retireRotation(hub, RUNG, { now: true, leave: [] }, operator))).toBe('not_retired');
  });

  it('after a leak nobody is waited for past its end, and who is cut off is said', async () => {
    expect(await codeOf(start({ reason: 'leak' }))).toBe('narrow_by_missing');
    await start({ reason: 'leak', narrowByMs: hub.wall.now() + HOUR_MS });
    await step();
    expect([await phase(), await stand('web-2')]).toEqual(['widening', 'done']);
    await hub.wall.advance(HOUR_MS);
    await step();
    expect([await phase(), await stand('web-2')]).toEqual(['done', 'unauthenticated']);
  });

  it('its end is turned forward, over named hosts alone', async () => {
    await start();
    const untilMs = hub.wall.now() + HOUR_MS;
    expect(await codeOf(cutRotation(hub, RUNG, { untilMs, leave: [] }, operator))).toBe('would_strand');
    await cutRotation(hub, RUNG, { untilMs, leave: ['web-2'] }, operator);
    await hub.wall.advance(HOUR_MS);
    await step();
    expect([await phase(), await stand()]).toEqual(['done', 'unauthenticated']);
  });
});

describe('what was counted', () => {
  it('goes on after a clean stop, and begins anew after any other', async () => {
    await toProving();
    await stand();
    await silence();
    expect(await blockers()).toEqual([]);
    await hub.rungSightings.save();
    hub = await hub.restart();
    expect(await blockers()).toEqual([]);
    hub = await hub.restart();
    expect(await blockers()).toEqual(['replica:local quiet_window']);
    await silence();
    expect(await blockers()).toEqual([]);
  });

  it('goes on through a restart in each phase, and nothing is done twice', async () => {
    await start();
    await climb();
    for (const wanted of ['widening', 'rolling', 'proving', 'narrowing']) {
      await hub.rungSightings.save();
      hub = await hub.restart();
      expect(await phase()).toBe(wanted);
      if (wanted === 'proving') await silence();
      if (wanted === 'narrowing') await step();
      else expect(await advance()).toBe('done');
    }
    expect(await phase()).toBe('done');
    expect((await auditOf(hub)).filter((line) => line.startsWith('rotation.advanced'))).toHaveLength(4);
  });
});
