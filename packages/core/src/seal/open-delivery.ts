/** The host's side of a delivery: seven checks, in the order of design 4, each with a code of its own. */
import { RollcallError } from '../errors.ts';
import { type JsonValue, parseJson } from '../json.ts';
import { verifyEd25519 } from '../keys/ed25519.ts';
import { refusedAs } from '../refused-as.ts';
import { type Assignment, parseAssignment } from './assignment.ts';
import { DELIVERY_INFO, deliveryAad, parseEnvelope, signedDelivery, type UnverifiedEnvelope } from './envelope.ts';
import { openBase } from './hpke.ts';
import { verifyHubKeyRecord } from './hub-key.ts';
import type { WrapKeyPair } from './wrap-key.ts';

/** What this host knows by itself. Nothing of it comes from the envelope. */
export interface DeliveryContext {
  readonly host: string;
  /** One, or two while one is being rotated. */
  readonly wrapKeys: readonly WrapKeyPair[];
  /** Where this host stands with a secret; `undefined` when it holds nothing of it. */
  readonly held: (secret: string) => { readonly epoch: number; readonly step: number } | undefined;
  /** Public hub root, pinned. */
  readonly hubRoot: Uint8Array;
  /** Of all hub keys that this host has been shown. */
  readonly highestSerial: number;
}

export type OpenedDelivery =
  | {
      readonly kind: 'new';
      readonly assignment: Assignment;
      /** To be kept with the assignment, as the highest serial that is known. */
      readonly hubKeySerial: number;
      /** Fingerprint of the wrap key that it was sealed to. */
      readonly recipient: string;
    }
  /** A repetition of what is held already. Unverified, since nothing follows from it. */
  | { readonly kind: 'held' };

export function openDelivery(json: JsonValue, context: DeliveryContext): OpenedDelivery {
  const envelope = refusedAs('delivery_malformed', () => parseEnvelope(json));
  if (envelope.host !== context.host) throw new RollcallError('delivery_other_host');
  const wrapKey = context.wrapKeys.find((key) => key.public.fingerprint === envelope.recipient);
  if (wrapKey === undefined) throw new RollcallError('delivery_unknown_recipient');
  if (isHeld(envelope, context)) return { kind: 'held' };
  const aad = deliveryAad({
    host: context.host,
    secret: envelope.secret,
    epoch: envelope.epoch,
    step: envelope.step,
    present: envelope.present,
    recipient: wrapKey.public.fingerprint,
  });
  const hubKeySerial = verifySignature(envelope, aad, context);
  const assignment = readPayload(openPayload(envelope, aad, wrapKey), envelope);
  return { kind: 'new', assignment, hubKeySerial, recipient: wrapKey.public.fingerprint };
}

/** Whether exactly this step is held; throws `delivery_replayed` for an earlier one (I4). */
function isHeld({ secret, epoch, step }: UnverifiedEnvelope, context: DeliveryContext): boolean {
  const held = context.held(secret);
  if (held === undefined) return false;
  const ahead = epoch - held.epoch || step - held.step;
  if (ahead < 0) throw new RollcallError('delivery_replayed');
  return ahead === 0;
}

function verifySignature(
  { enc, ct, sig, hubKey }: UnverifiedEnvelope,
  aad: Uint8Array,
  context: DeliveryContext,
): number {
  const verified = refusedAs('delivery_unknown_hub_key', () =>
    verifyHubKeyRecord(hubKey, context.hubRoot, context.highestSerial),
  );
  refusedAs('delivery_bad_signature', () => verifyEd25519(verified.public, signedDelivery(aad, enc, ct), sig));
  return verified.serial;
}

function openPayload({ enc, ct }: UnverifiedEnvelope, aad: Uint8Array, wrapKey: WrapKeyPair): Uint8Array {
  return refusedAs('delivery_unopenable', () =>
    openBase({ privateKey: wrapKey.private, enc, info: DELIVERY_INFO, aad, ct }),
  );
}

function readPayload(plaintext: Uint8Array, envelope: UnverifiedEnvelope): Assignment {
  return refusedAs('delivery_contradicts', () => {
    const assignment = parseAssignment(parseJson(plaintext));
    for (const name of ['secret', 'epoch', 'step', 'present'] as const) {
      if (assignment[name] !== envelope[name]) throw new RollcallError('delivery_contradicts', { what: name });
    }
    return assignment;
  });
}
