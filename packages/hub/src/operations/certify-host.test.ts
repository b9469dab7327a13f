import { createPublicKey } from 'node:crypto';
import { decodeBase64url, encodeBase64url } from '@rollcall/core/bytes';
import { limits } from '@rollcall/core/limits';
import type { CertificateBody } from '@rollcall/wire';
import { judgeListenerCertificate } from '@rollcall/x509';
import { beforeEach, describe, expect, it } from 'vitest';
import { certify, enrolBodyWith, leafOf, newRequest, proofBody } from '../certificate.fixture.ts';
import { addExisting, createTestHost, createWrapKey, enrolNew, type TestHost, thiefBearer } from '../host.fixture.ts';
import { auditOf, codeOf, createTestHub, DAY_MS, HOUR_MS, operator, type TestHub } from '../hub.fixture.ts';
import { listAudit } from '../store/audit.ts';
import { findCertificate } from '../store/certificates.ts';
import { acceptFirstUse } from './accept-first-use.ts';
import { addHost, reenrolHost } from './add-host.ts';
import { certifyHost, challengeHost } from './certify-host.ts';
import { approvePin, confirmPin } from './decide-pin.ts';
import { evictHost, removeHost } from './end-host.ts';
import { enrolHost } from './enrol-host.ts';
import { resumeHost, suspendHost } from './suspend-host.ts';

let hub: TestHub;
let host: TestHost;
beforeEach(async () => {
  hub = await createTestHub();
  host = await enrolNew(hub, 'agent-7');
});

const asked = newRequest();
const certified = (body: CertificateBody) => codeOf(certify(hub, body));
const issued = async () => (await auditOf(hub)).filter((line) => line.startsWith('certificate'));
const challenge = (id: string) => challengeHost(hub, { host: id, purpose: 'certificate' }).challenge;

describe('a certificate by proof of the pinned key', () => {
  it('is the one of design 6, over the key of the request and the name of the host', async () => {
    const answer = await certify(hub, proofBody(hub, host, asked.csr));
    const leaf = leafOf(answer);
    expect(answer.certificate).toHaveLength(1);
    expect(leaf).toMatchObject({
      uris: ['spiffe://fleet.example/host/agent-7/listener'],
      dnsNames: [],
      ips: [],
      extendedKeyUsage: ['serverAuth'],
      isCa: false,
      notBeforeMs: hub.wall.now() - limits.certificateBackdateMs,
      notAfterMs: hub.wall.now() + DAY_MS,
      spkiDer: Uint8Array.from(createPublicKey(asked.privateKey).export({ format: 'der', type: 'spki' })),
    });
    const judged = judgeListenerCertificate({
      chain: [leaf.der],
      bundle: [hub.authority.certificateDer],
      trustDomain: 'fleet.example',
      host: 'agent-7',
      nowMs: hub.wall.now(),
    });
    expect(judged.serial).toBe(leaf.serial);
  });

  it('is on record with host, life, key and proof, in the audit too', async () => {
    const { serial, spkiSha256 } = leafOf(await certify(hub, proofBody(hub, host, asked.csr)));
    expect(await findCertificate(hub.db, hub.vault, serial)).toMatchObject({
      host: 'agent-7',
      life: 1,
      use: 'listener',
      proof: 'pinned-key',
      key_sha256: Buffer.from(spkiSha256).toString('hex'),
    });
    const record = (await listAudit(hub.db, 0, 100, { action: 'certificate.issued' }))[0];
    expect(record).toMatchObject({
      actor: { id: 'agent-7', kind: 'host', rung: 'pinned-key', verified: true },
      target: 'agent-7',
      details: { serial, life: 1, proof: 'pinned-key', from: '192.0.2.1' },
    });
  });

  it('is not issued where its record cannot be written', async () => {
    hub.tamper(`create trigger full before insert on audit begin select raise(fail, 'disk full'); end`);
    const body = proofBody(hub, host, asked.csr);
    expect(await certified(body)).toMatch(/^SQLITE/);
    hub.tamper('drop trigger full');
    // The challenge was not spent by what did not happen.
    expect(await certified(body)).toBe('done');
  });

  it('is the same for the same key for ten minutes, and another one after that', async () => {
    const first = leafOf(await certify(hub, proofBody(hub, host, asked.csr)));
    expect(leafOf(await certify(hub, proofBody(hub, host, asked.csr))).serial).toBe(first.serial);
    expect(leafOf(await certify(hub, proofBody(hub, host, newRequest().csr))).serial).not.toBe(first.serial);
    await hub.wall.advance(limits.enrolmentRepeatMs);
    expect(leafOf(await certify(hub, proofBody(hub, host, asked.csr))).serial).not.toBe(first.serial);
    expect(await issued()).toHaveLength(3);
  });

  it('is forgotten a week after it has ended, and not before', async () => {
    const { serial } = leafOf(await certify(hub, proofBody(hub, host, asked.csr)));
    await hub.wall.advance(DAY_MS + limits.endedCertificatesKeptMs - HOUR_MS);
    await certify(hub, proofBody(hub, host, newRequest().csr));
    expect(await findCertificate(hub.db, hub.vault, serial)).toBeDefined();
    await hub.wall.advance(2 * HOUR_MS);
    await certify(hub, proofBody(hub, host, newRequest().csr));
    expect(await findCertificate(hub.db, hub.vault, serial)).toBeUndefined();
  });
});

