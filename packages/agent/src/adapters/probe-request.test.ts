import { createServer } from 'node:tls';
import { parseListenAddress } from '@rollcall/wire';
import { afterEach, expect, it } from 'vitest';
import { issueHubCertificate, listen, makeAuthority, serveHub } from '../tls-hub.fixture.ts';
import { askOwnListener } from './probe-request.ts';

const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const own = issueHubCertificate(makeAuthority());
const leaf = Uint8Array.from(Buffer.from(own.cert.split('-----')[2] ?? '', 'base64'));

async function target(answer: { readonly status: number; readonly body: string }) {
  const listening = await serveHub(own, (_request, response) => {
    response.writeHead(answer.status).end(answer.body);
  });
  closing.push(listening.close);
  return { address: parseListenAddress(new URL(listening.url).host), leaf, nonce: 'n' };
}

it.each([
  [200, 'anything', 'taken'],
  [401, '{"error":"node token invalid"}', 'refused'],
])('%i is an answer', async (status, body, said) => {
  expect(await askOwnListener(await target({ status, body }), 'token')).toBe(said);
});

it.each([
  [401, '{"error":"unauthorized"}'],
  [404, ''],
  [500, ''],
  [302, ''],
])('%i with %j says neither yes nor no', async (status, body) => {
  await expect(askOwnListener(await target({ status, body }), 'token')).rejects.toMatchObject({
    code: 'listener_answer_unusable',
  });
});

it('shows the token to nobody else who listens there', async () => {
  const other = issueHubCertificate(makeAuthority());
  let received = 0;
  const server = createServer({ cert: other.cert, key: other.key }, (socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      received += bytes.length;
    });
  });
  server.on('tlsClientError', () => undefined);
  const { url, close } = await listen(server);
  closing.push(close);
  const asked = askOwnListener({ address: parseListenAddress(new URL(url).host), leaf, nonce: 'n' }, 'token');
  await expect(asked).rejects.toMatchObject({ code: 'listener_untrusted' });
  expect(received).toBe(0);
});

it('says when it is refused, and when it is cut before and after the handshake', async () => {
  const ask = (url: string) =>
    askOwnListener({ address: parseListenAddress(new URL(url).host), leaf, nonce: 'n' }, 'token');
  const cutAtOnce = createServer({ cert: own.cert, key: own.key }).on('connection', (socket) => socket.destroy());
  const cutLater = createServer({ cert: own.cert, key: own.key }, (socket) => {
    socket.on('error', () => undefined).once('data', () => socket.destroy());
  });
  for (const server of [cutAtOnce, cutLater]) {
    server.on('tlsClientError', () => undefined);
    const { url, close } = await listen(server);
    await expect(ask(url)).rejects.toMatchObject({ code: 'listener_unreachable' });
    await close();
    await expect(ask(url)).rejects.toMatchObject({ code: 'listener_unreachable', details: { cause: 'ECONNREFUSED' } });
  }
});
