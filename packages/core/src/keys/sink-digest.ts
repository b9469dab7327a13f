/** The keyed digest by which a host says what the live file of a sink holds, without saying it (design 5, Digests). */
import { joinNul, utf8 } from '../bytes.ts';
import { hkdfExpand } from './hkdf-sha256.ts';
import { hmacSha256, SHA256_BYTES, sha256 } from './sha256.ts';

/**
 * 32 bytes. `heartbeatKey` is the one that the beat is authenticated with. Only this host and the hub can compute it: a recorded
 * report cannot be searched for the token, and two hosts with one token report different digests.
 */
export function sinkDigest(heartbeatKey: Uint8Array, secret: string, trimmed: Uint8Array): Uint8Array {
  const key = hkdfExpand(heartbeatKey, SHA256_BYTES, utf8('rollcall/digest/v1'));
  return hmacSha256(key, joinNul('rollcall/sink-digest/v1', secret, sha256(trimmed)));
}
