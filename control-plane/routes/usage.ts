import type { Pool } from 'pg';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { timestampText } from '../../schemas/primitives/timestamp.ts';
import { pageOf } from '../http/page.ts';
import type { Handlers } from '../http/request-context.ts';
import { listMeters, type MeterRow } from '../store/meters.ts';
import { type CounterQuestion, readCounter, readCounters } from '../store/read-counter.ts';
import { readUsageEvents } from '../store/read-usage-events.ts';
import { readConsistently } from '../usage/consistency.ts';
import {
  findCustomer,
  findCustomerMeter,
  findMeteredCustomerMeter,
  readMetering,
} from '../usage/customer-meter.ts';
import { readEventLinks } from '../usage/event-links.ts';
import { eventPage, placeOf } from '../usage/event-page.ts';
import type { Freshness } from '../usage/freshness.ts';
import type { ReadLong } from '../usage/long-reads.ts';
import type { Metering } from '../usage/metering.ts';
import { beginReadTime } from '../usage/read-time.ts';
import { shownCounter } from '../usage/shown-counter.ts';
import { timeOf } from '../usage/time-of.ts';
import { openSpan } from '../usage/window.ts';
import { createMeterUsage } from './meter-usage.ts';
import { createUsageBreakdown } from './usage-breakdown.ts';
import { createFindUsageEvents } from './usage-find.ts';
import { usageLevelHandlers } from './usage-levels.ts';
import { createUsageLiveHandlers, type UsageLiveDeps } from './usage-live.ts';

interface UsageDeps {
  pool: Pool;
  warehouse: Warehouse;
  freshness: Freshness;
  /** One for all long reads of the process. */
  readLong: ReadLong;
}

type UsageHandlers = Pick<
  Handlers,
  Extract<keyof Handlers, `usage.${string}`> | 'meterUsage.retrieve' | 'usageLevels.list' | 'usageLive.stream'
>;

export function createUsageHandlers(deps: UsageDeps & UsageLiveDeps): UsageHandlers {
  const { pool, warehouse, freshness, readLong } = deps;
  return {
    ...usageLevelHandlers,
    ...createUsageLiveHandlers(deps),
    'usage.list': createUsageList({ warehouse, freshness }),
    'meterUsage.retrieve': createMeterUsage({ warehouse, freshness, readLong }),

    'usage.retrieve': async (context, { params, query }) => {
      const time = beginReadTime(query.consistency);
      const named = { ...params, atMs: timeOf(query.at, context.nowMs) };
      const { customerMeter, metering } = await time.within(findMeteredCustomerMeter(context, named));
      const span = metering.periodOf(customerMeter.meter.key);
      const wish = { ...query, environment: customerMeter.environment, time };
      return readConsistently(freshness, wish, async (asOfMs, view) => {
        const current = await readCounter({ warehouse, view }, customerMeter, span, time.leftMs());
        return shownCounter(customerMeter, { metering, current, asOfMs });
      });
    },

    'usage.breakdown': createUsageBreakdown({ warehouse, freshness, readLong }),

    'usage.findEvents': createFindUsageEvents(deps),

    'usage.events': async (context, { params, query }) => {
      const { environment } = context;
      const time = beginReadTime(query.consistency);
      const span = openSpan(query);
      const after = query.cursor === undefined ? undefined : placeOf(query.cursor);
      const customerMeter = await time.within(findCustomerMeter(context, params));
      const { limit } = query;
      const question = { customerMeter, span, after, limit: limit + 1 };
      return readConsistently(freshness, { ...query, environment, time }, async (asOfMs, view) => {
        const usage = { warehouse, view };
        const events = await readLong(time, environment, () => readUsageEvents(usage, question));
        const links = await time.within(readEventLinks(pool, environment, events));
        return { ...eventPage(events, limit, customerMeter, links), asOf: timestampText(asOfMs) };
      });
    },
  };
}

function createUsageList({
  warehouse,
  freshness,
}: Pick<UsageDeps, 'warehouse' | 'freshness'>): UsageHandlers['usage.list'] {
  return async (context, { params, query }) => {
    const { db, environment, nowMs } = context;
    const time = beginReadTime(query.consistency);
    const atMs = timeOf(query.at, nowMs);
    const { rows, total } = await time.within(listMeters(db, environment, query));
    const meterKeys = rows.map(({ key }) => key);
    const customerId = await time.within(findCustomer(context, params.customerId));
    const metering = await time.within(readMetering(context, { customerId, meterKeys, atMs }));
    const owner = { environment, customerId };
    const questions = questionsOf(rows, metering);
    return readConsistently(freshness, { ...query, environment, time }, async (asOfMs, view) => {
      const usage = { warehouse, view };
      const counters = await readCounters(usage, owner, questions, { timeoutMs: time.leftMs() });
      const shown = rows.map((meter) => {
        const current = counters.get(meter.key) ?? '0';
        return shownCounter({ ...owner, meter }, { metering, current, asOfMs });
      });
      return pageOf(shown, total, query);
    });
  };
}

function questionsOf(meters: MeterRow[], { periodOf }: Metering): CounterQuestion[] {
  return meters.map(({ key, aggregation }) => ({ meterKey: key, aggregation, span: periodOf(key) }));
}
