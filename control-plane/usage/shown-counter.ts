import { exactNumber } from '../../schemas/primitives/exact-json.ts';
import { timestampText } from '../../schemas/primitives/timestamp.ts';
import type { UsageCounter } from '../../schemas/resources/usage.ts';
import type { MeterRow } from '../store/meters.ts';
import type { Metering } from './metering.ts';

export interface CounterFacts {
  metering: Metering;
  current: string;
  asOfMs: number;
}

/** As responses show it. */
export function shownCounter(
  { customerId, meter }: { customerId: string; meter: MeterRow },
  { metering, current, asOfMs }: CounterFacts,
): UsageCounter {
  const { fromMs, toMs } = metering.periodOf(meter.key);
  const limit = metering.limitOf(meter.key);
  return {
    customerId,
    meterId: meter.key,
    current: exactNumber(current),
    ...(limit === undefined ? {} : { limit: exactNumber(limit) }),
    periodStart: timestampText(fromMs),
    periodEnd: timestampText(toMs),
    ...unitOf(meter),
    asOf: timestampText(asOfMs),
  };
}

export function unitOf({ unit }: MeterRow): { unit?: string } {
  return unit === null ? {} : { unit };
}
