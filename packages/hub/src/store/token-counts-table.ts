/** The table of counts, as migrations 004 and 008 left it; `schema.ts` has the others. */

export interface TokenCountsTable {
  secret: string;
  member: string;
  version: number;
  counter: string;
  count: number;
  flat_since: number;
  reported_at: number;
  hits: number;
  mac: Uint8Array;
}
