import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { type Span, splitByHours } from '../../schemas/rules/calendar.ts';
import { decimalUnits, unitsText } from '../../schemas/rules/decimal.ts';
import type { Pair } from '../usage/pair.ts';
import { AGGREGATE_SQL, OF_PAIR, occurredWithin, pairParams } from './usage-sql.ts';

const TIMEOUT_MS = 5_000;

/**
 * A meter's aggregate over a span, as canonical decimal text: whole hours from the rollup, the edges from the
 * events. Exact at any millisecond. Throws Transient.
 */
export async function readCounter(warehouse: Warehouse, pair: Pair, span: Span): Promise<string> {
  const { head, hours, tail } = splitByHours(span);
  const { ofEvents, ofHours, merged } = AGGREGATE_SQL[pair.meter.aggregation];
  const edges = `UNION ALL
  SELECT ${ofEvents} AS state FROM metergate.events FINAL
   WHERE ${OF_PAIR} AND ((${occurredWithin('headFrom', 'headTo')})
      OR (${occurredWithin('tailFrom', 'tailTo')}))`;
  const hasEdges = head.fromMs < head.toMs || tail.fromMs < tail.toMs;
  const rows = await warehouse.query<{ current: string }>({
    sql: `SELECT toString(${merged}) AS current FROM (
  SELECT ${ofHours} AS state FROM metergate.usage_hourly
   WHERE ${OF_PAIR} AND hour >= toDateTime({hoursFrom:Int64}, 'UTC')
     AND hour < toDateTime({hoursTo:Int64}, 'UTC')
  ${hasEdges ? edges : ''})`,
    params: {
      ...pairParams(pair),
      hoursFrom: hours.fromMs / 1000,
      hoursTo: hours.toMs / 1000,
      headFrom: head.fromMs,
      headTo: head.toMs,
      tailFrom: tail.fromMs,
      tailTo: tail.toMs,
    },
    lane: 'counters',
    timeoutMs: TIMEOUT_MS,
  });
  return unitsText(decimalUnits(rows[0]?.current ?? '0'));
}
