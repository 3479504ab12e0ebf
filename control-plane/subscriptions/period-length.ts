import type { PeriodLength } from '../../domain/rules/billing-period.ts';
import { Rejected } from '../../schemas/failures.ts';
import { INTERVAL_COUNT_MAX } from '../../schemas/resources/subscriptions.ts';
import type { Interval } from '../../schemas/value-sets.ts';

/** The length in a request body. */
export interface GivenLength {
  interval?: Interval;
  intervalCount?: number;
}

const DEFAULT: PeriodLength = { interval: 'month', intervalCount: 1 };

/** For a new subscription. Throws Rejected. */
export function firstLength({ interval = DEFAULT.interval, intervalCount = 1 }: GivenLength): PeriodLength {
  return requireCount({ interval, intervalCount });
}

/** Undefined if it stays the same. Another interval begins with the count 1. Throws Rejected. */
export function otherLength(now: PeriodLength, given: GivenLength): PeriodLength | undefined {
  if (given.interval === undefined && given.intervalCount === undefined) return undefined;
  // A subscription of an earlier release shows no interval.
  const shown = now.legacyIntervalMs === undefined ? now : undefined;
  const interval = given.interval ?? shown?.interval ?? DEFAULT.interval;
  const kept = interval === shown?.interval ? shown.intervalCount : 1;
  const intervalCount = given.intervalCount ?? kept;
  const isSame = interval === shown?.interval && intervalCount === shown.intervalCount;
  return isSame ? undefined : requireCount({ interval, intervalCount });
}

function requireCount(length: PeriodLength): PeriodLength {
  const { interval, intervalCount } = length;
  const max = INTERVAL_COUNT_MAX[interval];
  if (intervalCount <= max) return length;
  const message = `A period has at most ${max} of the interval \`${interval}\`.`;
  throw new Rejected('invalid_request', message, { param: 'intervalCount' });
}
