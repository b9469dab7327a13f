/**
 * The bytes of one slot of the state on disk (design 4): a SHA-256 in hex, a newline, and canonical JSON of format
 * number, counter and the whole state. What is torn or altered does not fit its digest.
 */
import { hash } from 'node:crypto';
import { decodeUtf8, utf8 } from '@rollcall/core/bytes';
import { isRollcallError, RollcallError } from '@rollcall/core/errors';
import { canonicalJson, type JsonValue, parseJson, readInteger, readMember, readObject } from '@rollcall/core/json';

const STATE_FORMAT = 1;

export interface Slot {
  /** Rises with every write; the higher one is in force. */
  readonly counter: number;
  readonly state: JsonValue;
}

const DIGEST_CHARACTERS = 64;

export function encodeSlot({ counter, state }: Slot): Uint8Array {
  const body = `${canonicalJson({ format: STATE_FORMAT, counter, state })}\n`;
  return utf8(`${hash('sha256', body, 'hex')}\n${body}`);
}

/**
 * The slot, or `state_torn` when the bytes are not whole. A slot that is whole but of a later format is `state_too_new`:
 * falling back from it to an older slot would take the host back.
 */
export function parseSlot(bytes: Uint8Array): Slot {
  const digest = decodeUtf8(bytes.subarray(0, DIGEST_CHARACTERS));
  const body = bytes.subarray(DIGEST_CHARACTERS + 1);
  if (bytes[DIGEST_CHARACTERS] !== 0x0a || digest !== hash('sha256', body, 'hex'))
    throw new RollcallError('state_torn');
  try {
    const content = readObject(parseJson(body), 'slot');
    const format = readInteger(readMember(content, 'format'), 'format');
    if (format !== STATE_FORMAT) throw new RollcallError('state_too_new', { format, known: STATE_FORMAT });
    const counter = readInteger(readMember(content, 'counter'), 'counter');
    return { counter, state: readObject(readMember(content, 'state'), 'state') };
  } catch (error) {
    throw isRollcallError(error, 'malformed_json') ? new RollcallError('state_torn', error.details) : error;
  }
}
