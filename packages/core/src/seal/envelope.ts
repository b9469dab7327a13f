/** The envelope of a delivery: what is bound in it, what is signed of it, and its form (design 4). */
import { concatBytes, decodeHex, joinNul, utf8 } from '../bytes.ts';
import { RollcallError } from '../errors.ts';
import { type JsonObject, type JsonValue, readBytes, readInteger, readMember, readObject, readText } from '../json.ts';
import { ED25519_SIGNATURE_BYTES } from '../keys/ed25519.ts';
import { parseHostId, parseSecretName } from '../keys/names.ts';
import { sha256 } from '../keys/sha256.ts';
import { limits } from '../limits.ts';
import { NOTHING } from './assignment.ts';
import { ENC_BYTES } from './dhkem.ts';
import { type HubKeyRecord, parseRecord } from './hub-key.ts';

/** As it travels. */
export interface Envelope extends JsonObject {
  readonly v: 1;
  readonly host: string;
  readonly secret: string;
  readonly epoch: number;
  readonly step: number;
  readonly present: number;
  /** Fingerprint of the wrap key that it is sealed to. */
  readonly recipient: string;
  readonly enc: string;
  readonly ct: string;
  readonly hubKey: HubKeyRecord;
  readonly sig: string;
}

/** What the sealing binds: an envelope opens for exactly this host, secret, version and key. */
export interface DeliveryBinding {
  readonly host: string;
  readonly secret: string;
  readonly epoch: number;
  readonly step: number;
  readonly present: number;
  readonly recipient: string;
}

/** Well-formed, and nothing more: not one of its fields is verified. */
export interface UnverifiedEnvelope extends DeliveryBinding {
  readonly enc: Uint8Array;
  readonly ct: Uint8Array;
  readonly hubKey: JsonValue;
  readonly sig: Uint8Array;
}

export const DELIVERY_INFO: Uint8Array = utf8('rollcall/delivery/v1');

/** host 0 secret 0 epoch 0 step 0 present 0 fingerprint, the last one raw. */
export function deliveryAad(binding: DeliveryBinding): Uint8Array {
  const { host, secret, epoch, step, present } = binding;
  return joinNul(host, secret, epoch, step, present, rawFingerprint(binding.recipient));
}

/** "rollcall/delivery-sig/v1" 0 SHA-256(aad) enc ct. */
export function signedDelivery(aad: Uint8Array, enc: Uint8Array, ct: Uint8Array): Uint8Array {
  return joinNul('rollcall/delivery-sig/v1', concatBytes(sha256(aad), enc, ct));
}

/** Throws the code of the part that is at fault. */
export function parseEnvelope(json: JsonValue): UnverifiedEnvelope {
  const value = readObject(json, 'envelope');
  if (readInteger(readMember(value, 'v'), 'v') !== 1) throw new RollcallError('malformed_json', { what: 'v' });
  const hubKey = readMember(value, 'hubKey');
  parseRecord(hubKey);
  const recipient = readText(readMember(value, 'recipient'), 'recipient', 64);
  rawFingerprint(recipient);
  const secret = parseSecretName(readMember(value, 'secret'));
  return {
    host: parseHostId(readMember(value, 'host')),
    secret,
    epoch: readInteger(readMember(value, 'epoch'), 'epoch'),
    step: readInteger(readMember(value, 'step'), 'step'),
    present: readInteger(readMember(value, 'present'), 'present', secret === 'master' ? 1 : NOTHING),
    recipient,
    enc: readBytes(readMember(value, 'enc'), 'enc', ENC_BYTES),
    ct: readBytes(readMember(value, 'ct'), 'ct', { maxBytes: limits.envelopeMaxBytes }),
    hubKey: hubKey as JsonValue,
    sig: readBytes(readMember(value, 'sig'), 'sig', ED25519_SIGNATURE_BYTES),
  };
}

/** A fingerprint enters what is bound as its 32 bytes (design 11). */
export function rawFingerprint(text: string): Uint8Array {
  const bytes = decodeHex(text);
  if (bytes?.length !== 32) throw new RollcallError('malformed_json', { what: 'fingerprint' });
  return bytes;
}
