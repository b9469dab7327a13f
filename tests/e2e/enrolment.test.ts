/** Enrolment, where answers are lost, tokens are spent, files are odd, and the database refuses. */
import { readFileSync } from 'node:fs';
import { generateWrapKey } from '@rollcall/core/seal';
import type { AuditRecord } from '@rollcall/wire';
import { describe, expect, it } from 'vitest';
import { type Fleet, readLog, readToken } from './harness/fleet.ts';
import { bearerOf, createRawHost, enrolRawHost, random, randomMaster } from './harness/raw-host.ts';
import { useFleet } from './harness/use-fleet.ts';

const fleet = useFleet({ master: randomMaster() });

describe('a lost enrolment response', () => {
  it('is made good by the same token and key: the same pin, no second life, and the same keys', async () => {
    const token = await fleet().addHost('lost');
    const host = createRawHost(fleet(), 'lost', readToken(token).root);
    const first = await host.enrol(token, { applies: false });
    const second = await host.enrol(token, { applies: false });
    expect([first.status, second.status]).toEqual([200, 200]);

    const [a, b] = [first, second].map((answer) => host.open(answer)[0]);
    if (a?.kind !== 'new' || b?.kind !== 'new') throw new Error('nothing was delivered');
    expect(keysOf(b.assignment)).toEqual(keysOf(a.assignment));
    expect(await auditOf(fleet(), 'lost')).toEqual(['host.added', 'host.enrolled']);
    expect(await fleet().host('lost')).toMatchObject({
      life: 1,
      pin: { fingerprint: host.wrapKey.public.fingerprint },
    });

    // The control: what the repeated answer brought is good.
    host.take(second);
    expect((await host.beat()).status).toBe(200);
  });

  it('is no second chance for another key, whose use is refused and audited', async () => {
    const token = await fleet().addHost('raced');
    const host = createRawHost(fleet(), 'raced', readToken(token).root);
    expect((await host.enrol(token)).status).toBe(200);
    const other = await host.enrol(token, { wrapKey: generateWrapKey(random) });
    expect(other.status).toBe(401);
    expect(await auditOf(fleet(), 'raced')).toContain('host.enrolment_token_reused');
    expect((await fleet().host('raced')).pin?.fingerprint).toBe(host.wrapKey.public.fingerprint);
  });
});

describe('a spent token that is still configured', () => {
  it('is ignored with a warning, and the identity that it gave is kept and used', async () => {
    const agent = await fleet().enrolAgent('web-1');
    const before = await fleet().agentStatus('web-1');
    await agent.kill('SIGTERM');

    const again = fleet().startAgent('web-1', '--enrol', `${fleet().dir}/web-1.token`);
    await fleet().waitUntil('the restarted agent beats', async () => {
      const { heartbeats, fingerprint, problems } = await fleet().agentStatus('web-1');
      expect(fingerprint).toBe(before.fingerprint);
      expect(problems.map(({ code }) => code)).toEqual(['enrolment_already_redeemed']);
      return (heartbeats['ok'] ?? 0) > 1;
    });
    expect(
      readLog(again).some((line) => line['code'] === 'enrolment_already_redeemed' && line['level'] === 'warn'),
    ).toBe(true);
    expect(await fleet().host('web-1')).toMatchObject({ life: 1, pin: { fingerprint: before.fingerprint } });
    expect((await auditOf(fleet(), 'web-1')).filter((action) => action.startsWith('host.enrol'))).toEqual([
      'host.enrolled',
    ]);
    await again.kill('SIGTERM');

    // The control: the same start without the spent token has nothing to warn of.
    const plain = fleet().startAgent('web-1');
    await fleet().waitUntil(
      'the agent beats',
      async () => ((await fleet().agentStatus('web-1')).heartbeats['ok'] ?? 0) > 0,
    );
    expect((await fleet().agentStatus('web-1')).problems).toEqual([]);
    await plain.kill('SIGTERM');
  });
});

describe('a commit that fails while a token is redeemed', () => {
  // Each write of the one transaction in turn; the last one is the record of the change.
  it.each(['enrolment_tokens', 'hosts', 'pins', 'assignments', 'audit'])(
    'leaves the token good and nothing half done: %s cannot be written',
    async (table) => {
      const id = `torn-${table.replace('_', '-')}`;
      const token = await fleet().addHost(id);
      const before = await auditOf(fleet(), id);
      const host = createRawHost(fleet(), id, readToken(token).root);
      const store = fleet().store();
      for (const verb of ['insert', 'update']) {
        store.run(
          `create trigger fault_${verb} before ${verb} on ${table} begin select raise(abort, 'the disk says no'); end`,
        );
      }
      const failed = await host.enrol(token);
      expect(failed.status).toBe(500);
      expect(failed.json()['code']).toBe('internal');
      expect(await fleet().host(id)).toMatchObject({ status: 'invited', pin: null, life: 1 });
      expect(await auditOf(fleet(), id)).toEqual(before);

      for (const verb of ['insert', 'update']) store.run(`drop trigger fault_${verb}`);
      expect((await host.enrol(token)).status).toBe(200);
      await host.settle();
      expect(await fleet().host(id)).toMatchObject({ status: 'active', proven: { master: { version: 1 } } });
    },
  );

  it('is waited out by a real agent, which then enrols by itself with the same token', async () => {
    const store = fleet().store();
    store.run("create trigger fault before insert on pins begin select raise(abort, 'the disk says no'); end");
    const token = fleet().write('patient.token', await fleet().addHost('patient'));
    const agent = fleet().startAgent('patient', '--enrol', token);
    await fleet().waitUntil('the agent was refused', () =>
      readLog(agent).some((line) => line['route'] === 'enrol' && line['code'] === 'internal'),
    );
    expect((await fleet().host('patient')).status).toBe('invited');
    store.run('drop trigger fault');
    await fleet().waitUntil('the agent has enrolled', async () => (await fleet().host('patient')).status === 'active');
    await agent.kill('SIGTERM');
  });
});

