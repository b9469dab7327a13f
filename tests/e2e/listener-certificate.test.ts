/** The certificate of a host's listener, end to end: with the enrolment, by proof of the pinned key, and for nobody else. */
import { X509Certificate } from 'node:crypto';
import { connect } from 'node:tls';
import { decodeBase64url, encodeBase64url } from '@rollcall/core/bytes';
import { answerChallenge } from '@rollcall/core/seal';
import { type AuditRecord, type ChallengeAnswer, unauthenticatedBody } from '@rollcall/wire';
import { beforeAll, describe, expect, it } from 'vitest';
import { exchange } from './harness/exchange.ts';
import { freePort, readLog } from './harness/fleet.ts';
import { enrolRawHost, type RawHost, random } from './harness/raw-host.ts';
import { useFleet } from './harness/use-fleet.ts';

const fleet = useFleet();

const issued = async (host: string) =>
  (
    await fleet().ask<{ records: AuditRecord[] }>('GET', `/v1/audit?action=certificate.issued&target=${host}`)
  ).records.map(({ details }) => details['proof']);

/** What the listener on this port presents; `undefined` while nobody listens there. */
function presented(port: number): Promise<X509Certificate | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, minVersion: 'TLSv1.3' });
    socket.once('error', () => resolve(undefined));
    socket.once('secureConnect', () => {
      const { raw } = socket.getPeerCertificate();
      socket.destroy();
      resolve(new X509Certificate(raw));
    });
  });
}

async function authority(): Promise<X509Certificate> {
  const answer = await exchange({ port: fleet().port }, { method: 'GET', path: '/v1/trust-bundle' }, fleet().recorder);
  const [key] = answer.json<{ keys: { x5c: string[] }[] }>().keys;
  return new X509Certificate(Buffer.from(key?.x5c[0] ?? '', 'base64'));
}

async function assertServed(host: string, port: number): Promise<X509Certificate> {
  const leaf = await fleet().waitUntil(`${host} listens`, () => presented(port));
  expect(leaf.subjectAltName).toBe(`URI:spiffe://rollcall.internal/host/${host}/listener`);
  expect(leaf.verify((await authority()).publicKey)).toBe(true);
  return leaf;
}

describe('an agent that is to listen', () => {
  it('brings its certificate from the enrolment, and serves with it', async () => {
    const port = await freePort();
    const token = fleet().write('web-1.token', await fleet().addHost('web-1'));
    fleet().startAgent('web-1', '--enrol', token, '--listen', `127.0.0.1:${port}`);
    await assertServed('web-1', port);
    expect(await issued('web-1')).toEqual(['enrolment']);
  });

  it('gets one by its pinned key where it was enrolled before, and keeps it over a restart', async () => {
    const before = await fleet().enrolAgent('web-2');
    expect(await issued('web-2')).toEqual([]);
    await before.kill('SIGTERM');
    const port = await freePort();
    const agent = fleet().startAgent('web-2', '--listen', `127.0.0.1:${port}`);
    const first = await assertServed('web-2', port);
    expect(await issued('web-2')).toEqual(['pinned-key']);
    await agent.kill('SIGKILL');
    fleet().startAgent('web-2', '--listen', `127.0.0.1:${port}`);
    const again = await assertServed('web-2', port);
    expect(again.serialNumber).toBe(first.serialNumber);
    expect(await issued('web-2')).toEqual(['pinned-key']);
  });

  it('without it asks for none', async () => {
    await fleet().enrolAgent('web-3');
    expect(await issued('web-3')).toEqual([]);
  });

  it('is refused one while its host is suspended, says so, and gets it when the host is let in again', async () => {
    const agent = await fleet().enrolAgent('web-4');
    await agent.kill('SIGTERM');
    await fleet().ask('POST', '/v1/hosts/web-4/suspend');
    const port = await freePort();
    const refused = fleet().startAgent('web-4', '--listen', `127.0.0.1:${port}`);
    await fleet().waitUntil('it was refused', async () =>
      readLog(refused).some((line) => line['code'] === 'certificate_refused'),
    );
    expect(await presented(port)).toBeUndefined();
    await fleet().ask('POST', '/v1/hosts/web-4/resume');
    await assertServed('web-4', port);
  });
});

