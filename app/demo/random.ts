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

/** One of the choices, each as likely as its share of all weights. */
export function pick<T>(choices: ReadonlyArray<readonly [choice: T, weight: number]>, random: Random): T {
  const total = choices.reduce((sum, [, weight]) => sum + weight, 0);
  let rest = random() * total;
  for (const [choice, weight] of choices) {
    rest -= weight;
    if (rest < 0) return choice;
  }
  const last = choices.at(-1);
  if (last === undefined) throw new RangeError('nothing to pick from');
  return last[0];
}