describe('a challenge', () => {
  it('is answered once', async () => {
    const body = proofBody(hub, host, asked.csr);
    expect(await certified(body)).toBe('done');
    expect(await certified(body)).toBe('unauthenticated');
    expect(await certified(proofBody(hub, host, asked.csr))).toBe('done');
  });

  it('is answered once by two who send the same answer at the same time', async () => {
    const body = proofBody(hub, host, asked.csr);
    const both = await Promise.all([certified(body), certified(body)]);
    expect(both.sort()).toEqual(['done', 'unauthenticated']);
  });

  it('may be answered until it expires, and is forgotten then', async () => {
    const late = proofBody(hub, host, asked.csr);
    const inTime = proofBody(hub, host, asked.csr);
    await hub.wall.advance(limits.challengeMs - 1);
    expect(await certified(inTime)).toBe('done');
    await hub.wall.advance(1);
    expect(await certified(late)).toBe('unauthenticated');
    expect(await certified(inTime)).toBe('unauthenticated');
    await certify(hub, proofBody(hub, host, asked.csr));
    expect(await hub.db.selectFrom('spent_challenges').selectAll().execute()).toHaveLength(1);
  });

  it('costs the hub no state before it is answered, and outlives a restart', async () => {
    for (let count = 0; count < 100; count += 1) challenge(`stranger-${count}`);
    expect(await hub.db.selectFrom('spent_challenges').selectAll().execute()).toEqual([]);
    const body = proofBody(hub, host, asked.csr);
    const restarted = await hub.restart();
    expect(await codeOf(certify(restarted, body))).toBe('done');
    expect(await codeOf(certify(restarted, body))).toBe('unauthenticated');
  });

  it.each<[string, (body: CertificateBody) => Partial<CertificateBody>]>([
    ['another request', () => ({ csr: encodeBase64url(newRequest().csr) })],
    ['another host', () => ({ host: 'agent-8' })],
    ['a flipped answer', ({ answer }) => ({ answer: flip(answer, 3) })],
    ['a flipped id', ({ id }) => ({ id: flip(id, 70) })],
    ['a flipped salt', ({ id }) => ({ id: flip(id, 1) })],
    ['a shorter id', ({ id }) => ({ id: id.slice(0, 40) })],
    ['the id of another challenge', () => ({ id: challenge('agent-7').id })],
    ['the id of another host’s challenge', () => ({ id: challenge('agent-8').id })],
  ])('answered for %s proves nothing', async (_what, change) => {
    await enrolNew(hub, 'agent-8');
    const body = proofBody(hub, host, asked.csr);
    expect(await certified({ ...body, ...change(body) })).toBe('unauthenticated');
    expect(await certified(body)).toBe('done');
  });

  it('is of one form for everyone, and of one size for ids of one length', async () => {
    await addHost(hub, { host: 'agent-8' }, operator);
    const sizes = ['agent-7', 'agent-8', 'agent-9'].map((id) => {
      const { id: challengeId, purpose, enc, ct } = challenge(id);
      return [challengeId.length, purpose, enc.length, ct.length];
    });
    expect(new Set(sizes.map(String)).size).toBe(1);
    expect(challenge('agent-7').id).not.toBe(challenge('agent-7').id);
  });

  it('opens for the pinned key alone', () => {
    expect(() => proofBody(hub, host, asked.csr, { key: createWrapKey() })).toThrow(
      expect.objectContaining({ code: 'challenge_unopenable' }),
    );
    expect(() => proofBody(hub, createTestHost('nobody'), asked.csr)).toThrow(
      expect.objectContaining({ code: 'challenge_unopenable' }),
    );
    expect(proofBody(hub, host, asked.csr).host).toBe('agent-7');
  });
});

