import type { ProcessorEventReason } from '../../schemas/resources/integrations.ts';
import type { EventOutcome } from '../store/processor-events.ts';

const NOTHING_MISSING = { missingPrices: [], missingCustomer: null, missingName: null };

export const APPLIED: EventOutcome = { ...NOTHING_MISSING, status: 'applied', reasons: [] };

/**
 * Superseded by another event or a change here. An event that was applied without its items counts as
 * applied: only its items are superseded.
 */
export function outdated({ appliedAt }: { appliedAt: Date | null }): EventOutcome {
  return { ...NOTHING_MISSING, status: appliedAt ? 'applied' : 'ignored', reasons: ['older'] };
}

/** The event waits: it is retried when what is missing is there, and when a user requests it. */
export function unmatched(
  reasons: ProcessorEventReason[],
  missing: Partial<Pick<EventOutcome, 'missingPrices' | 'missingCustomer' | 'missingName'>> = {},
): EventOutcome {
  return { ...NOTHING_MISSING, ...missing, status: 'unmatched', reasons };
}
