import { moneyText } from '../../domain/rules/rating/money.ts';
import {
  type PeriodUsage,
  type RatedSpan,
  rateSpan,
  type SpanOfPeriod,
} from '../../domain/rules/rating/rate-price.ts';
import { decimalUnits, unitsText } from '../../schemas/primitives/decimal.ts';
import { type ExactNumber, exactNumber } from '../../schemas/primitives/exact-json.ts';
import { timestampText } from '../../schemas/primitives/timestamp.ts';
import type { CostLine, CostTotal } from '../../schemas/resources/cost.ts';
import type { StoredPrice } from '../store/price-sets.ts';
import type { CostSpan } from './cost-span.ts';

/** A span with what it is charged. */
export interface RatedCost {
  span: CostSpan;
  usage: SpanOfPeriod;
  rated: RatedSpan;
}

/**
 * What is charged in each span. Flat amounts and seats are left out where they were charged in an earlier
 * part of their period.
 */
export function rateSpans(spans: readonly CostSpan[], usages: readonly SpanOfPeriod[]): RatedCost[] {
  return spans.flatMap((span, at): RatedCost[] => {
    const usage = usages[at] ?? { until: { units: 0n } };
    const { price, quantity, earlier } = span;
    if (price.model === 'flat' && quantity.until === quantity.before) return [];
    const rated = rateSpan(price, usage);
    const isSeenBefore = price.model === 'seat' && earlier.length > 0 && rated.amount === 0n;
    return isSeenBefore ? [] : [{ span, usage, rated }];
  });
}

/** By currency, in units of 10^-24. */
export function totalsOf(costs: readonly RatedCost[]): Map<string, bigint> {
  const totals = new Map<string, bigint>();
  for (const { span, rated } of costs) {
    const { currency } = span.price;
    totals.set(currency, (totals.get(currency) ?? 0n) + rated.amount);
  }
  return totals;
}

export function shownTotals(totals: ReadonlyMap<string, bigint>): CostTotal[] {
  return [...totals]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([currency, amount]) => ({ currency, amount: money(amount) }));
}

export function shownLine({ span, usage, rated }: RatedCost): CostLine {
  const { subscriptionId, owner, price, fromMs, toMs } = span;
  return {
    subscriptionId,
    ...owner,
    priceKey: price.key,
    ...(price.description === undefined ? {} : { description: price.description }),
    model: price.model,
    ...('meterKey' in price ? { meterKey: price.meterKey } : {}),
    ...('featureKey' in price ? { featureKey: price.featureKey } : {}),
    from: timestampText(fromMs),
    to: timestampText(toMs),
    ...usedFields(price, usage),
    quantity: units(rated.quantity),
    ...modelFields(price, usage, rated),
    exactAmount: money(rated.exact),
    ...(rated.minimum === 0n ? {} : { minimumAmount: money(rated.minimum) }),
    ...(rated.maximum === 0n ? {} : { maximumAmount: money(rated.maximum) }),
    currency: price.currency,
    amount: money(rated.amount),
  };
}

/** What was used in the span, and how much of that is included. */
function usedFields(price: StoredPrice, { until, before }: SpanOfPeriod) {
  if (price.model === 'flat') return {};
  const used = { used: units(until.units - (before?.units ?? 0n)) };
  if (!('included' in price) || price.included === undefined) return used;
  const free = (usage: PeriodUsage | undefined) => includedIn(price.included ?? '0', usage?.units ?? 0n);
  return { ...used, included: units(free(until) - free(before)) };
}

function includedIn(included: string, used: bigint): bigint {
  const most = decimalUnits(included);
  return used < 0n ? 0n : used < most ? used : most;
}

function modelFields(price: StoredPrice, usage: SpanOfPeriod, rated: RatedSpan): Partial<CostLine> {
  switch (price.model) {
    case 'flat':
    case 'package':
      return { unitAmount: exactNumber(price.amount) };
    case 'seat':
      return { unitAmount: exactNumber(price.unitAmount) };
    case 'per_unit':
      return price.unitAmounts
        ? { values: valuesOf(price, usage) }
        : { unitAmount: exactNumber(price.unitAmount) };
    case 'percentage':
      return {
        rate: exactNumber(price.rate),
        ...(price.fixed === undefined ? {} : { fixed: exactNumber(price.fixed) }),
        ...eventsOf(usage),
      };
    case 'graduated':
    case 'volume':
      return {
        tiers: price.tiers.map(({ upTo, unitAmount, flatAmount }, at) => ({
          upTo: upTo === null ? null : exactNumber(upTo),
          unitAmount: exactNumber(unitAmount),
          ...(flatAmount === undefined ? {} : { flatAmount: exactNumber(flatAmount) }),
          quantity: units(rated.tiers?.[at]?.quantity ?? 0n),
          amount: money(rated.tiers?.[at]?.amount ?? 0n),
        })),
      };
  }
}

function valuesOf(price: StoredPrice & { model: 'per_unit' }, { until, before }: SpanOfPeriod) {
  const { amounts = {} } = price.unitAmounts ?? {};
  const earlier = new Map(before?.byValue?.map(({ value, units: used }) => [value, used]));
  return (until.byValue ?? []).map(({ value, units: used }) => ({
    ...(value === undefined ? {} : { value }),
    quantity: units(used - (earlier.get(value) ?? 0n)),
    unitAmount: exactNumber((value === undefined ? undefined : amounts[value]) ?? price.unitAmount),
  }));
}

function eventsOf({ until, before }: SpanOfPeriod) {
  if (!until.byBound) return {};
  const of = (name: 'events' | 'atMin' | 'atMax') =>
    Number((until.byBound?.[name] ?? 0n) - (before?.byBound?.[name] ?? 0n));
  return { events: { charged: of('events'), atMin: of('atMin'), atMax: of('atMax') } };
}

function units(count: bigint): ExactNumber {
  return exactNumber(unitsText(count));
}

function money(amount: bigint): ExactNumber {
  return exactNumber(moneyText(amount));
}
