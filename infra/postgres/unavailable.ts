import { DatabaseError } from 'pg';
import { Transient } from '../../schemas/failures.ts';

/** SQLSTATEs by which a server reports that it cannot serve now. Source: PostgreSQL manual, appendix A. */
const AWAY_STATES = new Set([
  '53300', // too_many_connections
  '53100', // disk_full
  '57014', // query_canceled: the statement timeout
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '57P05', // idle_session_timeout
  '25006', // read_only_sql_transaction: we talk to a replica in the middle of a fail-over
  '25P03', // idle_in_transaction_session_timeout
]);
const CONNECTION_CLASS = '08';

/** SQLSTATEs of a timeout: the server may be at fault, or the statement. */
const TIMEOUT_STATES = new Set([
  '57014', // query_canceled: the statement timeout
  '25P03', // idle_in_transaction_session_timeout
  '55P03', // lock_not_available: the lock timeout
]);

const AWAY_SYSTEM_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPIPE',
  'ETIMEDOUT',
]);

/**
 * True when an error of a store call means that Postgres is unavailable or hangs, and the statement was
 * right.
 */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseError) {
    const state = error.code ?? '';
    return AWAY_STATES.has(state) || state.startsWith(CONNECTION_CLASS);
  }
  if (!(error instanceof Error)) return false;
  if ('code' in error) return AWAY_SYSTEM_CODES.has(String(error.code));
  // pg reports lost connections and its own timeouts by bare Errors without any code, and nothing else that a
  // running program meets. Ours all carry a code; mistakes in code are TypeErrors and the like.
  return error.constructor === Error;
}

/** True when a store call took too long by its own limits; of another row it may not. */
export function isTimeout(error: unknown): boolean {
  return error instanceof DatabaseError && TIMEOUT_STATES.has(error.code ?? '');
}

/** What to throw for an error of a store call: Transient `database_unavailable`, or the error itself. */
export function asTransient(error: unknown): unknown {
  if (!isUnavailable(error)) return error;
  return new Transient('database_unavailable', 'Postgres is unavailable.', { cause: error });
}

/** For `.catch` of a store call: throws what {@link asTransient} makes of it. */
export function throwTransient(error: unknown): never {
  throw asTransient(error);
}
