export interface AggregatorOptions {
  /**
   * Names this aggregator in the leases. Of two with one name the later takes the partition at once, so it
   * has to be one living process's own: a fixed name where a lock already sees to that, else a random one.
   */
  owner: string;
  /** How long a block is collected under load. */
  lingerMs: number;
  /** The same while a reader waits: below it every read would cost an insert of its own. */
  readerLingerMs: number;
  leaseMs: number;
  /** A block is closed when it has as much. */
  rowsMax: number;
  bytesMax: number;
  /** Ids that the filter keeps per generation; 24 to 32 bytes each, twice. */
  generationMax: number;
  /** How many of the latest events the filter learns at a start, at most. */
  seedMax: number;
  /** How long before the last of them those may have been committed. */
  seedMs: number;
}

export const AGGREGATOR_DEFAULTS: Omit<AggregatorOptions, 'owner'> = {
  lingerMs: 500,
  readerLingerMs: 25,
  leaseMs: 30_000,
  rowsMax: 80_000,
  bytesMax: 28 * 1024 * 1024,
  generationMax: 1_000_000,
  seedMax: 100_000,
  seedMs: Number.POSITIVE_INFINITY,
};

/**
 * Where several share the partitions: each has a filter of its own, and what one left behind when it died
 * waits for its lease. What a filter has forgotten is looked up in the warehouse: everything, where a
 * partition takes more than 25,000 events a second (recent-ids.ts), so that it knows less than ten seconds.
 */
export const DISTRIBUTED_DEFAULTS: Pick<
  AggregatorOptions,
  'leaseMs' | 'generationMax' | 'seedMax' | 'seedMs'
> = {
  leaseMs: 15_000,
  generationMax: 250_000,
  seedMax: 250_000,
  seedMs: 30_000,
};
