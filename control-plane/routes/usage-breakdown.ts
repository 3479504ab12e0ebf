import { creditCost, type RateVersion } from '../../domain/rules/credit-cost.ts';
import { readRatedMeters } from '../../domain/store/meter-rates.ts';
import { type ExactNumber, exactNumber } from '../../schemas/primitives/exact-json.ts';
import { timestampText } from '../../schemas/primitives/timestamp.ts';
import { propertiesOf, readQuantiles } from '../analytics/analytics-query.ts';
import {
  breakdownOffsets,
  checkBreakdown,
  filledLabels,
  localBreakdownSpan,
} from '../analytics/breakdown-query.ts';
import { shownQuantiles } from '../analytics/meter-usage-report.ts';
import type { Handlers, RequestContext } from '../http/request-context.ts';
import { createPropertyRollup } from '../store/property-rollup.ts';
import { type BreakdownGroup, type BreakdownResponse, readBreakdown } from '../store/read-breakdown.ts';
import { readConsistently } from '../usage/consistency.ts';
import { type CustomerMeter, findMeteredCustomerMeter } from '../usage/customer-meter.ts';
import { beginReadTime } from '../usage/read-time.ts';
import { unitOf } from '../usage/shown-counter.ts';
import { timeOf } from '../usage/time-of.ts';
import type { MeterUsageDeps } from './meter-usage.ts';

export function createUsageBreakdown({
  warehouse,
  freshness,
  readLong,
}: MeterUsageDeps): Handlers['usage.breakdown'] {
  const rollup = createPropertyRollup(warehouse);
  return async (context, { params, query }) => {
    const { environment } = context;
    const time = beginReadTime(query.consistency);
    const atMs = timeOf(query.at, context.nowMs);
    checkBreakdown(query);
    const { window, span: requested } = localBreakdownSpan(query, atMs);
    const named = { ...params, atMs };
    const { customerMeter, metering } = await time.within(findMeteredCustomerMeter(context, named));
    const { meter } = customerMeter;
    const span = window === 'current_period' ? metering.periodOf(meter.key) : requested;
    const { dimension, limit, order = 'total', timezone } = query;
    const [offsets, labels] = [breakdownOffsets(query, span), filledLabels(query, span)];
    const quantiles = readQuantiles(query.quantiles, meter.aggregation);
    const versions = await time.within(ratesOf(context, customerMeter));
    const filter = propertiesOf(query.filter);
    const sorted = { order, limit, offsets, filter, quantiles };
    const question = { customerMeter, dimension, span, versions, ...sorted };
    return readConsistently(freshness, { ...query, environment, time }, async (asOfMs, view) => {
      const deps = { warehouse, view, rollup };
      const response = await readLong(time, environment, () => readBreakdown(deps, question));
      return {
        customerId: customerMeter.customerId,
        meterId: meter.key,
        dimension,
        window,
        ...(span ? { from: timestampText(span.fromMs), to: timestampText(span.toMs) } : {}),
        ...(timezone === undefined ? {} : { timezone }),
        source: response.source,
        ...shownGroups(filled(response, labels), { versions, quantiles }),
        ...unitOf(meter),
        asOf: timestampText(asOfMs),
      };
    });
  };
}

/** In the order of the labels, which are all that events of the span can have. */
function filled(response: BreakdownResponse, labels: readonly string[] | undefined): BreakdownResponse {
  if (!labels) return response;
  const byLabel = new Map(response.groups.map((group) => [group.label, group]));
  const groups = labels.map((label) => byLabel.get(label) ?? { ...UNUSED, label });
  return { ...response, groups };
}

const UNUSED: BreakdownGroup = { label: '', total: '0', count: 0, quantiles: [], rated: [] };

async function ratesOf(
  { db, environment }: RequestContext,
  { meter }: CustomerMeter,
): Promise<RateVersion[]> {
  const place = { environments: [environment], meterKeys: [meter.key] };
  return (await readRatedMeters(db, place))[0]?.versions ?? [];
}

interface Shown {
  versions: readonly RateVersion[];
  /** The requested ones. */
  quantiles: readonly number[];
}

function shownGroups({ all, groups, other }: BreakdownResponse, shown: Shown) {
  const { total, creditCost: totalCreditCost, quantiles } = amountsOf(all, shown);
  return {
    total,
    totalCreditCost,
    ...(quantiles ? { quantiles } : {}),
    breakdown: groups.map((group) => ({ value: group.label, ...amountsOf(group, shown) })),
    ...(other ? { other: amountsOf(other, shown) } : {}),
  };
}

interface Amounts {
  total: ExactNumber;
  count: number;
  creditCost: ExactNumber;
  quantiles?: ReturnType<typeof shownQuantiles>;
}

function amountsOf({ total, count, rated, ...group }: BreakdownGroup, shown: Shown): Amounts {
  return {
    total: exactNumber(total),
    count,
    creditCost: exactNumber(creditCost(rated, shown.versions)),
    ...(shown.quantiles.length > 0 ? { quantiles: shownQuantiles(shown.quantiles, group.quantiles) } : {}),
  };
}
