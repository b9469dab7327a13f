/** The deliberate bugs. Each is something that a plausible version of this product would do. */
import type { Bug } from './bug.ts';
import { upToProof } from './i01-to-i05.ts';
import { fromCounting } from './i06-and-on.ts';
import { ofTokens } from './of-tokens.ts';

export const bugs: readonly Bug[] = [...upToProof, ...fromCounting, ...ofTokens];
