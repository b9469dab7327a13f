/** The tables of migration 006, as `schema.ts` has those before it. */

/** A token of one host: presented alone it proves which host it is. */
export interface HostTokensTable {
  host: string;
  id: string;
  life: number;
  digest: Uint8Array;
  issued_at: number;
  seen_at: number | null;
  live: number;
  mac: Uint8Array;
}

export interface RungRulesTable {
  /** A host id, or the empty text for the fleet. */
  scope: string;
  rung: string;
  accepted: number;
  reason: string;
  since: number | null;
  mac: Uint8Array;
}