describe('no certificate gets', () => {
  it('a bearer: neither the one of the host nor one that the master makes, however it is presented', async () => {
    const body = proofBody(hub, host, asked.csr);
    const bearers = [host.bearer(), thiefBearer(hub, 'agent-7', 1, 1)];
    for (const bearer of bearers) {
      const bytes = decodeBase64url(bearer.slice(4))?.subarray(0, 32) ?? new Uint8Array(32);
      expect(await certified({ ...body, answer: encodeBase64url(bytes) })).toBe('unauthenticated');
    }
    expect(await certified(body)).toBe('done');
  });

  it('a suspended host, until it is resumed', async () => {
    await suspendHost(hub, 'agent-7', operator);
    expect(await certified(proofBody(hub, host, asked.csr))).toBe('unauthenticated');
    await resumeHost(hub, 'agent-7', operator);
    expect(await certified(proofBody(hub, host, asked.csr))).toBe('done');
  });

  it.each([
    ['evicted', () => evictHost(hub, 'agent-7', false, operator)],
    ['removed', () => removeHost(hub, 'agent-7', operator)],
    ['suspended', () => suspendHost(hub, 'agent-7', operator)],
  ])('a host that is %s while it answers', async (_what, end) => {
    const body = proofBody(hub, host, asked.csr);
    await end();
    expect(await certified(body)).toBe('unauthenticated');
    expect(await issued()).toEqual([]);
  });

  it('the key that was the pin when it was challenged, and is not any more', async () => {
    const body = proofBody(hub, host, asked.csr);
    const successor = createWrapKey();
    await host.beat(hub, { key: successor });
    await approvePin(hub, 'agent-7', successor.public.fingerprint, operator);
    expect(await certified(body)).toBe('unauthenticated');
    host.key = successor;
    expect(await certified(proofBody(hub, host, asked.csr))).toBe('done');
  });

  it('a pin of first use, until a person has confirmed it', async () => {
    const old = await addExisting(hub, 'agent-8');
    const bearer = thiefBearer(hub, 'agent-8', 1, 1);
    await old.beat(hub, { bearer });
    await hub.wall.advance(DAY_MS);
    await old.beat(hub, { bearer });
    await acceptFirstUse(
      hub,
      { on: true, until: new Date(hub.wall.now() + HOUR_MS).toISOString(), exposed: 0 },
      operator,
    );
    await old.beat(hub, { bearer });
    expect(hub.roll.get('agent-8')?.pinState).toBe('pinned');
    expect(await certified(proofBody(hub, old, asked.csr))).toBe('unauthenticated');
    await confirmPin(hub, 'agent-8', old.key.public.fingerprint, operator);
    expect(await certified(proofBody(hub, old, asked.csr))).toBe('done');
  });

  it('who would call the hub with it: that is not offered yet', async () => {
    const body = proofBody(hub, host, asked.csr, { use: 'client' });
    expect(await certified(body)).toBe('certificates_not_offered');
  });

  it('a request that is none, but only after the proof', async () => {
    const none = Uint8Array.of(1, 2, 3);
    expect(await certified(proofBody(hub, host, none))).toBe('malformed_certificate_request');
    const other = proofBody(hub, host, asked.csr);
    expect(await certified({ ...other, csr: encodeBase64url(none) })).toBe('unauthenticated');
    expect(await certified({ ...other, csr: '' })).toBe('malformed_request');
    expect(await certified(other)).toBe('done');
  });

  it('who asks too often: after its proof, so that nobody else uses up its turns', async () => {
    const turns: string[] = [];
    const takeTurn = (id: string) => void turns.push(id);
    const body = proofBody(hub, host, asked.csr);
    await codeOf(certifyHost(hub, { body: { ...body, answer: flip(body.answer, 2) }, from: '', takeTurn }));
    expect(turns).toEqual([]);
    await certifyHost(hub, { body, from: '', takeTurn });
    expect(turns).toEqual(['agent-7']);
  });
});

