import type { Clock } from '../../infra/ports/clock.ts';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { billingPeriod } from '../../schemas/rules/billing-period.ts';
import { type CreditRates, creditCost } from '../../schemas/rules/credit-cost.ts';
import { type ExactNumber, exactNumber } from '../../schemas/rules/exact-json.ts';
import { timestampMs, timestampText } from '../../schemas/rules/timestamp.ts';
import type { Handlers } from '../request-context.ts';
import type { MeterRow } from '../store/meters.ts';
import { type BreakdownGroup, readBreakdown } from '../store/read-breakdown.ts';
import { readCounter } from '../store/read-counter.ts';
import { readUsageEvents } from '../store/read-usage-events.ts';
import { awaitConsistency } from '../usage/consistency.ts';
import { cursorAfter, placeOf, shownEvent } from '../usage/event-page.ts';
import type { Freshness } from '../usage/freshness.ts';
import { createLongReads } from '../usage/long-reads.ts';
import { findPair } from '../usage/pair.ts';
import { breakdownSpan, openSpan } from '../usage/window.ts';

export interface UsageDeps {
  warehouse: Warehouse;
  freshness: Freshness;
  clock: Clock;
}

type UsageHandlers = Pick<Handlers, 'usage.retrieve' | 'usage.breakdown' | 'usage.events'>;

export function createUsageHandlers({ warehouse, freshness, clock }: UsageDeps): UsageHandlers {
  const longReads = createLongReads();

  return {
    'usage.retrieve': async (context, { params, query }) => {
      const pair = await findPair(context, params);
      const asOfMs = await awaitConsistency(freshness, query.consistency);
      const period = billingPeriod(momentOf(query.at) ?? clock.nowMs());
      return {
        customerId: pair.customerId,
        meterId: pair.meter.key,
        current: exactNumber(await readCounter(warehouse, pair, period)),
        periodStart: timestampText(period.fromMs),
        periodEnd: timestampText(period.toMs),
        ...unitOf(pair.meter),
        asOf: timestampText(asOfMs),
      };
    },

    'usage.breakdown': async (context, { params, query }) => {
      const { window, span } = breakdownSpan(query, clock.nowMs());
      const pair = await findPair(context, params);
      const asOfMs = await awaitConsistency(freshness, query.consistency);
      const { dimension, limit } = query;
      const answer = await longReads(() => readBreakdown(warehouse, { pair, dimension, span, limit }));
      const all = amountsOf(answer.all, pair.meter);
      return {
        customerId: pair.customerId,
        meterId: pair.meter.key,
        dimension,
        window,
        ...(span ? { from: timestampText(span.fromMs), to: timestampText(span.toMs) } : {}),
        total: all.total,
        totalCreditCost: all.creditCost,
        breakdown: answer.groups.map((group) => ({ value: group.label, ...amountsOf(group, pair.meter) })),
        ...(answer.other ? { other: amountsOf(answer.other, pair.meter) } : {}),
        ...unitOf(pair.meter),
        asOf: timestampText(asOfMs),
      };
    },

    'usage.events': async (context, { params, query }) => {
      const span = openSpan(query);
      const after = query.cursor === undefined ? undefined : placeOf(query.cursor);
      const pair = await findPair(context, params);
      const asOfMs = await awaitConsistency(freshness, query.consistency);
      const { limit } = query;
      const events = await longReads(() =>
        readUsageEvents(warehouse, { pair, span, after, limit: limit + 1 }),
      );
      const page = events.slice(0, limit);
      const last = events.length > limit ? page.at(-1) : undefined;
      return {
        data: page.map((event) => shownEvent(event, pair)),
        ...(last ? { nextCursor: cursorAfter(last) } : {}),
        asOf: timestampText(asOfMs),
      };
    },
  };
}

function momentOf(at: string | undefined): number | undefined {
  return at === undefined ? undefined : timestampMs(at);
}

function unitOf({ unit }: MeterRow): { unit?: string } {
  return unit === null ? {} : { unit };
}

interface Amounts {
  total: ExactNumber;
  count: number;
  creditCost: ExactNumber;
}

function amountsOf({ total, count, rated }: BreakdownGroup, { creditRate, creditRates }: MeterRow): Amounts {
  const rates: CreditRates = {
    rate: creditRate ?? '0',
    ...(creditRates ? { property: { name: creditRates.property, rates: creditRates.rates } } : {}),
  };
  const usage = creditRates ? rated : [{ label: '', amount: total }];
  return { total: exactNumber(total), count, creditCost: exactNumber(creditCost(usage, rates)) };
}
