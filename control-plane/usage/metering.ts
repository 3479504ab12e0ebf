import { type Holder, heldNow } from '../../infra/find-holder.ts';
import type { Span } from '../../schemas/rules/calendar.ts';
import { meteredLimit, meteredPeriod } from '../../schemas/rules/metered-period.ts';
import { resolveEntitlements } from '../../schemas/rules/resolve-entitlements.ts';

/** How a customer's meters are to be read: by meter key. */
export interface Metering {
  /** The billing period of the moment asked for. */
  periodOf(meterKey: string): Span;
  /** Of now, as canonical decimal text; undefined where there is none or no end. */
  limitOf(meterKey: string): string | undefined;
}

export function meteringOf(holder: Holder, { atMs, nowMs }: { atMs: number; nowMs: number }): Metering {
  const view = resolveEntitlements(heldNow(holder), nowMs);
  return {
    periodOf: (meterKey) => meteredPeriod(holder.holdings, { meterKey, atMs, nowMs }),
    limitOf: (meterKey) => meteredLimit(view, meterKey),
  };
}
