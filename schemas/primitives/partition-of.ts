/**
 * The partition of an event, by its id: a repeated key is in the same partition, whichever process receives
 * it. The number of partitions is fixed when the log is created. The last word of the id's 128 bits decides;
 * the key store finds its hashes by the first two bytes.
 */
export function partitionOf(lastIdWord: number, partitions: number): number {
  return lastIdWord % partitions;
}
