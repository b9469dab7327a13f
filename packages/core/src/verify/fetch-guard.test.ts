import { describe, expect, test } from 'vitest';
import { fetchGuard } from './fetch-guard.ts';
import { current, refusedHeaders, retiring, widenedVerifier } from './guard.fixture.ts';
import type { TokenVerifier } from './token.ts';

const URL_OF_HOST = 'http://test/v1/host';

function ask(url: string, headers: readonly string[] = []): Request {
  const made = new Headers();
  for (let at = 0; at < headers.length; at += 2) made.append(headers[at] as string, headers[at + 1] as string);
  return new Request(url, { headers: made });
}

const guarded = () => fetchGuard(widenedVerifier(), (_request, verified) => Response.json(verified ?? 'nobody'));

describe('in front of a server of Request and Response', () => {
  test('hands on which version was verified, and what the server passed along', async () => {
    const verifier = widenedVerifier();
    const serve = fetchGuard(verifier, (request, verified, env: { readonly name: string }) =>
      Response.json({ path: new URL(request.url).pathname, verified, env }),
    );
    const answer = await serve(ask(URL_OF_HOST, ['X-Node-Token', ` ${retiring} `]), { name: 'worker' });
    expect(await answer.json()).toEqual({
      path: '/v1/host',
      verified: { version: 3, role: 'retiring' },
      env: { name: 'worker' },
    });
    expect(verifier.hits()).toEqual({ current: 0, next: 0, retiring: 1 });
  });

  test.each(refusedHeaders)('refuses %s with the one answer', async (_, headers) => {
    const refused = await guarded()(ask(URL_OF_HOST, headers));
    expect(refused.status).toBe(401);
    expect(refused.headers.get('content-type')).toBe('application/json');
    expect(await refused.text()).toBe('{"error":"node token invalid"}');
    expect((await guarded()(ask(URL_OF_HOST, ['X-Node-Token', current]))).status).toBe(200);
  });

  test('leaves the open paths open, exactly', async () => {
    expect(await (await guarded()(ask('http://test/healthz?full'))).json()).toBe('nobody');
    expect(await (await guarded()(ask('http://test/v1/../readyz'))).json()).toBe('nobody');
    for (const path of ['/healthz/', '//healthz', '/HEALTHZ', '/%68ealthz', '/v1/host?/healthz']) {
      expect((await guarded()(ask(`http://test${path}`))).status).toBe(401);
    }
  });

  test('a fault of the verifier is no refusal, and lets nobody in', async () => {
    const broken: TokenVerifier = {
      ...widenedVerifier(),
      verify: () => {
        throw new TypeError('broken');
      },
    };
    let passed = false;
    const serve = fetchGuard(broken, () => {
      passed = true;
      return new Response();
    });
    await expect(serve(ask(URL_OF_HOST, ['X-Node-Token', current]))).rejects.toThrow('broken');
    expect(passed).toBe(false);
  });

  test('a fault of the handler stays one', async () => {
    const serve = fetchGuard(widenedVerifier(), () => Promise.reject(new TypeError('broken')));
    await expect(serve(ask(URL_OF_HOST, ['X-Node-Token', current]))).rejects.toThrow('broken');
  });
});
