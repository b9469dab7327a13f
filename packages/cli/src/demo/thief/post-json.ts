/** One HTTPS request of a client that trusts whoever answers, on a connection of its own. */
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';

const ANSWER_MS = 5_000;

export function postJson(
  url: string,
  { headers, body }: { readonly headers: Readonly<Record<string, string>>; readonly body: object },
): Promise<{ readonly status: number; readonly text: string }> {
  const text = JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      url,
      {
        method: 'POST',
        agent: false,
        rejectUnauthorized: false,
        timeout: ANSWER_MS,
        headers: { ...headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) },
      },
      (response) => {
        readText(response).then((answer) => resolve({ status: response.statusCode ?? 0, text: answer }), reject);
      },
    );
    request.once('timeout', () => request.destroy(new Error('no answer')));
    request.once('error', reject);
    request.end(text);
  });
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
