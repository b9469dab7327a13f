import { generateKeyPairSync } from 'node:crypto';
import { Agent, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { connect, type PeerCertificate } from 'node:tls';
import { SecretBytes } from '@rollcall/core/keys';
import { limits } from '@rollcall/core/limits';
import { seededRandom } from '@rollcall/core/testing';
import { createAuthority } from '@rollcall/x509';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createFleetListener } from './http/fleet-listener.ts';
import { showCertificate } from './http/server-options.ts';
import { createTestHub, START_MS, type TestHub } from './hub.fixture.ts';
import { createSelfChecks } from './self-checks.ts';
import { createServerCertificate, type ServerCertificate } from './server-certificate.ts';

const LIFE_MS = limits.serverCertificateLifeMs;
const random = seededRandom('server-certificate');
const generateKeyPair = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });
const key = new SecretBytes(
  'server',
  Uint8Array.from(generateKeyPair().privateKey.export({ format: 'der', type: 'pkcs8' })),
);

let hub: TestHub;
let certificate: ServerCertificate;
beforeEach(async () => {
  hub = await createTestHub();
  certificate = create();
});

function create(authorityLifeMs: number = limits.authorityLifeMs): ServerCertificate {
  const wish = { trustDomain: 'fleet.example', commonName: 'test', generateKeyPair, random, nowMs: START_MS };
  const authority = createAuthority({ ...wish, lifeMs: authorityLifeMs });
  const names = { dnsNames: ['localhost'], ipAddresses: ['127.0.0.1'] };
  return createServerCertificate({ authority, key, names, clock: hub.clock, random, log: hub.log });
}

/** How many new ones were shown. */
function countRenewals(): () => number {
  let count = 0;
  certificate.follow(() => {
    count += 1;
  });
  return () => count;
}

describe('the certificate of the listeners', () => {
  it('is renewed once half of its life is over, as often as that, and not before', async () => {
    const renewals = countRenewals();
    await hub.wall.advance(LIFE_MS / 2 - limits.certificateBackdateMs);
    certificate.renewIfDue();
    expect(renewals()).toBe(0);
    await hub.wall.advance(limits.certificateBackdateMs);
    certificate.renewIfDue();
    certificate.renewIfDue();
    expect(renewals()).toBe(1);
    await hub.wall.advance(LIFE_MS / 2);
    expect([certificate.hasEnded, certificate.isLate]).toEqual([false, false]);
    certificate.renewIfDue();
    expect(renewals()).toBe(2);
  });

  it('is not renewed while nobody knows what time it is', async () => {
    const renewals = countRenewals();
    hub.wall.setWall(START_MS + LIFE_MS * 0.6);
    certificate.renewIfDue();
    expect(renewals()).toBe(0);
    hub.clock.accept(hub.clock.wallTime());
    certificate.renewIfDue();
    expect(renewals()).toBe(1);
  });

  it('is late at three quarters of its life, which is told before it ends', async () => {
    await hub.wall.advance(LIFE_MS * 0.74);
    expect([certificate.isLate, certificate.hasEnded]).toEqual([false, false]);
    await hub.wall.advance(LIFE_MS * 0.01);
    expect([certificate.isLate, certificate.hasEnded]).toEqual([true, false]);
    await hub.wall.advance(LIFE_MS * 0.25);
    expect([certificate.isLate, certificate.hasEnded]).toEqual([true, true]);
  });

  it('does not outlive its issuer, and is not made anew for nothing', async () => {
    certificate = create(LIFE_MS / 4);
    const renewals = countRenewals();
    await hub.wall.advance(LIFE_MS / 5);
    certificate.renewIfDue();
    expect([renewals(), certificate.isLate]).toEqual([0, true]);
  });
});

describe('a listener', () => {
  const open = async (): Promise<number> => {
    const checks = createSelfChecks(hub, { areJobsAlive: () => true, certificate });
    const app = createFleetListener(hub, certificate.tls, checks, '1.2.3');
    certificate.follow((next) => showCertificate(app, next));
    await app.listen({ host: '127.0.0.1', port: 0 });
    onTestFinished(() => app.close());
    return (app.server.address() as AddressInfo).port;
  };
  const shownAt = (port: number) =>
    new Promise<{ shown: PeerCertificate; protocol: string | null }>((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
        resolve({ shown: socket.getPeerCertificate(), protocol: socket.getProtocol() });
        socket.destroy();
      });
      socket.on('error', reject);
    });
  const ask = (port: number, agent: Agent, path = '/healthz') =>
    new Promise<{ status: number | undefined; isReused: boolean }>((resolve, reject) => {
      const asked = request({ host: '127.0.0.1', port, path, agent, rejectUnauthorized: false }, (response) => {
        response.resume().on('end', () => resolve({ status: response.statusCode, isReused: asked.reusedSocket }));
      });
      asked.on('error', reject).end();
    });

  it('shows the new one to whoever connects, over the same key and as strictly, and drops nobody', async () => {
    const port = await open();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    await ask(port, agent);
    const before = await shownAt(port);
    await hub.wall.advance(LIFE_MS / 2);
    certificate.renewIfDue();
    const after = await shownAt(port);
    expect(after.shown.serialNumber).not.toBe(before.shown.serialNumber);
    expect(after.shown.pubkey).toEqual(before.shown.pubkey);
    expect(Date.parse(after.shown.valid_to) - Date.parse(before.shown.valid_to)).toBeGreaterThan(LIFE_MS * 0.49);
    expect(after.protocol).toBe('TLSv1.3');
    expect(await ask(port, agent)).toEqual({ status: 200, isReused: true });
    const old = new Promise((_, reject) => {
      connect({ host: '127.0.0.1', port, rejectUnauthorized: false, maxVersion: 'TLSv1.2' }).on('error', reject);
    });
    await expect(old).rejects.toThrow();
  });

  it('stays in service while its certificate is late, and not when it has ended', async () => {
    const port = await open();
    const agent = new Agent();
    await hub.wall.advance(LIFE_MS * 0.8);
    expect((await ask(port, agent, '/readyz')).status).toBe(200);
    await hub.wall.advance(LIFE_MS * 0.2);
    expect((await ask(port, agent, '/readyz')).status).toBe(503);
  });
});
