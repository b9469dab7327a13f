/** The code that a call is refused with, so that a table of refusals reads as one. */
import { type ErrorDetails, RollcallError } from './errors.ts';

/** The code of the `RollcallError` that `act` throws, or what happened instead. */
export function refusalOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof RollcallError) return error.code;
    return error instanceof TypeError || error instanceof RangeError ? error.constructor.name : `unexpected: ${error}`;
  }
  return 'accepted';
}

/** What the refusal of `act` says beside its code; `undefined` when nothing was refused. */
export function detailsOf(act: () => unknown): ErrorDetails | undefined {
  try {
    act();
  } catch (error) {
    if (error instanceof RollcallError) return error.details;
  }
  return undefined;
}

/** Which part the refusal of `act` says was at fault; `undefined` when it names none, or nothing was refused. */
export function faultOf(act: () => unknown): unknown {
  return detailsOf(act)?.['what'];
}
