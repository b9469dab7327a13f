/** The hub's side of a delivery: seal an assignment to a pinned wrap key, and sign what came out. */
import { encodeBase64url, utf8 } from '../bytes.ts';
import { canonicalJson } from '../json.ts';
import { parseHostId } from '../keys/names.ts';
import { type Assignment, encodeAssignment } from './assignment.ts';
import { DELIVERY_INFO, type DeliveryBinding, deliveryAad, type Envelope, signedDelivery } from './envelope.ts';
import { sealBase } from './hpke.ts';
import { HubKey } from './hub-key.ts';
import { WrapPublicKey } from './wrap-key.ts';

export interface SealDeliveryInput {
  readonly host: string;
  readonly assignment: Assignment;
  /** The pin of exactly this host (I3). */
  readonly recipient: WrapPublicKey;
  readonly hubKey: HubKey;
  readonly random: (n: number) => Uint8Array;
}

export function sealDelivery({ host, assignment, recipient, hubKey, random }: SealDeliveryInput): Envelope {
  // The types say so too. A caller without types must not get a secret sealed to a signing key, or signed by a wrap key.
  if (!(recipient instanceof WrapPublicKey)) throw new TypeError('sealDelivery: recipient must be a wrap key');
  if (!(hubKey instanceof HubKey)) throw new TypeError('sealDelivery: hubKey must be a hub key');
  const { secret, epoch, step, present } = assignment;
  const binding: DeliveryBinding = {
    host: parseHostId(host),
    secret,
    epoch,
    step,
    present,
    recipient: recipient.fingerprint,
  };
  const aad = deliveryAad(binding);
  const plaintext = utf8(canonicalJson(encodeAssignment(assignment)));
  const { enc, ct } = sealBase({ recipient, info: DELIVERY_INFO, aad, plaintext, random });
  return {
    v: 1,
    ...binding,
    enc: encodeBase64url(enc),
    ct: encodeBase64url(ct),
    hubKey: hubKey.record,
    sig: encodeBase64url(hubKey.sign(signedDelivery(aad, enc, ct))),
  };
}
