import { creditCost, type RateVersion } from '../../domain/rules/credit-cost.ts';
import { readRatedMeters } from '../../domain/store/meter-rates.ts';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { type ExactNumber, exactNumber } from '../../schemas/primitives/exact-json.ts';
import { timestampMs, timestampText } from '../../schemas/primitives/timestamp.ts';
import type { UsageCounter } from '../../schemas/resources/usage.ts';
import { pageOf } from '../http/page.ts';
import type { Handlers, RequestContext } from '../http/request-context.ts';
import { listMeters, type MeterRow } from '../store/meters.ts';
import { type BreakdownGroup, type BreakdownResponse, readBreakdown } from '../store/read-breakdown.ts';
import { type CounterQuestion, readCounter, readCounters } from '../store/read-counter.ts';
import { readUsageEvents } from '../store/read-usage-events.ts';
import { readConsistently } from '../usage/consistency.ts';
import {
  type CustomerMeter,
  findCustomer,
  findCustomerMeter,
  findMeteredCustomerMeter,
  readMetering,
} from '../usage/customer-meter.ts';
import { eventPage, placeOf } from '../usage/event-page.ts';
import type { Freshness } from '../usage/freshness.ts';
import { createLongReads } from '../usage/long-reads.ts';
import type { Metering } from '../usage/metering.ts';
import { beginReadTime, type ReadTime } from '../usage/read-time.ts';
import { breakdownSpan, openSpan } from '../usage/window.ts';

export interface UsageDeps {
  warehouse: Warehouse;
  freshness: Freshness;
}

type UsageHandlers = Pick<Handlers, 'usage.list' | 'usage.retrieve' | 'usage.breakdown' | 'usage.events'>;

export function createUsageHandlers({ warehouse, freshness }: UsageDeps): UsageHandlers {
  const readLong = createReadLong();

  return {
    'usage.list': createUsageList({ warehouse, freshness }),

    'usage.retrieve': async (context, { params, query }) => {
      const time = beginReadTime(query.consistency);
      const named = { ...params, atMs: timeOf(query.at, context.nowMs) };
      const { customerMeter, metering } = await time.within(findMeteredCustomerMeter(context, named));
      const span = metering.periodOf(customerMeter.meter.key);
      const wish = { ...query, environment: customerMeter.environment, time };
      return readConsistently(freshness, wish, async (asOfMs) => {
        const current = await readCounter(warehouse, customerMeter, span, time.leftMs());
        return shownCounter(customerMeter, { metering, current, asOfMs });
      });
    },

    'usage.breakdown': async (context, { params, query }) => {
      const { environment } = context;
      const time = beginReadTime(query.consistency);
      const atMs = timeOf(query.at, context.nowMs);
      const { window, span: requested } = breakdownSpan(query, atMs);
      const named = { ...params, atMs };
      const { customerMeter, metering } = await time.within(findMeteredCustomerMeter(context, named));
      const span = window === 'current_period' ? metering.periodOf(customerMeter.meter.key) : requested;
      const versions = await time.within(ratesOf(context, customerMeter));
      const { dimension, limit } = query;
      const question = { customerMeter, dimension, span, versions, limit };
      return readConsistently(freshness, { ...query, environment, time }, async (asOfMs) => {
        const response = await readLong(time, environment, () => readBreakdown(warehouse, question));
        return {
          customerId: customerMeter.customerId,
          meterId: customerMeter.meter.key,
          dimension,
          window,
          ...(span ? { from: timestampText(span.fromMs), to: timestampText(span.toMs) } : {}),
          ...shownGroups(response, versions),
          ...unitOf(customerMeter.meter),
          asOf: timestampText(asOfMs),
        };
      });
    },

    'usage.events': async (context, { params, query }) => {
      const { environment } = context;
      const time = beginReadTime(query.consistency);
      const span = openSpan(query);
      const after = query.cursor === undefined ? undefined : placeOf(query.cursor);
      const customerMeter = await time.within(findCustomerMeter(context, params));
      const { limit } = query;
      const question = { customerMeter, span, after, limit: limit + 1 };
      return readConsistently(freshness, { ...query, environment, time }, async (asOfMs) => {
        const events = await readLong(time, environment, () => readUsageEvents(warehouse, question));
        return { ...eventPage(events, limit, customerMeter), asOf: timestampText(asOfMs) };
      });
    },
  };
}

/**
 * A long read does not count against its request's time: its own time and its wait for the semaphore are
 * bounded.
 */
function createReadLong() {
  const longReads = createLongReads();
  return <T>(time: ReadTime, environment: string, read: () => Promise<T>) =>
    time.untimed(() => longReads(environment, read));
}

function createUsageList({ warehouse, freshness }: UsageDeps): UsageHandlers['usage.list'] {
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
    return readConsistently(freshness, { ...query, environment, time }, async (asOfMs) => {
      const counters = await readCounters(warehouse, owner, questions, time.leftMs());
      const shown = rows.map((meter) => {
        const current = counters.get(meter.key) ?? '0';
        return shownCounter({ ...owner, meter }, { metering, current, asOfMs });
      });
      return pageOf(shown, total, query);
    });
  };
}

/** Its format was checked with the query. */
function timeOf(at: string | undefined, nowMs: number): number {
  return (at === undefined ? undefined : timestampMs(at)) ?? nowMs;
}

function questionsOf(meters: MeterRow[], { periodOf }: Metering): CounterQuestion[] {
  return meters.map(({ key, aggregation }) => ({ meterKey: key, aggregation, span: periodOf(key) }));
}

interface CounterFacts {
  metering: Metering;
  current: string;
  asOfMs: number;
}

function shownCounter(
  { customerId, meter }: CustomerMeter,
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

function unitOf({ unit }: MeterRow): { unit?: string } {
  return unit === null ? {} : { unit };
}

async function ratesOf(
  { db, environment }: RequestContext,
  { meter }: CustomerMeter,
): Promise<RateVersion[]> {
  const place = { environments: [environment], meterKeys: [meter.key] };
  return (await readRatedMeters(db, place))[0]?.versions ?? [];
}

function shownGroups({ all, groups, other }: BreakdownResponse, versions: readonly RateVersion[]) {
  const { total, creditCost: totalCreditCost } = amountsOf(all, versions);
  return {
    total,
    totalCreditCost,
    breakdown: groups.map((group) => ({ value: group.label, ...amountsOf(group, versions) })),
    ...(other ? { other: amountsOf(other, versions) } : {}),
  };
}

interface Amounts {
  total: ExactNumber;
  count: number;
  creditCost: ExactNumber;
}

function amountsOf({ total, count, rated }: BreakdownGroup, versions: readonly RateVersion[]): Amounts {
  return { total: exactNumber(total), count, creditCost: exactNumber(creditCost(rated, versions)) };
}
