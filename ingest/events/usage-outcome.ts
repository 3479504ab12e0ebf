import type { Rejection } from '../../schemas/error-codes.ts';

/** What became of one usage event. */
export interface UsageOutcome extends BatchResult {
  meterId: string;
}

/** An item of the response to a batch. */
export interface BatchResult {
  status: 'created' | 'duplicate' | 'error';
  eventId?: string;
  error?: Rejection;
}
