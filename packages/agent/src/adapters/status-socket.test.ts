import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RollcallError } from '@rollcall/core/errors';
import type { AgentHostAnswer, AgentStatusAnswer } from '@rollcall/wire';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { describeAgent } from '../agent-status.ts';
import { durableState, random } from '../fleet.fixture.ts';
import { createAcceptance } from '../listener/acceptance.ts';
import { holding, tokenStep, tokenText } from '../listener/listener.fixture.ts';
import { decideStart } from '../start.ts';
import { createHostHandler } from './host-server.ts';
import { askProbe, askReload, askStatus, type StatusAgent, type StatusSocket, serveStatus } from './status-socket.ts';

const status: AgentStatusAnswer = describeAgent(decideStart(durableState(), {}, random));
const agent: StatusAgent = {
  describe: () => status,
  reload: async () => ({ changed: ['log_level'], needRestart: [] }),
};
let directory: string;
let socket: StatusSocket | undefined;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rollcall-status-'));
});

afterEach(async () => {
  await socket?.close();
  socket = undefined;
  await rm(directory, { recursive: true });
});

function statusOf(path: string, method = 'GET', headers: Record<string, string> = {}): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request({ socketPath: join(directory, 'agent.sock'), path, method, headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    })
      .once('error', reject)
      .end();
  });
}

describe('the status socket', () => {
  it('tells how the agent is, to its owner alone', async () => {
    socket = await serveStatus(directory, agent);
    expect(await askStatus(directory)).toEqual(status);
    expect((await stat(join(directory, 'agent.sock'))).mode & 0o777).toBe(0o600);
    expect(await readdir(directory)).toEqual(['agent.sock']);
  });

  it('takes the place of one that a killed agent left', async () => {
    await writeFile(join(directory, 'agent.sock'), '');
    socket = await serveStatus(directory, agent);
    expect((await askStatus(directory)).host).toBe(status.host);
  });

  it('knows two routes, each with its method', async () => {
    socket = await serveStatus(directory, agent);
    expect(await statusOf('/v1/status')).toBe(200);
    expect(await statusOf('/v1/status?verbose')).toBe(200);
    expect(await statusOf('/v1/secrets')).toBe(404);
    expect(await statusOf('/v1/status', 'POST')).toBe(405);
    expect(await statusOf('/v1/reload', 'GET')).toBe(405);
    expect(await statusOf('/v1/reload', 'POST')).toBe(200);
  });

  it('brings a reload to the agent, and its refusal back', async () => {
    socket = await serveStatus(directory, agent);
    expect(await askReload(directory)).toEqual({ changed: ['log_level'], needRestart: [] });
    await socket.close();
    const problems = ['agent.yaml:1: beat: unknown'];
    const reload = () => Promise.reject(new RollcallError('config_invalid', { problems }));
    socket = await serveStatus(directory, { ...agent, reload });
    await expect(askReload(directory)).rejects.toMatchObject({ code: 'config_invalid', details: { problems } });
    await socket.close();
    socket = await serveStatus(directory, { ...agent, reload: () => Promise.reject(new Error('hunter2')) });
    await expect(askReload(directory)).rejects.toMatchObject({ code: 'internal', details: { problems: [] } });
  });

  it('serves the host’s own routes too, each with its credential, and its own verbs without', async () => {
    const acceptance = createAcceptance(holding([tokenStep(1, [1])]));
    const view = { host: 'agent-7', version: 'x', acceptance, isOwnProbe: () => false, describeSinks: () => [] };
    const describeHost = () => ({}) as AgentHostAnswer;
    const seen: string[] = [];
    const handle = createHostHandler(
      () => ({ ...view, describeHost }),
      ({ answer, address }) => seen.push(`${address} ${answer.route} ${answer.status}`),
    );
    const probe = () => Promise.reject(new RollcallError('listener_unconfirmed'));
    socket = await serveStatus(directory, { ...agent, handle, probe });
    expect(await statusOf('/v1/host')).toBe(401);
    expect(await statusOf('/v1/nothing')).toBe(401);
    expect(await statusOf('/v1/host', 'GET', { 'x-node-token': tokenText(1) })).toBe(200);
    expect(await statusOf('/healthz')).toBe(200);
    expect(seen).toEqual(['unix  401', 'unix  401', 'unix /v1/host 200', 'unix /healthz 200']);
    expect((await askStatus(directory)).host).toBe(status.host);
    await expect(askProbe(directory)).rejects.toMatchObject({ code: 'listener_unconfirmed' });
  });

  it('is gone with its agent, and asking then says that none runs', async () => {
    await expect(askStatus(directory)).rejects.toMatchObject({ code: 'agent_not_running' });
    const stopped = await serveStatus(directory, agent);
    await stopped.close();
    expect(await readdir(directory)).toEqual([]);
    await expect(askStatus(directory)).rejects.toMatchObject({ code: 'agent_not_running' });
  });

  it('says so when its path is too long for a socket', async () => {
    const long = join(directory, 'x'.repeat(100));
    await expect(serveStatus(long, agent)).rejects.toMatchObject({ code: 'socket_path_too_long' });
    await expect(askStatus(long)).rejects.toMatchObject({ code: 'socket_path_too_long' });
  });
});
