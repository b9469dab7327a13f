/** A Fastify as a process, on plain HTTP, with one route: guarded by `rollcall`, by `bearer-auth`, or by `nobody`. */
import type { AddressInfo } from 'node:net';
import bearerAuth from '@fastify/bearer-auth';
import { createTokenVerifier, fastifyPlugin } from '@rollcall/core/verify';
import { fastify } from '@rollcall/hub/parts';
import { answerParent } from '../heartbeat/process.ts';

const [guard = '', current = '', next = ''] = process.argv.slice(2);

const app = fastify();
if (guard === 'rollcall') {
  const set = { current: { version: 4, value: current }, next: { version: 5, value: next } };
  app.register(fastifyPlugin(createTokenVerifier(set)));
}
if (guard === 'bearer-auth') app.register(bearerAuth, { keys: new Set([current, next]) });
app.get('/v1/host', () => 'ok');
await app.listen({ port: 0, host: '127.0.0.1' });

const answers = {
  started: () => ({ port: (app.server.address() as AddressInfo).port }),
  cpuMs: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  },
};
export type GuardServerAnswers = typeof answers;
answerParent(answers);
