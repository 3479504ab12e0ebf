import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { Rejected } from '../../schemas/failures.ts';
import { timestampText } from '../../schemas/primitives/timestamp.ts';
import { propertiesOf, readQuantiles } from '../analytics/analytics-query.ts';
import { readForm } from '../analytics/meter-usage-query.ts';
import { shownUsage, usageCsv } from '../analytics/meter-usage-report.ts';
import { RawResponse } from '../http/raw-response.ts';
import type { Handlers, RequestContext } from '../http/request-context.ts';
import { findCustomerId } from '../store/find-customer-id.ts';
import { createPropertyRollup } from '../store/property-rollup.ts';
import { BY_CUSTOMER, readMeterUsage } from '../store/read-meter-usage.ts';
import { readConsistently } from '../usage/consistency.ts';
import { findKnownMeter } from '../usage/customer-meter.ts';
import type { Freshness } from '../usage/freshness.ts';
import { beginReadTime, type ReadTime } from '../usage/read-time.ts';

export interface MeterUsageDeps {
  warehouse: Warehouse;
  freshness: Freshness;
  readLong: <T>(time: ReadTime, environment: string, read: () => Promise<T>) => Promise<T>;
}

export function createMeterUsage({
  warehouse,
  freshness,
  readLong,
}: MeterUsageDeps): Handlers['meterUsage.retrieve'] {
  const rollup = createPropertyRollup(warehouse);
  return async (context, { params, query }) => {
    const { environment } = context;
    const time = beginReadTime(query.consistency);
    const form = readForm(query);
    const { key: meterKey, aggregation, unit } = await time.within(findKnownMeter(context, params.meterId));
    const quantiles = readQuantiles(query.quantiles, aggregation);
    const { [BY_CUSTOMER]: customer, ...properties } = query.filter ?? {};
    const customerId =
      customer === undefined ? undefined : await time.within(findFiltered(context, customer));
    const { span, starts, timezone, groupBy } = form;
    const filter = propertiesOf(properties);
    const grouped = { span, starts, groupBy, customerId, filter, quantiles, limit: query.limit };
    const question = { environment, meterKey, aggregation, ...grouped };
    return readConsistently(freshness, { ...query, environment, time }, async (asOfMs, view) => {
      const deps = { warehouse, view, rollup };
      const usage = await readLong(time, environment, () => readMeterUsage(deps, question));
      const shown = shownUsage(usage, form, quantiles);
      if (context.mediaType === CSV)
        return new RawResponse(`${CSV}; charset=utf-8`, usageCsv(shown, form, quantiles));
      return {
        meterId: meterKey,
        aggregation,
        from: timestampText(span.fromMs),
        to: timestampText(span.toMs),
        ...(query.granularity ? { granularity: query.granularity } : {}),
        timezone,
        groupBy: [...groupBy],
        source: usage.source,
        ...shown,
        ...(unit === null ? {} : { unit }),
        asOf: timestampText(asOfMs),
      };
    });
  };
}

const CSV = 'text/csv';

async function findFiltered({ db, environment }: RequestContext, name: string): Promise<string> {
  const customerId = await findCustomerId(db, environment, name);
  if (customerId !== undefined) return customerId;
  const param = `filter[${BY_CUSTOMER}]`;
  throw new Rejected('customer_not_found', `There is no customer ${name}.`, { param });
}
