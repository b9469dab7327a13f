/** One request with a shared token, by a client that tells it to nobody but the peer that it means. */
import { request } from 'node:https';

export interface Verifier {
  readonly name: string;
  /** `https://HOST:PORT/PATH`, any path that only a holder of the token is let into. */
  readonly url: string;
  /** The SPIFFE id that its certificate must have. */
  readonly id: string;
}

export interface PresentAs {
  readonly token: string;
  /** PEM of the fleet's authority. */
  readonly ca: string;
  /** Of this machine, where it is to be another than the system would choose. */
  readonly localAddress?: string;
  readonly userAgent: string;
}

const ANSWER_MS = 10_000;

/** The status. Rejects where nobody answered, or somebody else. */
export function presentToken(
  { url, id }: Verifier,
  { token, ca, localAddress, userAgent }: PresentAs,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request(
      url,
      {
        agent: false,
        ca,
        minVersion: 'TLSv1.3',
        ...(localAddress === undefined ? {} : { localAddress }),
        checkServerIdentity: (_name, { subjectaltname = '' }) =>
          subjectaltname.split(', ').includes(`URI:${id}`) ? undefined : new Error(`that is not ${id}`),
        timeout: ANSWER_MS,
        headers: { 'x-node-token': token, 'user-agent': userAgent },
      },
      (response) => {
        response.resume();
        response.once('end', () => resolve(response.statusCode ?? 0));
        response.once('error', reject);
      },
    );
    asked.once('timeout', () => asked.destroy(new Error('no answer')));
    asked.once('error', reject);
    asked.end();
  });
}
