import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { Rejected } from '../../schemas/failures.ts';
import { calendarSpan, type Span } from '../../schemas/primitives/calendar.ts';
import { timestampText } from '../../schemas/primitives/timestamp.ts';
import type { Consistency } from '../../schemas/resources/consistency.ts';
import { COST_LINES_MAX } from '../../schemas/resources/cost.ts';
import type { CustomerGrantsReads } from '../entitlements/cache/customer-grants-reads.ts';
import type { RequestContext } from '../http/request-context.ts';
import { type PricedUsageRead, readByBound, readByValue, readTotals } from '../store/read-priced-usage.ts';
import { findPaying, listPaying, type PayingSubscription } from '../store/subscription-terms.ts';
import { readConsistently } from '../usage/consistency.ts';
import type { Freshness } from '../usage/freshness.ts';
import type { ReadLong } from '../usage/long-reads.ts';
import type { ReadTime } from '../usage/read-time.ts';
import { rateSpans, shownLine, shownTotals, totalsOf } from './cost-lines.ts';
import { type CostSpan, costSpans, readPriceCatalogue } from './cost-span.ts';
import { readMeteredFacts } from './metered-facts.ts';
import { periodOf, termsOf } from './paying-subscriptions.ts';
import { type MeteredFacts, readSpanUsage, type UsageReads } from './span-usage.ts';

export interface CostDeps {
  warehouse: Warehouse;
  freshness: Freshness;
  customerGrantsReads: CustomerGrantsReads;
  /** One for all long reads of the process. */
  readLong: ReadLong;
}

/** Which time, and how. */
export interface CostWish {
  /** Undefined: the billing period of each subscription that contains now. */
  span: Span | undefined;
  consistency?: Consistency;
  time: ReadTime;
}

/** Subscriptions of one customer in one response, with those that have ended. */
const SUBSCRIPTIONS_MAX = 500;
/** Of a read of events, in addition to its wait. */
const EVENTS_MS = 15_000;

/**
 * The cost of a customer by its id, and of a subscription (undefined where there is none), as the API shows
 * it. Throws Rejected for too many subscriptions or lines, and Transient.
 */
export function createReadCost(deps: CostDeps) {
  const read = (context: RequestContext, wish: CostWish, rows: PayingSubscription[]) =>
    readOf(deps, context, { ...wish, rows });
  return {
    async ofCustomer(context: RequestContext, customerId: string, wish: CostWish) {
      const { db, environment, nowMs } = context;
      const time = wish.span ? { since: new Date(wish.span.fromMs) } : { now: new Date(nowMs) };
      const limit = SUBSCRIPTIONS_MAX + 1;
      const wanted = { customerIds: [customerId], limit, ...time };
      const rows = await wish.time.within(listPaying(db, environment, wanted));
      if (rows.length === limit) throw tooMany(`${SUBSCRIPTIONS_MAX} subscriptions`);
      return { customerId, ...(await read(context, wish, rows)) };
    },

    async ofSubscription(context: RequestContext, subscriptionId: string, wish: CostWish) {
      const row = await wish.time.within(findPaying(context.db, context.environment, subscriptionId));
      if (!row) return undefined;
      return { subscriptionId, customerId: row.customerId, ...(await read(context, wish, [row])) };
    },
  };
}

async function readOf(
  { warehouse, freshness, customerGrantsReads, readLong }: CostDeps,
  context: RequestContext,
  { rows, span, consistency, time }: CostWish & { rows: PayingSubscription[] },
) {
  const { environment, nowMs } = context;
  const periods = rows.map((row) => span ?? periodOf(row, nowMs));
  const spans = await time.within(findSpans(context, rows, periods));
  const facts = await time.within(customerGrantsReads(context, (db) => factsOf(context, db, spans)));
  return readConsistently(freshness, { consistency, environment, time }, async (asOfMs, view) => {
    const reads = readsOf({ warehouse, view, environment, time, readLong });
    const { usages } = await readSpanUsage(reads, facts, { spans });
    const costs = rateSpans(spans, usages);
    const [from, to] = boundsOf(span ? [span] : periods, nowMs);
    return {
      from: timestampText(from),
      to: timestampText(to),
      totals: shownTotals(totalsOf(costs)),
      lines: costs.map(shownLine),
      asOf: timestampText(asOfMs),
    };
  });
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

interface ReadsOf extends Pick<PricedUsageRead, 'warehouse' | 'view' | 'environment'> {
  time: ReadTime;
  readLong: ReadLong;
}

/** Sums of hours take milliseconds; what needs every event waits for its turn as a breakdown does. */
function readsOf({ warehouse, view, environment, time, readLong }: ReadsOf): UsageReads {
  const long = { warehouse, view, environment, connection: 'long', timeoutMs: EVENTS_MS } as const;
  const inTurn = <T>(read: () => Promise<T>) => readLong(time, environment, read);
  return {
    totals: (questions) => {
      const limits = { connection: 'counters', timeoutMs: time.leftMs() } as const;
      return readTotals({ warehouse, view, environment, ...limits }, questions);
    },
    byValue: (questions) => inTurn(() => readByValue(long, questions)),
    byBound: (questions) => inTurn(() => readByBound(long, questions)),
  };
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
