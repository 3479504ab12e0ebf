import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { Rejected } from '../../schemas/failures.ts';
import { calendarSpan, type Span } from '../../schemas/primitives/calendar.ts';
import { timestampText } from '../../schemas/primitives/timestamp.ts';
import { COST_LINES_MAX } from '../../schemas/resources/cost.ts';
import { rateSpans, shownLine, shownTotals, totalsOf } from '../cost/cost-lines.ts';
import { type CostSpan, costSpans, readPriceCatalogue } from '../cost/cost-span.ts';
import { readMeteredFacts } from '../cost/metered-facts.ts';
import { periodOf, termsOf } from '../cost/paying-subscriptions.ts';
import { type MeteredFacts, readSpanUsage, type UsageReads } from '../cost/span-usage.ts';
import type { CustomerGrantsReads } from '../entitlements/cache/customer-grants-reads.ts';
import type { Handlers, RequestContext } from '../http/request-context.ts';
import { type PricedUsageRead, readByBound, readByValue, readTotals } from '../store/read-priced-usage.ts';
import { findPaying, listPaying, type PayingSubscription } from '../store/subscription-terms.ts';
import { readConsistently } from '../usage/consistency.ts';
import { findCustomer } from '../usage/customer-meter.ts';
import type { Freshness } from '../usage/freshness.ts';
import { createReadLong, type ReadLong } from '../usage/long-reads.ts';
import { beginReadTime, type ReadTime } from '../usage/read-time.ts';
import { breakdownSpan } from '../usage/window.ts';

export interface CostDeps {
  warehouse: Warehouse;
  freshness: Freshness;
  customerGrantsReads: CustomerGrantsReads;
}

type CostQuery = Parameters<Handlers['cost.ofCustomer']>[1]['query'];

/** Subscriptions of one customer in one response, with those that have ended. */
const SUBSCRIPTIONS_MAX = 500;
/** Of a read of events, in addition to its wait. */
const EVENTS_MS = 15_000;

export function createCostHandlers(
  deps: CostDeps,
): Pick<Handlers, 'cost.ofCustomer' | 'cost.ofSubscription'> {
  const cost = createCost(deps);
  return {
    'cost.ofCustomer': async (context, { params, query }) => {
      const { db, environment } = context;
      const time = beginReadTime(query.consistency);
      const span = requestedSpan(query, context.nowMs);
      const customerId = await time.within(findCustomer(context, params.customerId));
      const limit = SUBSCRIPTIONS_MAX + 1;
      const at = span && new Date(span.fromMs);
      const rows = await time.within(listPaying(db, environment, { customerIds: [customerId], at, limit }));
      if (rows.length === limit) throw tooMany(`${SUBSCRIPTIONS_MAX} subscriptions`);
      return { customerId, ...(await cost(context, query, { rows, span, time })) };
    },

    'cost.ofSubscription': async (context, { params: { subscriptionId }, query }) => {
      const { db, environment } = context;
      const time = beginReadTime(query.consistency);
      const span = requestedSpan(query, context.nowMs);
      const row = await time.within(findPaying(db, environment, subscriptionId));
      if (!row) throw subscriptionNotFound(subscriptionId);
      const { customerId } = row;
      return { subscriptionId, customerId, ...(await cost(context, query, { rows: [row], span, time })) };
    },
  };
}

interface CostQuestion {
  rows: PayingSubscription[];
  /** Undefined: the period of each. */
  span: Span | undefined;
  time: ReadTime;
}

