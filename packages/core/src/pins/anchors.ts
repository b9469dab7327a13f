/** What a pin may receive, by what it was trusted on (design 3, first use). */

import type { Anchor } from './pin.ts';

interface AnchorRow {
  /** The master itself, under `payload: master`. */
  readonly master: boolean;
  readonly certificate: boolean;
}

/** A first-use pin may be a thief's: it gets the host's own derived keys, which the thief of the master has anyway. */
const anchors: Readonly<Record<Anchor, AnchorRow>> = {
  enrolment: { master: true, certificate: true },
  operator: { master: true, certificate: true },
  'first-use': { master: false, certificate: false },
};

/** Whether a pin on this anchor may be sent the master itself. Every pin may be sent the host's own keys. */
export function mayReceiveMaster(anchor: Anchor): boolean {
  return anchors[anchor].master;
}

/** Whether a proof by a pin on this anchor may obtain a certificate. */
export function mayReceiveCertificate(anchor: Anchor): boolean {
  return anchors[anchor].certificate;
}
