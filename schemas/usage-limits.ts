/** Limits of the usage endpoints. Clients size their batches by them: none may become lower. */
export const USAGE_LIMITS = {
  bodyBytesMax: 1024 * 1024,
  batchItemsMax: 500,
  /** In other formats: their senders choose the size of a request by its bytes. */
  foreignEventsMax: 10_000,
  idempotencyKeyCharsMax: 255,
  idCharsMax: 128,
  propertiesMax: 32,
  propertyKeyCharsMax: 64,
  propertyValueCharsMax: 256,
  automaticMetersMax: 1000,
} as const;

export const AGGREGATIONS = ['sum', 'count', 'max', 'latest', 'unique'] as const;
export type Aggregation = (typeof AGGREGATIONS)[number];

/** For these it matters which of two events came later: a line of theirs holds its arrival. */
export const ORDERED_AGGREGATIONS: ReadonlySet<Aggregation> = new Set(['latest']);

/** A meter's key must not begin like an id, nor be a path segment that clients remove from paths. */
export const RESERVED_METER_KEY = 'meter_|\\.{1,2}$';
