/** A roll as a fleet has it: hosts that an operator added and that enrolled with their token, pinned, and steady since. */
import { randomBytes } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { encodeBase64url } from '@rollcall/core/bytes';
import { deriveHostKey, encodeToken, enrolmentKey, enrolmentProof, parseEnrolmentToken } from '@rollcall/core/keys';
import { generateWrapKey } from '@rollcall/core/seal';
import type { AddHostAnswer, EnrolAnswer, HeartbeatBody } from '@rollcall/wire';
import { FIRST_SEQ } from './first-seq.ts';

const random = (n: number): Uint8Array => Uint8Array.from(randomBytes(n));

export interface HubAddress {
  readonly port: number;
  readonly operatorSocket: string;
}

/** Returns the heartbeat of each host: a request, whole, as text. */
export async function enrolRoll(hub: HubAddress, hosts: number): Promise<readonly string[]> {
  const master = random(32);
  await askOperator(hub, '/v1/secrets', { name: 'master', value: encodeBase64url(master) });
  const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
  const requests: string[] = [];
  for (let index = 0; index < hosts; index += 1) {
    const host = `agent-${String(index).padStart(5, '0')}`;
    const { token = '', life } = (await askOperator(hub, '/v1/hosts', { host })) as AddHostAnswer;
    const bearer = encodeToken('rcb', deriveHostKey(master, 'heartbeat', host, life));
    const { body, step } = await enrol(hub, agent, host, token);
    requests.push(toRequest(hub, host, bearer, { ...body, held: { master: step } }));
  }
  agent.destroy();
  return requests;
}

/** Also the body of a host that has everything that it is to have. */
async function enrol(hub: HubAddress, agent: Agent, host: string, token: string) {
  const { secret } = parseEnrolmentToken(token);
  const wrapKey = generateWrapKey(random).public;
  const instance = random(16);
  const proof = enrolmentProof(enrolmentKey(secret), { host, wrapPublic: wrapKey.bytes, instance });
  const published = { suite: wrapKey.suite, public: encodeBase64url(wrapKey.bytes) };
  const body = { host, wrapKey: published, instance: encodeBase64url(instance), proof: encodeBase64url(proof) };
  const { deliveries } = (await send(
    httpsRequest({ port: hub.port, host: '127.0.0.1', method: 'POST', path: '/v1/enrol', agent, headers }),
    body,
  )) as EnrolAnswer;
  const [delivery] = deliveries;
  if (delivery === undefined) throw new Error('the hub delivered nothing');
  return {
    step: { epoch: delivery.epoch, step: delivery.step },
    body: {
      instance: body.instance,
      seq: FIRST_SEQ,
      wrapKey: published,
      refused: [],
      agent: { version: '0.1.0' },
      startup: 'restored',
      sentAt: new Date().toISOString(),
    } satisfies Omit<HeartbeatBody, 'held'>,
  };
}

function toRequest({ port }: HubAddress, host: string, bearer: string, body: HeartbeatBody): string {
  const text = JSON.stringify(body);
  return [
    'POST /v1/heartbeat HTTP/1.1',
    `host: 127.0.0.1:${port}`,
    `authorization: Bearer ${bearer}`,
    `x-rollcall-host: ${host}`,
    'content-type: application/json',
    `content-length: ${text.length}`,
    '',
    text,
  ].join('\r\n');
}

function askOperator(hub: HubAddress, path: string, body: unknown): Promise<unknown> {
  return send(httpRequest({ socketPath: hub.operatorSocket, method: 'POST', path, headers }), body);
}

const headers = { 'content-type': 'application/json' };

function send(request: ReturnType<typeof httpRequest>, body: unknown): Promise<unknown> {
  return new Promise((resolve, reject) => {
    request.on('error', reject);
    request.on('response', (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () => {
        const text = Buffer.concat(parts).toString();
        if (response.statusCode === 200) resolve(JSON.parse(text));
        else reject(new Error(`${response.statusCode} ${text}`));
      });
    });
    request.end(JSON.stringify(body));
  });
}