describe('what cannot be read has not said no', () => {
  it.each(['hosts', 'pins'])('a damaged row of %s is 503, for who has proven the key', async (table) => {
    const body = proofBody(hub, host, asked.csr);
    hub.tamper(`update ${table} set mac = x'00'`);
    expect(await certified(body)).toBe('unavailable');
    expect(await certified({ ...body, answer: flip(body.answer, 2) })).toBe('unauthenticated');
  });
});

describe('clocks', () => {
  const at = (ms: number) => ({ sentAt: new Date(hub.wall.now() + ms).toISOString() });

  it('that are behind get a certificate that they take, up to an hour', async () => {
    const leaf = leafOf(await certify(hub, proofBody(hub, host, asked.csr, at(-HOUR_MS / 2))));
    expect(leaf.notBeforeMs).toBe(hub.wall.now() - HOUR_MS / 2);
    expect(await certified(proofBody(hub, host, newRequest().csr, at(-HOUR_MS)))).toBe('done');
  });

  it.each([
    ['75 minutes behind', -75 * 60_000],
    ['75 hours behind', -75 * HOUR_MS],
    ['13 hours ahead', 13 * HOUR_MS],
    ['years ahead', 2_000 * DAY_MS],
  ])('that are %s get none, and are told why', async (_what, skewMs) => {
    const body = proofBody(hub, host, asked.csr, at(skewMs));
    await expect(certify(hub, body)).rejects.toMatchObject({ code: 'host_clock_wrong', details: { skewMs } });
    expect(await certified(proofBody(hub, host, asked.csr, at(HOUR_MS)))).toBe('done');
  });

  it('are told to no host that is none any more', async () => {
    const body = proofBody(hub, host, asked.csr, at(13 * HOUR_MS));
    await evictHost(hub, 'agent-7', false, operator);
    expect(await certified(body)).toBe('unauthenticated');
  });

  it('of the hub that jumped issue nothing until somebody has looked', async () => {
    hub.wall.setWall(hub.wall.now() + 2 * HOUR_MS);
    expect(await certified(proofBody(hub, host, asked.csr))).toBe('hub_time_jumped');
  });
});

