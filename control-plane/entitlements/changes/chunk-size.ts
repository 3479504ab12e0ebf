/** How many customers one transaction processes, adapted to the time of the previous ones. */
export interface ChunkSize {
  size(): number;
  took(ms: number, customers: number): void;
  failed(): void;
}

/** While a chunk runs, a change of one of its customers waits for it. */
const SLOW_MS = 500;
const QUICK_MS = 250;
/** If fewer customers take as long, the machine is slow: smaller chunks would take longer in all. */
const WORTHWHILE = 50;

/**
 * Customers may have a boolean each, or a million grants: only failures shrink a chunk down to one customer.
 */
export function createChunkSize(max: number): ChunkSize {
  let size = max;
  return {
    size: () => size,
    took(ms, customers) {
      if (ms > SLOW_MS) size = Math.max(Math.min(size, WORTHWHILE), Math.floor(size / 2));
      else if (ms < QUICK_MS && customers >= size) size = Math.min(size * 2, max);
    },
    failed() {
      size = Math.max(Math.floor(size / 4), 1);
    },
  };
}
