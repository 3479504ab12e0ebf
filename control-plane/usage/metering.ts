import { allowanceOf, type MeteredTerm, meteredPeriod, termAt } from '../../domain/rules/metered-terms.ts';
import type { Span } from '../../schemas/primitives/calendar.ts';

/** How a customer's meters are to be read at a time: by meter key. */
export interface Metering {
  /** The billing period that contains the time. */
  periodOf(meterKey: string): Span;
  /** The limit at that time, as canonical decimal text; undefined if there is none or it is unlimited. */
  limitOf(meterKey: string): string | undefined;
}

/** By the history of its meters. */
export function meteringOf(terms: ReadonlyArray<MeteredTerm & { meterKey: string }>, atMs: number): Metering {
  const of = (meterKey: string) => terms.filter((term) => term.meterKey === meterKey);
  return {
    periodOf: (meterKey) => meteredPeriod(of(meterKey), atMs),
    limitOf(meterKey) {
      const term = termAt(of(meterKey), atMs);
      return (term && allowanceOf(term)) ?? undefined;
    },
  };
}
