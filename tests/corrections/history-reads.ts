import type { Warehouse } from '../../infra/ports/warehouse.ts';
import type { Span } from '../../schemas/primitives/calendar.ts';
import type { Aggregation } from '../../schemas/usage-limits.ts';
import type { Random } from '../support/random.ts';
import { aggregateOf } from '../support/usage-oracle.ts';
import { FIRST_MS, HOUR_MS, LENGTH_MS, type Snapshot, timeIn, type UsedEvent } from './changed-history.ts';

/** A read of one environment, and what it gives of events that were never changed. */
export interface HistoryRead {
  name: string;
  read(): Promise<unknown>;
  expected: unknown;
}

export interface Reading extends Snapshot {
  warehouse: Warehouse;
  environment: string;
  random: Random;
}

export const ALL: Span = { fromMs: FIRST_MS, toMs: FIRST_MS + LENGTH_MS + 20 * HOUR_MS };

export function spanIn(random: Random): Span {
  const [a = 0, b = 0] = [timeIn(random), timeIn(random)].sort((one, other) => one - other);
  const wholeHours = { fromMs: Math.floor(a / HOUR_MS) * HOUR_MS, toMs: Math.ceil(b / HOUR_MS) * HOUR_MS };
  return random.pick([{ fromMs: a, toMs: b + 1 }, wholeHours, ALL, { fromMs: a, toMs: a + HOUR_MS / 3 }]);
}

export interface Of extends Partial<Span> {
  customerId?: string;
  meterKey?: Aggregation;
  region?: string | undefined;
}

export function ofThese(events: readonly UsedEvent[], of: Of): UsedEvent[] {
  return events.filter(
    (one) =>
      (of.customerId === undefined || of.customerId === one.customerId) &&
      (of.meterKey === undefined || of.meterKey === one.meterKey) &&
      (of.region === undefined || of.region === one.region) &&
      one.occurredAtMs >= (of.fromMs ?? 0) &&
      one.occurredAtMs < (of.toMs ?? Number.POSITIVE_INFINITY),
  );
}

export function amount(events: UsedEvent[], aggregation: Aggregation): bigint {
  return aggregateOf(events, aggregation, {
    units: ({ units }) => units,
    label: ({ region }) => region,
    isLater: (a, b) => Buffer.compare(orderOf(a), orderOf(b)) > 0,
  });
}

/** Numbers of one length: all times have as many digits. */
function orderOf({ occurredAtMs, createdAtMs, arrival, id }: UsedEvent): Buffer {
  return Buffer.from([occurredAtMs, createdAtMs, String(arrival).padStart(6, '0'), id].join(' '));
}