describe('a stranger', () => {
  let host: RawHost;
  beforeAll(async () => {
    host = await enrolRawHost(fleet(), 'raw-1');
    await enrolRawHost(fleet(), 'raw-2');
    await fleet().ask('POST', '/v1/hosts/raw-2/suspend');
    await enrolRawHost(fleet(), 'raw-3');
    await fleet().ask('POST', '/v1/hosts/raw-3/evict', {});
    await fleet().addHost('raw-4');
  });

  const ids = ['raw-1', 'raw-2', 'raw-3', 'raw-4', 'raw-9'];
  const post = (path: string, body: object) =>
    exchange({ port: fleet().port }, { method: 'POST', path, body: JSON.stringify(body) }, fleet().recorder);
  const challenge = (id: string) => post('/v1/challenge', { host: id, purpose: 'certificate' });
  const shapeOf = (raw: Buffer) =>
    raw
      .toString('latin1')
      .replace(/^date: .*\r\n/im, '')
      .replaceAll(/"(?:id|enc|ct)":"[^"]*"/g, (field) => String(field.length));

  it('learns from a challenge neither who is on the roll nor who is let in', async () => {
    const answers = await Promise.all(ids.map(challenge));
    expect(new Set(answers.map(({ raw }) => shapeOf(raw))).size).toBe(1);
    expect(new Set(answers.map(({ body }) => body)).size).toBe(ids.length);
  });

  it('gets the one refusal, whatever is wrong with its answer', async () => {
    const csr = encodeBase64url(random(200));
    const refused = await Promise.all(
      ids.flatMap((id) =>
        ['own', 'none', 'other'].map(async (which) => {
          const given = (await challenge(which === 'other' ? 'raw-1' : id)).json<ChallengeAnswer>().challenge;
          return post('/v1/certificates', {
            host: id,
            id: which === 'none' ? encodeBase64url(random(152)) : given.id,
            answer: encodeBase64url(random(32)),
            csr,
            use: 'listener',
            sentAt: new Date().toISOString(),
          });
        }),
      ),
    );
    const heartbeat = await host.beat({ headers: [] });
    for (const { raw, body } of refused) {
      expect(body).toBe(unauthenticatedBody);
      expect(shapeOf(raw)).toBe(shapeOf(heartbeat.raw));
    }
  });

  it('is told from who holds the pinned key: only that one hears what is wrong with its request', async () => {
    const given = (await challenge('raw-1')).json<ChallengeAnswer>().challenge;
    const csr = random(200);
    const { id, answer } = answerChallenge(given, {
      host: 'raw-1',
      wrapKeys: [host.wrapKey],
      subject: { purpose: 'certificate', csr, csrUse: 'listener' },
    });
    const body = {
      host: 'raw-1',
      id: encodeBase64url(id),
      answer: encodeBase64url(answer),
      csr: encodeBase64url(csr),
      use: 'listener',
      sentAt: new Date().toISOString(),
    };
    const heard = await post('/v1/certificates', body);
    expect([heard.status, heard.json()['code']]).toEqual([400, 'malformed_certificate_request']);
    expect(decodeBase64url(given.id)).toEqual(id);
  });

  it('may be one who has a good bearer: it proves nothing here', async () => {
    const given = (await challenge('raw-1')).json<ChallengeAnswer>().challenge;
    const body = {
      host: 'raw-1',
      id: given.id,
      answer: encodeBase64url(random(32)),
      csr: encodeBase64url(random(200)),
      use: 'listener',
      sentAt: new Date().toISOString(),
    };
    const headers = [
      ['Authorization', `Bearer ${host.bearer()}`],
      ['X-Rollcall-Host', 'raw-1'],
    ] as const;
    const asked = { method: 'POST', path: '/v1/certificates', headers, body: JSON.stringify(body) };
    expect((await exchange({ port: fleet().port }, asked, fleet().recorder)).body).toBe(unauthenticatedBody);
    expect((await host.beat()).status).toBe(200);
  });
});
