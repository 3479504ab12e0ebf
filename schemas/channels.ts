/** Postgres NOTIFY channels. Payloads are small JSON (8,000 bytes at most): wake-ups, never the only copy. */
export const CHANNELS = {
  /** A row that a cache may hold has changed: {@link ChangeNote}. */
  changes: 'metergate_changes',
  /** A range was loaded: {@link LoadedNote}. */
  loaded: 'metergate_loaded',
  /** A reader waits for what is on the log: load at once. No payload. */
  readerWaits: 'metergate_reader_waits',
  /** A row of `audit_runs` waits. No payload. */
  auditAsked: 'metergate_audit_asked',
} as const;

export interface ChangeNote {
  kind: 'key' | 'customer' | 'meter' | 'workspace' | 'catalogue';
  environment: string;
  id: string;
}

export interface LoadedNote {
  logId: string;
  partition: number;
  /** Everything before this position is counted. */
  hi: number;
  /** Everything acknowledged before this moment is counted, milliseconds. */
  throughMs: number;
}
