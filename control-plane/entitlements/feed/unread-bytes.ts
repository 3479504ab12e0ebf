import type { Readable } from 'node:stream';

/** What clients have not taken yet, of all streams together. */
export interface UnreadBytes {
  /** So many were just written. The slowest clients are cut off before there are more than the most. */
  wrote(bytes: number): void;
  /** How many clients were cut off. */
  cutOff(): number;
}

/** Counted again where writes alone would come to too many, as clients read meanwhile. */
export function createUnreadBytes(bodies: () => Iterable<Readable>, bytesMax: number): UnreadBytes {
  /** Those of the last count, and all that was written since: never too few. */
  let most = 0;
  let cutOff = 0;

  function count(): void {
    const slowest = [...bodies()]
      .filter(({ destroyed }) => !destroyed)
      .sort((one, other) => other.readableLength - one.readableLength);
    most = slowest.reduce((sum, { readableLength }) => sum + readableLength, 0);
    // Well below the most: else it is counted again at each of the next writes.
    if (most <= 0.75 * bytesMax) return;
    for (const body of slowest) {
      if (most <= bytesMax / 2) return;
      most -= body.readableLength;
      cutOff += 1;
      body.destroy();
    }
  }

  return {
    wrote(bytes) {
      most += bytes;
      // mutant: unread-bytes-unbounded
      if (most > bytesMax) count();
    },
    cutOff: () => cutOff,
  };
}
