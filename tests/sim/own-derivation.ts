/** The derivation of design 3, written once more: what is checked must not be computed by what is checked. */
import { createHash, createHmac } from 'node:crypto';

/** The key of a host for its heartbeats: one block of HKDF-Expand, so one HMAC. */
export function ownHeartbeatKey(master: Uint8Array, host: string, life: number): Uint8Array {
  const info = ['rollcall/derive/v1', 'heartbeat', host, String(life)].join('\0');
  return new Uint8Array(createHmac('sha256', master).update(`${info}\x01`, 'latin1').digest());
}

export function ownBearer(key: Uint8Array): string {
  const sum = createHash('sha256').update('rcb_').update(key).digest().subarray(0, 4);
  return `rcb_${Buffer.concat([key, sum]).toString('base64url')}`;
}
