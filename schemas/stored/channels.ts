/** Postgres NOTIFY channels. Payloads are small JSON (8,000 bytes at most): wake-ups, never the only copy. */
export const CHANNELS = {
  /** A row that a cache may hold has changed: {@link ChangeNote}. */
  changes: 'metergate_changes',
  /** Credits were granted, burned or have expired: {@link CreditsNote}. */
  credits: 'metergate_credits',
  /** A row of `fanout_jobs` waits. No payload. */
  fanoutRequested: 'metergate_fanout_asked',
  /** A range was loaded: {@link LoadedNote}. */
  loaded: 'metergate_loaded',
  /** A reader waits for what is on the log: load at once. No payload. */
  readerWaits: 'metergate_reader_waits',
  /** A row of `audit_runs` waits. No payload. */
  auditRequested: 'metergate_audit_asked',
  /** An event waits to be told, or a delivery to be sent. No payload. */
  outbox: 'metergate_outbox',
} as const;

/**
 * `customer` is of the row itself, `holdings` of what stands under it: subscriptions, add-ons, overrides. The
 * ingest tier forgets customers at the former and hears nothing of the latter.
 */
export interface ChangeNote {
  kind: 'key' | 'customer' | 'holdings' | 'meter' | 'workspace' | 'catalogue';
  environment: string;
  id: string;
}

/** Of how many customers one note tells at most. */
export const NOTED_CUSTOMERS_MAX = 200;

export interface CreditsNote {
  /** Whose wallets have changed. */
  customerIds: string[];
}

export interface LoadedNote {
  logId: string;
  partition: number;
  /** Everything before this position is counted. */
  hi: number;
  /** Everything acknowledged before this moment is counted, milliseconds. */
  throughMs: number;
}
