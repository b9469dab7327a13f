/** What a shared token may be, by name and by value, and how many a host may hold. */
import { encodeBase64url, utf8 } from '@rollcall/core/bytes';
import { limits } from '@rollcall/core/limits';
import { beforeEach, describe, expect, it } from 'vitest';
import { enrolNew, type TestHost } from '../../host.fixture.ts';
import { codeOf, createTestHub, operator, type TestHub } from '../../hub.fixture.ts';
import { createSelfChecks } from '../../self-checks.ts';
import { listTokenVersions, type TokenVersionRecord, writeTokenVersion } from '../../store/tokens.ts';
import { addHost } from '../add-host.ts';
import { createSecret } from '../create-secret.ts';
import { removeHost } from '../end-host.ts';
import { changeHolders } from './create-token.ts';

const OLD = 'the-token-that-the-fleet-has-had-for-years';
let hub: TestHub;
let host: TestHost;

beforeEach(async () => {
  hub = await createTestHub();
  host = await enrolNew(hub, 'a');
  await createSecret(hub, { name: 'fleet', value: encodeBase64url(utf8(OLD)), holders: ['all'] }, operator);
});

describe('a shared token', () => {
  it('has a name of its own, and is named in readiness where it can be guessed', async () => {
    expect(await codeOf(createSecret(hub, { name: 'host-token' }, operator))).toBe('secret_reserved');
    expect(hub.tokens.weak()).toEqual([]);
    const value = encodeBase64url(utf8('short'));
    expect(await codeOf(createSecret(hub, { name: 'old', value }, operator))).toBe('weak_secret');
    await createSecret(hub, { name: 'old', value, weak: true, holders: ['all'] }, operator);
    expect(hub.tokens.weak()).toEqual(['old']);
    const certificate = { hasEnded: false, isLate: false };
    const checks = await createSelfChecks(hub, { areJobsAlive: () => true, certificate })();
    expect(checks.find(({ code }) => code === 'weak_secrets')).toMatchObject({ ok: false, isWarning: true });
  });

  it('is of one name alone: a value that another one has, or had, is not taken', async () => {
    const bring = (name: string, text: string) =>
      codeOf(createSecret(hub, { name, value: encodeBase64url(utf8(text)), holders: ['all'] }, operator));
    expect(await bring('ci', OLD)).toBe('secret_value_known');
    expect(await bring('ci', ` ${OLD}\n`)).toBe('secret_value_known');
    const [version] = await listTokenVersions(hub.db, hub.vault, 'fleet');
    const destroyed = { ...(version as TokenVersionRecord), value: undefined };
    await hub.db.transaction().execute((tx) => writeTokenVersion(tx, hub.vault, destroyed));
    // Destroyed, and still known: its digest stays.
    expect(await bring('ci', OLD)).toBe('secret_value_known');
    expect(await bring('ci', `${OLD}-of-another`)).toBe('done');
  });

  it('is held beside no more than a beat can carry', async () => {
    const names = Array.from({ length: limits.namedSecrets - 1 }, (_, at) => `more-${at}`);
    for (const name of names.slice(1)) await createSecret(hub, { name, holders: ['all'] }, operator);
    await createSecret(hub, { name: 'more-0', holders: ['a'] }, operator);
    await host.beat(hub);
    await host.beat(hub);
    const one = (name: string, holders: string[]) => codeOf(createSecret(hub, { name, holders }, operator));
    expect(await one('too-many', ['a'])).toBe('held_secrets_full');
    expect(await one('too-many', ['all'])).toBe('held_secrets_full');
    await addHost(hub, { host: 'b' }, operator);
    expect(await one('of-b', ['b'])).toBe('done');
    // It carries all of them, and is taken.
    expect(await codeOf(host.beat(hub))).toBe('done');
    expect(host.tokens.size).toBe(limits.namedSecrets);
  });

  it('is not given to every host by whoever means the one that is called all', async () => {
    await createSecret(hub, { name: 'a-token' }, operator);
    const change = () => changeHolders(hub, 'a-token', { add: ['all'] }, operator);
    await addHost(hub, { host: 'all' }, operator);
    expect(await codeOf(change())).toBe('malformed_member');
    await removeHost(hub, 'all', operator);
    expect(await codeOf(change())).toBe('done');
  });
});
