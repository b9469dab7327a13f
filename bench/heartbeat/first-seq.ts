/** Ten digits from the start, so that the length of a body never changes. */
export const FIRST_SEQ = 1_000_000_000;
