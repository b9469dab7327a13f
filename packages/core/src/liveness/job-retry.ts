/** What follows a failure of something that a program does by itself, again and again: a pause, and whether it is worth a line. */

import { limits } from '../limits.ts';

export interface JobRetry {
  readonly waitMs: number;
  /** The first few failures in a row are logged, and then one in a while: what lasts shows in the metrics and in readiness. */
  readonly isLogged: boolean;
}

/** After so many failures in a row, at least one. The pause doubles up to a bound that is short: what failed may work again at any moment. */
export function retryJob(failuresInARow: number): JobRetry {
  const failures = failuresInARow >= 1 ? Math.floor(failuresInARow) : 1;
  const doublings = Math.min(failures - 1, MAX_DOUBLINGS);
  return {
    waitMs: Math.min(limits.jobRetryMaxMs, limits.jobRetryFirstMs * 2 ** doublings),
    isLogged: failures <= limits.jobFailuresLogged || failures % limits.jobFailuresPerLog === 0,
  };
}

const MAX_DOUBLINGS = 30;
