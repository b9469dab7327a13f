/** Deliveries that are due: computed, not queued, so that a lost response loses nothing (design 4, Hub). */
import { decodeBase64url } from '@rollcall/core/bytes';
import { RollcallError } from '@rollcall/core/errors';
import { deriveHostKeys, deriveSsoSeed, ed25519PublicKey, SecretBytes } from '@rollcall/core/keys';
import { limits } from '@rollcall/core/limits';
import { type Assignment, type Envelope, parseWrapPublicKey, sealDelivery } from '@rollcall/core/seal';
import type { HeartbeatBody } from '@rollcall/wire';
import type { Hub } from '../hub.ts';
import { MASTER, toMasterGeneration } from '../live-generations.ts';
import type { RollEntry } from '../roll.ts';

const NONE: readonly Envelope[] = [];

/** Where the host says that it stands with a secret. */
export type Held = HeartbeatBody['held'][string] | undefined;

/**
 * Sealed to the pin of exactly this host, or nothing (I3). Sealed again at most once a minute. What was proven is due again for
 * a host that says it does not hold it: its disk was restored, or a thief of the master had proven it in its name.
 */
export function dueDeliveries(
  hub: Pick<Hub, 'clock' | 'generations' | 'hubKey' | 'random'>,
  entry: RollEntry,
  held: Held,
): readonly Envelope[] {
  if (entry.pinState === 'unreadable') throw new RollcallError('unavailable', { because: 'pin_unreadable' });
  if (!entry.isAssignmentReadable) throw new RollcallError('unavailable', { because: 'assignment_unreadable' });
  if (entry.status !== 'active' || entry.pinState !== 'pinned') return NONE;
  const wanted = { epoch: entry.wantedEpoch, step: entry.wantedStep };
  if (entry.ackedStep >= entry.wantedStep && isHeld(wanted, held)) return NONE;
  const now = hub.clock.monotonic();
  const ready = entry.envelope;
  if (
    ready !== null &&
    ready.life === entry.life &&
    ready.epoch === entry.wantedEpoch &&
    ready.step === entry.wantedStep &&
    ready.recipient === entry.pinFingerprint &&
    now - ready.sealedAt < limits.resealMs
  ) {
    return [ready.sealed];
  }
  const sealed = sealFor(hub, entry);
  const { life, wantedEpoch: epoch, wantedStep: step, pinFingerprint: recipient } = entry;
  entry.envelope = { life, epoch, step, recipient, sealedAt: now, sealed };
  return [sealed];
}

/** Whether it says so. */
export function isHeld({ epoch, step }: NonNullable<Held>, held: Held): boolean {
  if (held === undefined) return false;
  return held.epoch > epoch || (held.epoch === epoch && held.step >= step);
}

/** For the key that the hub has of exactly this host (I3). */
export function sealToPin(hub: Pick<Hub, 'hubKey' | 'random'>, entry: RollEntry, assignment: Assignment): Envelope {
  const publicBytes = decodeBase64url(entry.pinPublicText);
  if (publicBytes === undefined) throw new RollcallError('unavailable', { because: 'pin_unreadable' });
  return sealDelivery({
    host: entry.id,
    assignment,
    recipient: parseWrapPublicKey({ suite: 'x25519', public: publicBytes }),
    hubKey: hub.hubKey,
    random: hub.random,
  });
}

function sealFor(hub: Pick<Hub, 'generations' | 'hubKey' | 'random'>, entry: RollEntry): Envelope {
  return sealToPin(hub, entry, {
    secret: MASTER,
    epoch: entry.wantedEpoch,
    step: entry.wantedStep,
    accept: entry.wantedAccept.map((version) => ({ version, value: masterValue(hub, entry, version) })),
    present: entry.wantedPresent,
    issuedAt: new Date(entry.issuedAt).toISOString(),
  });
}

/** The host's own derived keys and the public half of the fleet's single sign-on key, never the master. */
function masterValue(hub: Pick<Hub, 'generations'>, entry: RollEntry, version: number) {
  const generation = toMasterGeneration(hub.generations.read(version));
  const keys = deriveHostKeys(generation, entry.id, entry.life);
  return {
    life: entry.life,
    keys: Object.fromEntries(Object.entries(keys).map(([purpose, key]) => [purpose, new SecretBytes('host-key', key)])),
    sso: [ed25519PublicKey(deriveSsoSeed(generation.master))],
  };
}
