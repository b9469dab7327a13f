/** What a host is to do with each shared token that it holds, and what it was seen to do: a part of its entry in the roll in memory. */
import type { Envelope } from '@rollcall/core/seal';
import type { Vault } from './kek/vault.ts';
import { type AssignmentRecord, findAssignment, listAssignments } from './store/assignments.ts';
import type { Tx } from './store/schema.ts';
import { listTokenNames } from './store/tokens.ts';
import { orUnreadable, type Readable } from './store/trust-row.ts';

export interface TokenEntry {
  readonly secret: string;
  /** `undefined`: the row is there, and this hub did not write it so (I10). */
  readonly wanted: AssignmentRecord | undefined;
  /** When it last sent another version than the one that it had proven to send. */
  presentedOther: { readonly version: number; readonly monotonicMs: number; readonly isLast: boolean } | null;
  envelope: {
    readonly life: number;
    readonly recipient: string;
    readonly sealedAt: number;
    readonly sealed: Envelope;
  } | null;
}

type Standing = readonly (readonly [secret: string, assignment: Readable<AssignmentRecord>])[];

/** Of one host, at the source. */
export async function readTokensOf(tx: Tx, vault: Vault, host: string): Promise<Standing> {
  const standing: [string, Readable<AssignmentRecord>][] = [];
  for (const name of await listTokenNames(tx)) {
    const assignment = await orUnreadable(findAssignment(tx, vault, host, name));
    if (assignment !== undefined) standing.push([name, assignment]);
  }
  return standing;
}

/** Of every host, by its id. */
export async function readTokensOfAll(tx: Tx, vault: Vault): Promise<ReadonlyMap<string, Standing>> {
  const byHost = new Map<string, [string, Readable<AssignmentRecord>][]>();
  for (const name of await listTokenNames(tx)) {
    for (const [host, assignment] of await listAssignments(tx, vault, name)) {
      const ofHost = byHost.get(host);
      if (ofHost === undefined) byHost.set(host, [[name, assignment]]);
      else ofHost.push([name, assignment]);
    }
  }
  return byHost;
}

const NONE: readonly TokenEntry[] = [];

/** What was seen under one step says nothing about the next one. */
export function projectTokens(before: readonly TokenEntry[], standing: Standing | undefined): readonly TokenEntry[] {
  if (standing === undefined || standing.length === 0) return NONE;
  return standing.map(([secret, assignment]) => {
    const wanted = assignment === 'unreadable' ? undefined : assignment;
    const former = before.find((entry) => entry.secret === secret);
    const isSame = wanted !== undefined && former?.wanted?.epoch === wanted.epoch && former.wanted.step === wanted.step;
    return {
      secret,
      wanted,
      presentedOther: isSame ? former.presentedOther : null,
      envelope: isSame ? former.envelope : null,
    };
  });
}