function createCost({ warehouse, freshness, customerGrantsReads }: CostDeps) {
  const readLong = createReadLong();

  return async (context: RequestContext, query: CostQuery, { rows, span, time }: CostQuestion) => {
    const { environment, nowMs } = context;
    const periods = rows.map((row) => span ?? periodOf(row, nowMs));
    const spans = await time.within(findSpans(context, rows, periods));
    const facts = await time.within(customerGrantsReads(context, (db) => factsOf(context, db, spans)));
    const wish = { consistency: query.consistency, environment, time };
    return readConsistently(freshness, wish, async (asOfMs) => {
      const reads = readsOf({ warehouse, environment, time, readLong });
      const { usages } = await readSpanUsage(reads, facts, { spans });
      const costs = rateSpans(spans, usages);
      const [from, to] = boundsOf(periods, nowMs);
      return {
        from: timestampText(from),
        to: timestampText(to),
        totals: shownTotals(totalsOf(costs)),
        lines: costs.map(shownLine),
        asOf: timestampText(asOfMs),
      };
    });
  };
}

/** Throws Rejected when there are more than a response may have. */
async function findSpans(
  { db, environment, nowMs }: RequestContext,
  rows: readonly PayingSubscription[],
  periods: readonly Span[],
): Promise<CostSpan[]> {
  const terms = rows.map(termsOf);
  const catalogue = await readPriceCatalogue(db, environment, terms.flat());
  const spans: CostSpan[] = [];
  for (const [at, { customerId, id: subscriptionId }] of rows.entries()) {
    const span = periods[at] ?? { fromMs: 0, toMs: 0 };
    const subject = { customerId, subscriptionId, terms: terms[at] ?? [], span };
    spans.push(...costSpans(subject, catalogue, { nowMs, spansMax: COST_LINES_MAX }));
    if (spans.length > COST_LINES_MAX) throw tooMany(`${COST_LINES_MAX} lines`);
  }
  return spans;
}

function factsOf(
  { environment, nowMs }: RequestContext,
  db: RequestContext['db'],
  spans: readonly CostSpan[],
): Promise<MeteredFacts> {
  const prices = spans.map(({ price }) => price);
  const customerIds = [...new Set(spans.map(({ customerId }) => customerId))];
  return readMeteredFacts(db, environment, { prices, customerIds, nowMs });
}

interface ReadsOf extends Pick<PricedUsageRead, 'warehouse' | 'environment'> {
  time: ReadTime;
  readLong: ReadLong;
}

/** Sums of hours take milliseconds; what needs every event waits for its turn as a breakdown does. */
function readsOf({ warehouse, environment, time, readLong }: ReadsOf): UsageReads {
  const long = { warehouse, environment, connection: 'long', timeoutMs: EVENTS_MS } as const;
  const inTurn = <T>(read: () => Promise<T>) => readLong(time, environment, read);
  return {
    totals: (questions) => {
      const read = { warehouse, environment, connection: 'counters', timeoutMs: time.leftMs() } as const;
      return readTotals(read, questions);
    },
    byValue: (questions) => inTurn(() => readByValue(long, questions)),
    byBound: (questions) => inTurn(() => readByBound(long, questions)),
  };
}

/** Throws Rejected when it contradicts itself. */
function requestedSpan({ from, to }: CostQuery, nowMs: number): Span | undefined {
  return breakdownSpan(
    { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) },
    nowMs,
  ).span;
}

/** From the first to the last; of none the calendar month, as of a customer's usage. */
function boundsOf(periods: readonly Span[], nowMs: number): [fromMs: number, toMs: number] {
  if (periods.length === 0) {
    const { fromMs, toMs } = calendarSpan('month', nowMs);
    return [fromMs, toMs];
  }
  return [Math.min(...periods.map(({ fromMs }) => fromMs)), Math.max(...periods.map(({ toMs }) => toMs))];
}

function tooMany(what: string): Rejected {
  const message = `There are more than ${what} in this time. Ask for a shorter one with \`from\` and \`to\`.`;
  return new Rejected('invalid_request', message, { param: 'to' });
}

function subscriptionNotFound(id: string): Rejected {
  return new Rejected('subscription_not_found', `There is no subscription ${id}.`, {
    param: 'subscriptionId',
  });
}
