/** Heartbeats of a host over one kept connection, as an agent has it, each timed. */
import { Agent, request } from 'node:https';
import { limits } from '@rollcall/core/limits';
import { routes } from '@rollcall/wire';
import { type RawHost, random } from './raw-host.ts';

export interface KeptBeats {
  /** Milliseconds until the answer was there; rejects where it was not 200. */
  beat(): Promise<number>;
  close(): void;
}

export function createKeptBeats(port: number, host: RawHost): KeptBeats {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
  const instance = Buffer.from(random(16)).toString('base64url');
  const headers = {
    authorization: `Bearer ${host.bearer()}`,
    'x-rollcall-host': host.id,
    'content-type': 'application/json',
  };
  let seq = 0;
  const body = () =>
    JSON.stringify({
      instance,
      seq: ++seq,
      wrapKey: {
        suite: host.wrapKey.public.suite,
        public: Buffer.from(host.wrapKey.public.bytes).toString('base64url'),
      },
      held: { master: { epoch: host.held?.epoch, step: host.held?.step } },
      refused: [],
      agent: { version: '0.1.0' },
      startup: 'restored',
      sentAt: new Date().toISOString(),
    });
  return {
    beat: () =>
      new Promise<number>((resolve, reject) => {
        const startedAt = performance.now();
        const sent = request(
          { host: '127.0.0.1', port, method: 'POST', path: routes.heartbeat.path, headers, agent },
          (answer) => {
            answer.resume().on('end', () => {
              if (answer.statusCode === 200) resolve(performance.now() - startedAt);
              else reject(new Error(`answered ${answer.statusCode}`));
            });
          },
        );
        sent.on('error', reject);
        sent.setTimeout(limits.answerTimeoutMs, () => sent.destroy(new Error('no agent would have waited so long')));
        sent.end(body());
      }),
    close: () => agent.destroy(),
  };
}
