/** A deliberate bug: one place in the built code of the product, replaced as it is loaded. The product knows nothing of it. */
export interface Bug {
  readonly name: string;
  /** What a wrong version would do. */
  readonly says: string;
  /** Below `packages/`, as built. */
  readonly file: string;
  /** Occurs there exactly once, or the bug is stale. */
  readonly from: string;
  /** `BUG()` stands where the behaviour differs: it counts, and is true. */
  readonly to: string;
  /** The rule that is to catch it; another one may be faster. */
  readonly breaks: string;
}
