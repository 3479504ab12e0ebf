import type { ToSettle } from './touched-customer-meters.ts';

/**
 * Customer meters that were touched recently and have something to settle. Each is due again one minute after
 * its settlement while it is in use. This catches what changes without new usage, for example a limit that
 * changes with time.
 */
export interface RecentCustomerMeters {
  /** Touched, and settled now. */
  add(customerMeters: readonly ToSettle[], nowMs: number): void;
  /** Those to settle again at `nowMs`. Returns each once. */
  due(nowMs: number): ToSettle[];
}

const AGAIN_AFTER_MS = 60_000;
const IN_USE_MS = 3_600_000;
/** Beyond it, those that wait the longest are dropped until their next usage. */
const CUSTOMER_METERS_MAX = 20_000;
/** Of one batch. */
const DUE_MAX = 200;

interface Recent {
  customerMeter: ToSettle;
  settledAtMs: number;
  touchedAtMs: number;
}

export function createRecentCustomerMeters(): RecentCustomerMeters {
  // In the order of their settling.
  const recent = new Map<string, Recent>();

  function putLast(one: Recent): void {
    const { environment, customerId, meterKey } = one.customerMeter;
    const name = `${environment} ${customerId} ${meterKey}`;
    recent.delete(name);
    recent.set(name, one);
  }

  return {
    add(customerMeters, nowMs) {
      for (const customerMeter of customerMeters)
        putLast({ customerMeter, settledAtMs: nowMs, touchedAtMs: nowMs });
      for (const name of recent.keys()) {
        if (recent.size <= CUSTOMER_METERS_MAX) break;
        recent.delete(name);
      }
    },
    due(nowMs) {
      const due: Recent[] = [];
      for (const [name, one] of recent) {
        if (one.settledAtMs > nowMs - AGAIN_AFTER_MS || due.length === DUE_MAX) break;
        if (one.touchedAtMs > nowMs - IN_USE_MS) due.push({ ...one, settledAtMs: nowMs });
        else recent.delete(name);
      }
      due.forEach(putLast);
      return due.map(({ customerMeter }) => ({
        ...customerMeter,
        occurredFromMs: nowMs,
        occurredToMs: nowMs,
        rearms: undefined,
      }));
    },
  };
}
