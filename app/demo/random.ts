/** Gives the next of a row of numbers, 0 ≤ x < 1, that is the same for the same seed (mulberry32). */
export type Random = () => number;

export function createRandom(seed: string): Random {
  let state = hashOf(seed);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash;
}

/** Picks one of the choices, each as likely as its share of all weights. */
export type Pick<T> = (random: Random) => T;

export function createPick<T>(choices: ReadonlyArray<readonly [choice: T, weight: number]>): Pick<T> {
  let total = 0;
  const ends = choices.map(([choice, weight]) => {
    total += weight;
    return { choice, end: total };
  });
  return (random) => {
    const at = random() * total;
    let [low, high] = [0, ends.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (at < (ends[middle]?.end ?? 0)) high = middle;
      else low = middle + 1;
    }
    const picked = ends[low];
    if (picked === undefined) throw new RangeError('there is nothing to pick from');
    return picked.choice;
  };
}
