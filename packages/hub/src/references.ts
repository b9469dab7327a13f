/** What a scan of configuration repositories says of a shared token (design 5, References). There is no scanner yet, so no root. */
import type { References } from '@rollcall/core/rotation';

export interface ReferenceSource {
  /** The last scan, of one token; `null`: no scan root is configured, so its rotation asks for none. */
  find(secret: string): References | null;
}

export const noScanRoots: ReferenceSource = { find: () => null };
