/**
 * Which of those who were seen are remembered where there is not room for all (design 5, "those hits are sampled"): of each group its
 * newest, then of each its second, so that one address that comes under many names pushes no other out.
 */

/** In the order in which they came. `groupOf`: of whom it may be one more name. */
export function keepFairly<T>(newestFirst: readonly T[], room: number, groupOf: (seen: T) => string): readonly T[] {
  if (newestFirst.length <= room) return newestFirst;
  const sizes = new Map<string, number>();
  const ranked = newestFirst.map((seen, place) => {
    const group = groupOf(seen);
    const rank = sizes.get(group) ?? 0;
    sizes.set(group, rank + 1);
    return { seen, rank, place };
  });
  return ranked
    .sort((a, b) => a.rank - b.rank || a.place - b.place)
    .slice(0, room)
    .sort((a, b) => a.place - b.place)
    .map(({ seen }) => seen);
}
