/** What a stolen master lets its thief do over plain HTTPS: beat as any host, and look at what comes back. */
import { decodeBase64url, decodeHex, encodeBase64url, joinNul, utf8 } from '@rollcall/core/bytes';
import { isRollcallError } from '@rollcall/core/errors';
import { deriveHostKey, encodeToken, type SecretBytes } from '@rollcall/core/keys';
import type { Clock, Random } from '@rollcall/core/ports';
import { type Envelope, generateWrapKey, openBase, sealBase } from '@rollcall/core/seal';
import { routes } from '@rollcall/wire';
import type { Answer, BeatReport } from './messages.ts';
import { postJson } from './post-json.ts';

export interface StolenMaster {
  beat(host: string, publish: boolean): Promise<BeatReport>;
  open(envelope: Envelope): Answer<'open'>;
  /** Beats by what came back. */
  counts(): Readonly<Record<string, number>>;
}

/** The life of a host of whom nothing else is known. */
const FIRST_LIFE = 1;

export function createStolenMaster(at: {
  readonly hub: string;
  readonly master: SecretBytes<'master'>;
  readonly random: Random;
  readonly clock: Clock;
}): StolenMaster {
  const { hub, master, random, clock } = at;
  const wrapKey = generateWrapKey(random);
  const instance = encodeBase64url(random(16));
  const recorded = new Map<string, Envelope>();
  const counts = new Map<string, number>();
  let seq = 0;

  return {
    beat: async (host, publish) => {
      seq += 1;
      const bearer = encodeToken('rcb', deriveHostKey(master.reveal(), 'heartbeat', host, FIRST_LIFE));
      const claimed = recorded.get(host);
      const answer = await postJson(`${hub}${routes.heartbeat.path}`, {
        headers: { authorization: `Bearer ${bearer}`, 'x-rollcall-host': host },
        body: {
          instance,
          seq,
          ...(publish ? { wrapKey: { suite: 'x25519', public: encodeBase64url(wrapKey.public.bytes) } } : {}),
          // It says that it holds what it could record: a claim, where only a proof counts (I5).
          held: claimed === undefined ? {} : { master: { epoch: claimed.epoch, step: claimed.step } },
          refused: [],
          agent: { version: '0.1.0' },
          startup: 'fresh',
          sentAt: new Date(clock.now()).toISOString(),
        },
      });
      const result = answer.status === 200 ? 'ok' : answer.status === 401 ? 'refused' : `status_${answer.status}`;
      counts.set(result, (counts.get(result) ?? 0) + 1);
      const report = toReport(answer, publish ? wrapKey.public.fingerprint : null);
      for (const envelope of report.deliveries) recorded.set(host, envelope);
      return report;
    },
    open: (envelope) => ({
      stolen: tryOpen(wrapKey.private, envelope, decodeBase64url(envelope.enc), decodeBase64url(envelope.ct)),
      own: (({ enc, ct }) => tryOpen(wrapKey.private, envelope, enc, ct))(
        sealBase({ ...contextOf(envelope), recipient: wrapKey.public, plaintext: utf8('{}'), random }),
      ),
    }),
    counts: () => Object.fromEntries(counts),
  };
}

function toReport({ status, text }: { status: number; text: string }, published: string | null): BeatReport {
  if (status !== 200) return { status, published, refusal: text, pin: null, deliveries: [] };
  const { pin, deliveries } = JSON.parse(text) as Pick<BeatReport, 'pin' | 'deliveries'>;
  return { status, published, refusal: null, pin, deliveries };
}

/** `opened`, or the code of the refusal. */
function tryOpen(
  privateKey: SecretBytes<'wrap-private'>,
  envelope: Envelope,
  enc: Uint8Array | undefined,
  ct: Uint8Array | undefined,
): string {
  try {
    openBase({ ...contextOf(envelope), privateKey, enc: enc ?? new Uint8Array(), ct: ct ?? new Uint8Array() });
    return 'opened';
  } catch (error) {
    return isRollcallError(error) ? error.code : 'failed';
  }
}

/** All that the sealing binds is written on the envelope: the thief lacks the key, and nothing else (design 4). */
function contextOf({ host, secret, epoch, step, present, recipient }: Envelope): { info: Uint8Array; aad: Uint8Array } {
  const aad = joinNul(host, secret, epoch, step, present, decodeHex(recipient) ?? new Uint8Array());
  return { info: utf8('rollcall/delivery/v1'), aad };
}
