import { RollcallError } from '@rollcall/core/errors';
import { describe, expect, it } from 'vitest';
import { hubStatus, notReady, ready } from '../answers.fixture.ts';
import type { HubPackage } from '../optional-package.ts';
import { systemError, transcript } from '../transcript.fixture.ts';

const made = {
  dir: '/var/lib/rollcall',
  kekFile: '/var/lib/rollcall.kek',
  hubRootFile: '/var/lib/rollcall/hub-root.json',
  hubRoot: hubStatus.hubRoot,
  offlineKeyFile: '/var/lib/rollcall/offline-keys.json',
  operatorSocket: '/var/lib/rollcall/operator.sock',
  listen: '127.0.0.1:7443',
};

function fakeHub() {
  const given: unknown[] = [];
  const hub: HubPackage = {
    initHub: async (options) => {
      given.push(options);
      return made;
    },
    runHub: async (options) => {
      given.push(options);
    },
    examineHub: () => Promise.reject(new Error('not asked for')),
  };
  return { given, parts: { '@rollcall/hub': async () => hub } };
}

describe('rollcall hub init', () => {
  it('says in plain words that the offline key file must leave', async () => {
    const { given, parts } = fakeHub();
    const { exit, stdout } = await transcript(
      ['hub', 'init', '--dir', made.dir, '--listen', '10.0.0.5:7443', '--trust-domain', 'x.org', '--kek-file', '/k'],
      { parts },
    );
    expect(exit).toBe(0);
    expect(given).toEqual([{ dir: made.dir, listen: '10.0.0.5:7443', trustDomain: 'x.org', kekFile: '/k' }]);
    expect(stdout).toContain('The offline key file must leave this machine now.');
    expect(stdout).toContain(made.offlineKeyFile);
    expect(stdout).toContain(`"root": "${hubStatus.hubRoot.root}"`);
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  it('is one document with --json', async () => {
    expect(await transcript(['hub', 'init', '--dir', made.dir, '--json'], fakeHub())).toMatchObject({
      exit: 0,
      json: made,
    });
  });

  it('fails as the hub package says', async () => {
    const initHub = () => Promise.reject(new RollcallError('file_unreadable', { file: '/x' }));
    const run = await transcript(['hub', 'init', '--dir', '/x', '--json'], {
      parts: { '@rollcall/hub': async () => ({ ...(await fakeHub().parts['@rollcall/hub']()), initHub }) },
    });
    expect(run).toMatchObject({ exit: 2, json: { error: { code: 'file_unreadable', details: { file: '/x' } } } });
  });
});

describe('rollcall hub start', () => {
  it('hands its options over', async () => {
    const { given, parts } = fakeHub();
    const words = [
      'hub',
      'start',
      '--dir',
      '/d',
      '--kek-file',
      '/k',
      '--listen',
      'h:1',
      '--metrics',
      'h:2',
      '--beat',
      '500ms',
      '--verify-window',
      '1h',
      '--log-level',
      'warn',
    ];
    const { exit, stdout } = await transcript(words, { parts });
    expect({ exit, stdout }).toEqual({ exit: 0, stdout: 'The hub has stopped.\n' });
    expect(given).toEqual([
      {
        dir: '/d',
        kekFile: '/k',
        listen: 'h:1',
        metrics: 'h:2',
        beatMs: 500,
        verifyWindowMs: 3_600_000,
        logLevel: 'warn',
      },
    ]);
    const bare = fakeHub();
    await transcript(['hub', 'start', '--dir', '/d'], bare);
    expect(bare.given).toEqual([{ dir: '/d' }]); // What is undefined is as good as absent.
  });

  it('says how to install what is missing, and tells that from what is broken', async () => {
    const missing = await transcript(['hub', 'start', '--dir', '/d', '--json']);
    expect(missing).toMatchObject({
      exit: 2,
      json: { error: { code: 'package_missing', hint: 'npm install @rollcall/hub@0.1.0' } },
    });
    const broken = Object.assign(new Error("Cannot find package 'fastify' imported from @rollcall/hub"), {
      code: 'ERR_MODULE_NOT_FOUND',
    });
    const run = await transcript(['hub', 'start', '--dir', '/d', '--json'], {
      parts: { '@rollcall/hub': () => Promise.reject(broken) },
    });
    expect(run).toMatchObject({ exit: 1, json: { error: { code: 'internal' } } });
    expect(await transcript(['agent', 'status', '--state', '/s', '--json'])).toMatchObject({
      exit: 2,
      json: { error: { code: 'package_missing' } },
    });
  });
});

describe('rollcall hub status', () => {
  it('shows checks, and the hub-root file as it is to be copied', async () => {
    const { exit, stdout } = await transcript(['hub', 'status'], { answers: { hubStatus } });
    expect(exit).toBe(0);
    expect(stdout).toMatch(/FAILS +certificate_life/);
    expect(JSON.parse(stdout.slice(stdout.indexOf('{')))).toEqual(hubStatus.hubRoot);
  });
});

describe('rollcall hub readiness', () => {
  it('exits 0 when ready and 3 when not, with what is wrong', async () => {
    const good = await transcript(['hub', 'readiness'], { answers: { readiness: ready } });
    expect(good).toMatchObject({ exit: 0, stderr: '' });
    expect(good.stdout).toMatch(/^READY\n/);
    const bad = await transcript(['hub', 'readiness'], { answers: { readiness: notReady } });
    expect(bad).toMatchObject({ exit: 3, stderr: '' });
    expect(bad.stdout).toMatch(/^NOT READY: 2 problems\n/);
    expect(bad.stdout).toContain('not_proven_on_current: 100 hosts');
    expect(bad.stdout).toContain('pin_pending: 1 host\n    agent-7\n');
    expect(bad.stdout).toContain('--json has all');
  });

  it('is not ready over nothing', async () => {
    const run = await transcript(['hub', 'readiness'], {
      answers: { readiness: { ...ready, ready: false, examined: 0 } },
    });
    expect(run.exit).toBe(3);
    expect(run.stdout).toContain('no host was examined');
  });

  it.each([
    [{ safeToRetire: { master: true } }, 'safe'],
    [{ retireNow: { master: true }, previousVerifiesUntil: notReady.previousVerifiesUntil }, 'would strand nobody'],
    [{ previousVerifiesUntil: notReady.previousVerifiesUntil }, 'not yet'],
    [{}, 'nothing to retire'],
  ])('judges retirement: %j is %s', async (facts, verdict) => {
    const { stdout } = await transcript(['hub', 'readiness'], { answers: { readiness: { ...ready, ...facts } } });
    expect(stdout.replace(/\s+/g, ' ')).toContain(verdict);
  });
});

it('a socket of another user is told by its error', async () => {
  const run = await transcript(['hub', 'status'], { send: () => Promise.reject(systemError('EACCES')) });
  expect(run.stderr).toContain('this user may not open the socket');
});
