/** Gives the refusals of a parser's parts the code of the whole. */
import { type ErrorCode, RollcallError } from './errors.ts';

/** Runs `parse`. What it refuses is refused as `code`; the part that was at fault stays in `details.what` and `cause`. */
export function refusedAs<T>(code: ErrorCode, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    // Refused by that name already, it says more than the name.
    if (!(error instanceof RollcallError) || error.code === code) throw error;
    const what = error.details['what'] ?? error.code;
    throw new RollcallError(code, { what }, { cause: error });
  }
}
