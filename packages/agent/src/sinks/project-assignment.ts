/** What the files of a sink hold: a pure function of the assignment, so that the same one gives the same bytes. */
import { hash } from 'node:crypto';
import { decodeUtf8, utf8 } from '@rollcall/core/bytes';
import { RollcallError } from '@rollcall/core/errors';
import { SecretBytes } from '@rollcall/core/keys';
import type { AcceptedVersion, Assignment } from '@rollcall/core/seal';

export const fileNames = ['present', 'accept', 'current', 'next', 'retiring', 'version'] as const;
export type FileName = (typeof fileNames)[number];
export type SinkContent = ReadonlyMap<FileName, Uint8Array>;

export interface Projection {
  readonly secret: string;
  readonly epoch: number;
  readonly step: number;
  /** The one to present. */
  readonly version: number;
  readonly content: SinkContent;
  readonly digest: string;
}

/**
 * `present` and the slots hold a token and nothing else, not even a newline, since not every program trims; `accept` has
 * one on each line, the one to present first. Throws `sink_value_unusable` for what would not be one line.
 */
export function projectAssignment({ secret, epoch, step, accept, present }: Assignment): Projection {
  const own = accept.find(({ version }) => version === present);
  if (own === undefined) throw new TypeError('sinks: the version to present is not accepted');
  const other = accept.find(({ version }) => version !== present);
  const token = tokenOf(own);
  const content = new Map<FileName, Uint8Array>([
    ['present', utf8(token)],
    ['accept', utf8([own, ...(other === undefined ? [] : [other])].map((one) => `${tokenOf(one)}\n`).join(''))],
    ['current', utf8(token)],
    ['version', utf8(String(present))],
  ]);
  if (other !== undefined) content.set(other.version > present ? 'next' : 'retiring', utf8(tokenOf(other)));
  return { secret, epoch, step, version: present, content, digest: contentDigest(content) };
}

/** Of names and bytes alike. For this host alone: it lies beside the tokens themselves, in the state directory. */
export function contentDigest(content: SinkContent): string {
  const parts = [...content]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, bytes]) => `${name} ${hash('sha256', bytes, 'hex')}\n`);
  return hash('sha256', parts.join(''), 'hex');
}

function tokenOf({ value }: AcceptedVersion): string {
  const text = value instanceof SecretBytes ? decodeUtf8(value.reveal()) : undefined;
  // A line break in it would be one more accepted token.
  if (text === undefined || !/^[\x21-\x7e]+$/.test(text)) throw new RollcallError('sink_value_unusable');
  return text;
}