describe('an authority that ends soon', () => {
  const hubWith = async (authorityLifeMs: number) => {
    const ending = await createTestHub({ authorityLifeMs });
    return { ending, of: await enrolNew(ending, 'agent-7') };
  };

  it('clamps the certificate, with a warning', async () => {
    const { ending, of } = await hubWith(3 * HOUR_MS);
    const leaf = leafOf(await certify(ending, proofBody(ending, of, asked.csr)));
    expect(leaf.notAfterMs).toBe(ending.authority.certificate.notAfterMs);
    expect(ending.logged.some((line) => line.startsWith('warn') && line.includes('authority_ends'))).toBe(true);
  });

  it('issues none that would live too short, and says why', async () => {
    const { ending, of } = await hubWith(HOUR_MS / 2);
    await expect(certify(ending, proofBody(ending, of, asked.csr))).rejects.toMatchObject({
      code: 'unusable_authority',
      details: { reason: 'too_little_life' },
    });
  });

  it('keeps nobody from enrolling', async () => {
    const ending = await createTestHub({ authorityLifeMs: HOUR_MS / 2 });
    const of = createTestHost('agent-7');
    const { token = '' } = await addHost(ending, { host: 'agent-7' }, operator);
    const answer = await enrolHost(ending, enrolBodyWith(of, token, asked.csr), '192.0.2.1');
    expect(answer).not.toHaveProperty('certificate');
    expect(answer.deliveries).toHaveLength(1);
  });
});

describe('a certificate by enrolment', () => {
  it('comes in the same answer, of the life that begins', async () => {
    const { token = '' } = await reenrolHost(hub, 'agent-7', undefined, operator);
    const { serial } = leafOf(await enrolHost(hub, enrolBodyWith(host, token, asked.csr), '192.0.2.1'));
    expect(await findCertificate(hub.db, hub.vault, serial)).toMatchObject({ life: 2, proof: 'enrolment' });
  });

  it('is the same one when the answer was lost; with another request the token is spent', async () => {
    const fresh = createTestHost('agent-8');
    const { token = '' } = await addHost(hub, { host: 'agent-8' }, operator);
    const body = enrolBodyWith(fresh, token, asked.csr);
    const first = await enrolHost(hub, body, '192.0.2.1');
    expect((await enrolHost(hub, body, '192.0.2.1')).certificate).toEqual(first.certificate);
    const other = enrolBodyWith(fresh, token, newRequest().csr);
    expect(await codeOf(enrolHost(hub, other, '192.0.2.1'))).toBe('unauthenticated');
    expect(await codeOf(enrolHost(hub, fresh.enrolBody(token), '192.0.2.1'))).toBe('unauthenticated');
    expect(await issued()).toEqual(['certificate.issued agent-8 done']);
    await hub.wall.advance(limits.enrolmentRepeatMs);
    expect(await codeOf(enrolHost(hub, body, '192.0.2.1'))).toBe('unauthenticated');
  });

  it('is bound by the proof, and comes with its use', async () => {
    const fresh = createTestHost('agent-8');
    const { token = '' } = await addHost(hub, { host: 'agent-8' }, operator);
    const good = enrolBodyWith(fresh, token, asked.csr);
    const enrol = (changes: object) => codeOf(enrolHost(hub, { ...good, ...changes }, '192.0.2.1'));
    expect(await enrol({ csr: encodeBase64url(newRequest().csr) })).toBe('unauthenticated');
    expect(await enrol({ csr: undefined, use: undefined })).toBe('unauthenticated');
    expect(await enrol({ use: undefined })).toBe('malformed_request');
    expect(await enrol({ csr: undefined })).toBe('malformed_request');
    expect(await enrol({ csr: '' })).toBe('malformed_request');
    expect(await enrol({ use: 'client' })).toBe('certificates_not_offered');
    const none = enrolBodyWith(fresh, token, Uint8Array.of(1, 2, 3));
    expect(await codeOf(enrolHost(hub, none, '192.0.2.1'))).toBe('malformed_certificate_request');
    expect(await enrol({})).toBe('done');
  });

  it('leaves with the host', async () => {
    const { serial } = leafOf(await certify(hub, proofBody(hub, host, asked.csr)));
    await removeHost(hub, 'agent-7', operator);
    expect(await findCertificate(hub.db, hub.vault, serial)).toBeUndefined();
  });
});

/** Another text of the same form. */
function flip(text: string, at: number): string {
  return `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`;
}
