/** The command line does not fit together: the sentence that says how, and what to write instead. */
import { RollcallError } from '@rollcall/core/errors';

export function usageError(reason: string, hint?: string): RollcallError<'usage'> {
  return new RollcallError('usage', hint === undefined ? { reason } : { reason, hint });
}
