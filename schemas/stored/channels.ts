/** Postgres NOTIFY channels. Payloads are small JSON (8,000 bytes at most): wake-ups, never the only copy. */
export const CHANNELS = {
  /** A row that a process may have cached was changed: {@link Invalidation}. */
  changes: 'metergate_changes',
  /** Credits were granted, were burned or have expired: {@link CreditsInvalidation}. */
  credits: 'metergate_credits',
  /** A change of usage began, or has another state: {@link UsageChangesInvalidation}. */
  usageChanges: 'metergate_usage_changes',
  /** There is a new row in `fanout_jobs`. No payload. */
  fanoutRequested: 'metergate_fanout_asked',
  /** There is a new row in `simulations`. No payload. */
  simulationRequested: 'metergate_simulation_requested',
  /** A range was loaded: {@link LoadedThrough}. */
  loaded: 'metergate_loaded',
  /** A reader waits for events on the log: the aggregator loads at once. No payload. */
  readerWaits: 'metergate_reader_waits',
  /** There is a new row in `audit_runs`. No payload. */
  auditRequested: 'metergate_audit_asked',
  /** There is a new webhook event, or a delivery is due. No payload. */
  outbox: 'metergate_outbox',
} as const;

/**
 * Invalidates a cached row. `customer` is the row of the customer, `holdings` are its subscriptions, add-ons
 * and overrides: the data plane caches only the former.
 */
export interface Invalidation {
  kind: 'key' | 'customer' | 'holdings' | 'meter' | 'workspace' | 'catalogue';
  environment: string;
  id: string;
}

/** Customers in one notification. */
export const NOTIFIED_CUSTOMERS_MAX = 200;

export interface CreditsInvalidation {
  /** The customers whose wallets have changed. */
  customerIds: string[];
}

/** Invalidates what a process knows of the environment's changes of usage (domain/store/usage-views.ts). */
export interface UsageChangesInvalidation {
  environment: string;
}

export interface LoadedThrough {
  logId: string;
  partition: number;
  /** All events before this position are counted. */
  hi: number;
  /** All events acknowledged before this time are counted, milliseconds since 1970. */
  throughMs: number;
}
