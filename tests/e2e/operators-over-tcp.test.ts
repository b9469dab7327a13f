/** Operators with tokens, over TCP, through a real hub: each may do what its role says, and a dead token nothing at all. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HubStatusAnswer, OperatorToken } from '@rollcall/wire';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Ran } from './harness/fleet.ts';
import { useFleet } from './harness/use-fleet.ts';

const fleet = useFleet({ hubFlags: ['--operators', '127.0.0.1:0', '--beat', '200ms'] });
const unauthenticated = { code: 1, error: 'operator_refused' };

let address = '';

beforeAll(async () => {
  const { operatorsAddress } = await fleet().ask<HubStatusAnswer>('GET', '/v1/status');
  address = `https://${operatorsAddress}`;
});

/** Adds an operator over the socket: the file that its token is in. */
async function addOperator(name: string, role: string): Promise<string> {
  const added = await fleet().rollcall('operator', 'add', name, '--role', role, '--json');
  return fleet().write(`${name}.token`, added.json<OperatorToken>().token);
}

function as(tokenFile: string, ...words: readonly string[]): Promise<Ran> {
  const to = ['--hub', address, '--token-file', tokenFile, '--hub-root-file', fleet().files.hubRoot];
  return fleet().rollcall(...words, ...to, '--json');
}

function outcome({ code, stdout }: Ran): { readonly code: number | null; readonly error: string | undefined } {
  const { error } = JSON.parse(stdout) as { readonly error?: { readonly code: string } };
  return { code, error: error?.code };
}

const done = { code: 0, error: undefined };
const tooLow = { code: 1, error: 'role_too_low' };

describe('roles', () => {
  it.each([
    ['viewer', [done, tooLow, tooLow]],
    ['operator', [done, done, tooLow]],
    ['admin', [done, done, done]],
  ])('%s looks, acts on hosts, and on operators: %j', async (role, [looks, acts, rules]) => {
    const token = await addOperator(`a-${role}`, role);
    expect(outcome(await as(token, 'host', 'list'))).toEqual(looks);
    expect(outcome(await as(token, 'host', 'add', `of-${role}`))).toEqual(acts);
    expect(outcome(await as(token, 'operator', 'add', `by-${role}`, '--role', 'viewer'))).toEqual(rules);
    const roll = await fleet().ask<{ hosts: { id: string }[] }>('GET', '/v1/hosts');
    expect(roll.hosts.some(({ id }) => id === `of-${role}`)).toBe(acts === done);
  });

  it('stand in the audit, as verified', async () => {
    const token = await addOperator('ada', 'operator');
    await as(token, 'host', 'add', 'agent-1');
    const listed = await fleet().rollcall('audit', 'list', '--actor', 'ada', '--action', 'host', '--json');
    expect(listed.json<{ records: unknown[] }>().records).toEqual([
      expect.objectContaining({
        action: 'host.added',
        target: 'agent-1',
        actor: { id: 'ada', kind: 'operator', rung: 'operator-token', verified: true },
      }),
    ]);
  });
});

describe('a token', () => {
  it('that was rotated is dead at once; the new one lives', async () => {
    const old = await addOperator('grace', 'viewer');
    expect(outcome(await as(old, 'host', 'list'))).toEqual(done);
    const rotated = await fleet().rollcall('operator', 'rotate-token', 'grace', '--json');
    const fresh = fleet().write('grace-2.token', rotated.json<OperatorToken>().token);
    expect(outcome(await as(old, 'host', 'list'))).toEqual(unauthenticated);
    expect(outcome(await as(fresh, 'host', 'list'))).toEqual(done);
  });

  it('of an operator that was removed is dead at once', async () => {
    const token = await addOperator('joan', 'admin');
    expect(outcome(await as(token, 'operator', 'list'))).toEqual(done);
    await fleet().rollcall('operator', 'remove', 'joan', '--yes');
    expect(outcome(await as(token, 'operator', 'list'))).toEqual(unauthenticated);
  });

  it('that nobody was given, and none, are answered alike, to the byte', async () => {
    const { Agent, request } = await import('node:https');
    const agent = new Agent({ rejectUnauthorized: false });
    const ask = (authorization?: string) =>
      new Promise<string>((resolve, reject) => {
        const headers = authorization === undefined ? {} : { authorization };
        request(`${address}/v1/hosts`, { agent, headers }, (answer) => {
          let body = '';
          answer.on('data', (part: Buffer) => (body += part.toString()));
          answer.on('end', () => resolve(`${answer.statusCode} ${answer.headers['content-type']} ${body}`));
        })
          .once('error', reject)
          .end();
      });
    const answers = [
      await ask(),
      await ask('Bearer x'),
      await ask(`Bearer rco_${'A'.repeat(48)}`),
      await ask('Basic eDp5'),
    ];
    expect(new Set(answers)).toEqual(new Set(['401 application/json; charset=utf-8 {"error":"node token invalid"}']));
    agent.destroy();
  });
});

describe('the hub', () => {
  it('is known by its key: with a hub-root file of another, nothing is sent', async () => {
    const token = await addOperator('mary', 'viewer');
    const other = join(fleet().dir, 'other-hub');
    await fleet().rollcall('hub', 'init', '--dir', other, '--json');
    const to = ['--hub', address, '--token-file', token, '--hub-root-file', join(other, 'hub-root.json')];
    const refused = await fleet().rollcall('host', 'list', ...to, '--json');
    expect(outcome(refused)).toEqual({ code: 1, error: 'hub_untrusted' });
    expect(outcome(await as(token, 'host', 'list'))).toEqual(done);
  });

  it('prints the hub-root file that it is known by', async () => {
    const token = await addOperator('kay', 'viewer');
    const status = await fleet().rollcall('hub', 'status', '--json');
    const file = join(fleet().dir, 'printed-root.json');
    writeFileSync(file, JSON.stringify(status.json<HubStatusAnswer>().hubRoot));
    const to = ['--hub', address, '--token-file', token, '--hub-root-file', file];
    expect(outcome(await fleet().rollcall('host', 'list', ...to, '--json'))).toEqual(done);
  });
});
