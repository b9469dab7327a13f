/** Randomness from the operating system. */
import { randomBytes } from 'node:crypto';
import type { Random } from '@rollcall/core/ports';

export const systemRandom: Random = (n) => Uint8Array.from(randomBytes(n));