describe('a host that is removed and added again under its name', () => {
  it('begins anew: no trace of the old pin blocks it, its old keys are dead, and the audit shows both lives', async () => {
    const former = await enrolRawHost(fleet(), 'db-1');
    const formerBearer = former.bearer();
    expect((await former.beat()).status).toBe(200);
    expect((await fleet().rollcall('host', 'remove', 'db-1', '--yes')).code).toBe(0);
    expect((await former.beat()).status).toBe(401);

    const host = await enrolRawHost(fleet(), 'db-1');
    expect(host.wrapKey.public.fingerprint).not.toBe(former.wrapKey.public.fingerprint);
    expect(await fleet().host('db-1')).toMatchObject({
      life: 2,
      pending: false,
      pin: { fingerprint: host.wrapKey.public.fingerprint, anchor: 'enrolment' },
      flags: [],
    });
    expect((await fleet().ask<{ pending: unknown[] }>('GET', '/v1/pins')).pending).toEqual([]);
    expect((await former.beat({ bearer: formerBearer })).status).toBe(401);
    expect((await host.beat()).status).toBe(200);
    expect(host.bearer()).toBe(bearerOf(fleet().store().masters().get(1) ?? random(32), 'db-1', 2));

    const lives = (await records(fleet(), 'db-1')).filter(
      ({ action }) => action === 'host.added' || action === 'host.removed',
    );
    expect(lives.map(({ action, details }) => [action, details['life'] ?? details['formerLife']])).toEqual([
      ['host.added', 1],
      ['host.removed', 1],
      ['host.added', 2],
    ]);
  });
});

describe('a host id', () => {
  it('that differs only in case from one on the roll is refused at host add, and free again after removal', async () => {
    await fleet().addHost('Edge-7');
    const refused = await fleet().rollcall('host', 'add', 'eDGE-7', '--json');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('host_exists');
    expect((await fleet().rollcall('host', 'remove', 'Edge-7', '--yes')).code).toBe(0);
    expect((await fleet().rollcall('host', 'add', 'eDGE-7', '--json')).code).toBe(0);
  });

  it('is compared byte for byte when it is presented', async () => {
    const host = await enrolRawHost(fleet(), 'Exact-1');
    const as = (id: string) =>
      host.beat({
        headers: [
          ['Authorization', `Bearer ${host.bearer()}`],
          ['X-Rollcall-Host', id],
        ],
      });
    expect((await as('exact-1')).status).toBe(401);
    expect((await as('Exact-1')).status).toBe(200);
  });
});

describe('a token file', () => {
  it.each([
    ['a newline', '', '\n'],
    ['a carriage return and newline', '', '\r\n'],
    ['spaces around', '  ', ' \t\n\n'],
  ])('may end in %s', async (name, before, after) => {
    const id = name.replaceAll(' ', '-');
    const token = fleet().write(`${id}.token`, `${before}${await fleet().addHost(id)}${after}`);
    const agent = fleet().startAgent(id, '--enrol', token);
    await fleet().waitUntil('it is enrolled', async () => (await fleet().host(id)).status === 'active');
    await agent.kill('SIGTERM');
  });

  it('with a byte-order mark gives a clear error that does not print the file, and spends nothing', async () => {
    const text = await fleet().addHost('marked');
    const marked = fleet().write('marked.token', Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(text)]));
    const agent = fleet().startAgent('marked', '--enrol', marked);
    expect((await agent.ended).code).toBe(2);
    const said = agent.stdout() + agent.stderr();
    expect(said).toContain('byte_order_mark');
    expect(said).toContain(marked);
    expect(said).not.toContain('rce_');
    expect(said).not.toContain(text.slice(10, 40));

    const good = fleet().write('marked.token', readFileSync(marked).subarray(3));
    const next = fleet().startAgent('marked', '--enrol', good);
    await fleet().waitUntil('it is enrolled', async () => (await fleet().host('marked')).status === 'active');
    await next.kill('SIGTERM');
  });
});

async function records(fleet: Fleet, target: string): Promise<readonly AuditRecord[]> {
  const { records: all } = await fleet.ask<{ records: AuditRecord[] }>('GET', '/v1/audit');
  return all.filter((record) => record.target === target);
}

async function auditOf(fleet: Fleet, target: string): Promise<readonly string[]> {
  return (await records(fleet, target)).map(({ action }) => action);
}

function keysOf(assignment: import('@rollcall/core/seal').Assignment): readonly unknown[] {
  return assignment.accept.map(({ version, value }) => [
    version,
    'keys' in value
      ? Object.entries(value.keys).map(([purpose, key]) => [purpose, Buffer.from(key.reveal()).toString('hex')])
      : [],
  ]);
}
