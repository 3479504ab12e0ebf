import type { TouchedCustomerMeter } from '../../schemas/stored/frame.ts';

/**
 * Pairs that were touched lately and had something to be settled by. While it is in use each comes up again a
 * minute after it was settled: the net under what changes without a touch, as a limit does by time.
 */
export interface RecentCustomerMeters {
  /** Touched, and settled now. */
  add(pairs: readonly TouchedCustomerMeter[], nowMs: number): void;
  /** Those that are to be settled again, at the moment now. Each is given once. */
  due(nowMs: number): TouchedCustomerMeter[];
}

const AGAIN_AFTER_MS = 60_000;
const IN_USE_MS = 3_600_000;
/** Beyond it those that wait the longest are left to their next touch. */
const PAIRS_MAX = 20_000;
/** Of one batch. */
const DUE_MAX = 200;

interface Recent {
  pair: TouchedCustomerMeter;
  settledAtMs: number;
  touchedAtMs: number;
}

export function createRecentCustomerMeters(): RecentCustomerMeters {
  // In the order of their settling.
  const recent = new Map<string, Recent>();

  function putLast(one: Recent): void {
    const { environment, customerId, meterKey } = one.pair;
    const name = `${environment} ${customerId} ${meterKey}`;
    recent.delete(name);
    recent.set(name, one);
  }

  return {
    add(pairs, nowMs) {
      for (const pair of pairs) putLast({ pair, settledAtMs: nowMs, touchedAtMs: nowMs });
      for (const name of recent.keys()) {
        if (recent.size <= PAIRS_MAX) break;
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
      return due.map(({ pair }) => ({ ...pair, occurredFromMs: nowMs, occurredToMs: nowMs }));
    },
  };
}
