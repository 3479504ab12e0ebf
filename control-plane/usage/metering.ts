import { limitWindow } from '../../domain/rules/limit-windows.ts';
import { largestLimit, type MeteredTerm, termAt } from '../../domain/rules/metered-terms.ts';
import type { Span } from '../../schemas/primitives/calendar.ts';

/** How a customer's meters are to be read at a time: by meter key. */
export interface Metering {
  /** What contains the time: the window of the limit, without one the billing period. */
  periodOf(meterKey: string): Span;
  /** The limit at that time, as canonical decimal text; undefined if there is none or it is unlimited. */
  limitOf(meterKey: string): string | undefined;
}

/** By the history of its meters. */
export function meteringOf(terms: ReadonlyArray<MeteredTerm & { meterKey: string }>, atMs: number): Metering {
  const of = (meterKey: string) => terms.filter((term) => term.meterKey === meterKey);
  const limitAt = (meterKey: string) => {
    const term = termAt(of(meterKey), atMs);
    return term && largestLimit(term);
  };
  return {
    periodOf: (meterKey) => limitWindow(of(meterKey), limitAt(meterKey)?.resets ?? 'billing_period', atMs),
    limitOf: (meterKey) => limitAt(meterKey)?.amount,
  };
}
