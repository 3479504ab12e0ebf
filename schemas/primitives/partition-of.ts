/**
 * The partition of an event, by its id: sent again, a key comes to the same one, whichever process takes it.
 * How many there are is fixed with the log. Of the id's 128 bits the last word decides; the key store finds
 * its hashes by the first two bytes.
 */
export function partitionOf(lastIdWord: number, partitions: number): number {
  return lastIdWord % partitions;
}
