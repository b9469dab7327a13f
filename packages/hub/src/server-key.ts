/** The key of the fleet listener: kept across restarts, since hosts know it by the hash of its SPKI. */
import { createHash, type KeyObject } from 'node:crypto';

/** SHA-256 of the SubjectPublicKeyInfo. */
export function hashSpki(publicKey: KeyObject): Uint8Array {
  return Uint8Array.from(
    createHash('sha256')
      .update(publicKey.export({ format: 'der', type: 'spki' }))
      .digest(),
  );
}
