/** What each act of a host takes at least: the table of design 3, in this one place. Whoever performs an act asks here. */
import { heightOf, type Rung } from './rung.ts';

/** What proves more than any rung does, for one act: each is judged by itself, and stands in no order. */
export type Proof = 'enrolment' | 'continuity' | 'pinned-key' | 'operator';

/** The strongest thing that came with an act and was *verified*. */
export type Credential = Rung | Proof;

interface ActRow {
  /** `null`: no rung is enough, however high (I2). */
  readonly least: Rung | null;
  readonly proofs: readonly Proof[];
}

// biome-ignore format: a table
export type Act =
  /** To be answered at all. */
  | 'heartbeat' | 'ask-who-i-am'
  /** Liveness, lease, instance, capacity, reports: of a host that nothing better was ever seen of in its present life. */
  | 'describe-unproven-host'
  | 'describe-host'
  /** Only the pinned key opens one. */
  | 'receive-deliveries'
  /** What a host shows is noted, and is the pin already or waits for a person. */
  | 'publish-key'
  /** By a rung: where first use was accepted for this host and this key. */
  | 'create-first-pin'
  | 'replace-pin'
  | 'obtain-certificate'
  | 'enrol';

// biome-ignore format: a table
export const acts: Readonly<Record<Act, ActRow>> = {
  'heartbeat':              { least: 'fleet-token', proofs: [] },
  'ask-who-i-am':           { least: 'fleet-token', proofs: [] },
  'describe-unproven-host': { least: 'fleet-token', proofs: [] },
  'describe-host':          { least: 'host-token',  proofs: [] },
  'receive-deliveries':     { least: 'host-token',  proofs: ['enrolment'] },
  'publish-key':            { least: 'host-token',  proofs: ['enrolment', 'continuity'] },
  'create-first-pin':       { least: 'host-token',  proofs: ['enrolment', 'operator'] },
  'replace-pin':            { least: null,          proofs: ['enrolment', 'continuity', 'operator'] },
  'obtain-certificate':     { least: null,          proofs: ['enrolment', 'pinned-key'] },
  'enrol':                  { least: null,          proofs: ['enrolment'] },
};

/** Whether this is enough for the act. Whether the rung is accepted at all is another question: `decideRung`. */
export function isEnoughFor(act: Act, credential: Credential): boolean {
  const { least, proofs } = acts[act];
  if (isProof(credential)) return proofs.includes(credential);
  return least !== null && heightOf(credential) >= heightOf(least);
}

function isProof(credential: Credential): credential is Proof {
  return heightOf(credential as Rung) === -1;
}
