/** All chance of a run, out of one seed. */
import type { Random } from '@rollcall/core/ports';

export interface Dice {
  /** In [0, 1). */
  next(): number;
  chance(probability: number): boolean;
  /** A whole number in [0, n). */
  below(n: number): number;
  /** A whole number in [low, high]. */
  between(low: number, high: number): number;
  pick<T>(list: readonly T[]): T;
  /** By weight; `undefined` when nothing has any. */
  weigh<T>(list: readonly T[], weight: (item: T) => number): T | undefined;
  /** As the port. */
  readonly bytes: Random;
}

/** sfc32, seeded from a text: the same text, the same run. */
export function createDice(seed: string): Dice {
  let [a, b, c, counter] = [...spread(seed), 1] as [number, number, number, number];
  const draw = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return sum >>> 0;
  };
  for (let turn = 0; turn < 15; turn += 1) draw();
  const next = () => draw() / 2 ** 32;
  const below = (n: number) => Math.floor(next() * n);
  return {
    next,
    chance: (probability) => next() < probability,
    below,
    between: (low, high) => low + below(high - low + 1),
    pick: (list) => {
      if (list.length === 0) throw new TypeError('dice: nothing to pick from');
      return list[below(list.length)] as (typeof list)[number];
    },
    weigh: (list, weight) => {
      const weights = list.map(weight);
      let at = next() * weights.reduce((sum, each) => sum + each, 0);
      for (const [index, each] of weights.entries()) {
        at -= each;
        if (each > 0 && at < 0) return list[index];
      }
      return undefined;
    },
    bytes: (n) => {
      const bytes = new Uint8Array(n);
      for (let at = 0; at < n; at += 4) {
        const word = draw();
        for (let part = 0; part < 4 && at + part < n; part += 1) bytes[at + part] = word >>> (8 * part);
      }
      return bytes;
    },
  };
}

/** Three words out of a text (FNV-1a with three offsets). */
function spread(text: string): readonly number[] {
  return [0x811c9dc5, 0x9e3779b9, 0x85ebca6b].map((offset) => {
    let word = offset;
    for (let at = 0; at < text.length; at += 1) word = Math.imul(word ^ text.charCodeAt(at), 0x01000193);
    return word | 0;
  });
}
