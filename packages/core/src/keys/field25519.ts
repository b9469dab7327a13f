/** The field that X25519 and Ed25519 share: integers modulo p = 2^255 - 19, written as 32 bytes, lowest first. */

/** Whether the low 255 bits are below p. From p on, one element would have two texts, and so two fingerprints. */
export function isBelowPrime(bytes: Uint8Array): boolean {
  if (((bytes[31] as number) & 0x7f) !== 0x7f) return true;
  for (let at = 30; at > 0; at -= 1) {
    if (bytes[at] !== 0xff) return true;
  }
  return (bytes[0] as number) < 0xed;
}
