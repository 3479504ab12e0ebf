import { expect, it } from 'vitest';
import { AGGREGATE_SQL } from '../../../domain/store/aggregate-sql.ts';
import { decimalUnits, unitsText } from '../../../schemas/primitives/decimal.ts';
import { arrivalText } from '../../../schemas/stored/event-row.ts';
import { ORDERED_AGGREGATIONS } from '../../../schemas/usage-limits.ts';
import { eventLines, type TestEvent } from '../../../tests/support/event-line.ts';
import { aggregateOf, type EventReader } from '../../../tests/support/usage-oracle.ts';
import type { Warehouse } from '../warehouse.ts';

const TIMEOUT_MS = 60_000;

/** Sent one behind the other, in one millisecond. */
const AS_SENT: EventReader<{ value: string; uniqueValue: string }> = {
  units: ({ value }) => decimalUnits(value),
  label: () => undefined,
  isLater: (a, b) => a.uniqueValue > b.uniqueValue,
};

export function latestTests(open: () => Promise<Warehouse>): void {
  /** Red when the ids decide: of gauges that are sent in one batch, without times, any may win. */
  it.each(['use_a', 'use_z'])(
    'takes the last that arrived in a millisecond, also before id %s',
    async (first) => {
      const warehouse = await open();
      const rows = (sql: string) => warehouse.query({ sql, connection: 'counters', timeoutMs: TIMEOUT_MS });
      const insert = (token: string, events: TestEvent[]) =>
        warehouse.insertEvents({ token, lines: eventLines(events), timeoutMs: TIMEOUT_MS });
      const gauges = [first, 'use_m', 'use_b', 'use_y', 'use_c'].map((id, at) => {
        return { id, value: String(at + 1), uniqueValue: arrivalText(at) };
      });
      // In the order of a merge, and in blocks of their own.
      await insert('later', gauges.slice(3).reverse());
      await insert('earlier', gauges.slice(0, 3).reverse());
      for (const aggregation of ORDERED_AGGREGATIONS) {
        const { ofEvents, ofHours, merged } = AGGREGATE_SQL[aggregation];
        const value = unitsText(aggregateOf(gauges, aggregation, AS_SENT));
        const [events, hours] = [
          `${ofEvents} AS state FROM metergate.events`,
          `${ofHours} AS state FROM metergate.usage_hourly`,
        ];
        for (const states of [events, hours, `${events} FINAL`, `${hours} FINAL`]) {
          expect(await rows(`SELECT ${merged} AS value FROM (SELECT ${states})`)).toEqual([{ value }]);
        }
      }
      const counted = 'SELECT uniqExactMerge(uniques) AS n FROM metergate.usage_hourly';
      expect(await rows(counted)).toEqual([{ n: '0' }]);
    },
  );
}
