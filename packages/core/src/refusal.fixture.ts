/** The code that a call is refused with, so that a table of refusals reads as one. */
import { RollcallError } from './errors.ts';

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

/** Which part the refusal of `act` says was at fault; `undefined` when it names none, or nothing was refused. */
export function faultOf(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error instanceof RollcallError ? error.details['what'] : undefined;
  }
  return undefined;
}
