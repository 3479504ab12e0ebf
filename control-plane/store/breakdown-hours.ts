import type { RateVersion } from '../../domain/rules/credit-cost.ts';
import { AGGREGATE_SQL } from '../../domain/store/aggregate-sql.ts';
import type { UsageSources } from '../../domain/store/usage-sources.ts';
import { HOUR_MS, type Span } from '../../schemas/primitives/calendar.ts';
import type { ZoneOffset } from '../analytics/zone-offsets.ts';
import type { CustomerMeter } from '../usage/customer-meter.ts';
import { TIME_FORMATS, timeLabelSql } from './breakdown-labels.ts';
import { byVersionSql, VERSION } from './breakdown-rates.ts';
import { IN_WHOLE_HOURS, lackingSql, mergedState, valuesSql } from './by-property-sql.ts';
import type { PropertyFilter } from './usage-filter.ts';
import { OF_CUSTOMER_METER } from './usage-sql.ts';

export interface BreakdownQuestion {
  customerMeter: CustomerMeter;
  /** A property, or one of {@link TIME_FORMATS}. */
  dimension: string;
  /** Of the local time by which hours, days and months are counted; undefined: UTC. */
  offsets: readonly ZoneOffset[] | undefined;
  filter: PropertyFilter;
  quantiles: readonly number[];
  order: 'time' | 'total';
  /** Undefined: all there is. */
  span: Span | undefined;
  /** The meter's rates, by their start. */
  versions: readonly RateVersion[];
  /** Groups shown one by one. */
  limit: number;
}

/** The rollup of hours that has what is asked for, and its groups; `property`: of usage_by_property. */
export interface HoursOfRollup {
  sql: string;
  property: string | undefined;
}

export function hoursOf(question: BreakdownQuestion, sources: UsageSources): HoursOfRollup | undefined {
  const { dimension, filter, quantiles, offsets = [], order, versions } = question;
  if (sources.restates(question.customerMeter.meter.aggregation)) return undefined;
  // Their edges may be any hour of the span; single values are in no rollup.
  if (
    quantiles.length > 0 ||
    offsets.some(({ offsetMs, fromMs }) => offsetMs % HOUR_MS || fromMs % HOUR_MS)
  ) {
    return undefined;
  }
  const isTime = TIME_FORMATS.has(dimension);
  const [ofFilter, ...others] = filter;
  const isRatedBy = (name: string | undefined) =>
    versions.every(({ rates }) => !rates?.property || rates.property.name === name);
  if (!isTime) {
    if (ofFilter || dimension === '' || order === 'time' || !isRatedBy(dimension)) return undefined;
    return { sql: valuesOfHours(question, sources), property: dimension };
  }
  if (others.length > 0 || !isRatedBy(undefined)) return undefined;
  const inSpan = `
           WHERE ${OF_CUSTOMER_METER} AND ${IN_WHOLE_HOURS} `;
  if (!ofFilter) {
    const from = { hours: sources.hours(inSpan), lacking: '0' };
    return { sql: timesOfHours(question, sources, from), property: undefined };
  }
  const [property, value] = ofFilter;
  if (property === '' || value === '') return undefined;
  const ofValue = `${inSpan}AND property = {filterName0:String} AND value = {filterValue0:String}`;
  const lacking = lackingSql(question.customerMeter.meter.aggregation, 'used.unordered');
  const from = { hours: sources.byProperty(ofValue), lacking };
  return { sql: timesOfHours(question, sources, from), property };
}

/** By time. The expressions of events find the beginning of the hour as the time of what occurred in it. */
function timesOfHours(
  question: BreakdownQuestion,
  sources: UsageSources,
  { hours, lacking }: { hours: string; lacking: string },
): string {
  const { dimension, offsets, versions } = question;
  const { aggregation } = question.customerMeter.meter;
  const amount = aggregation === 'count' ? 'toUInt64(used.events)' : 'CAST(used.total AS Decimal(38, 12))';
  return `
  SELECT ${timeLabelSql(dimension, offsets !== undefined)} AS label, toUInt64(sum(used.events)) AS counted,
         min(occurred_at) AS first, ${AGGREGATE_SQL[aggregation].ofHours} AS state,
         ${byVersionSql(amount, versions)} AS by_rate, 0 AS spread, toUInt64(${lacking}) AS lacking
    FROM (SELECT *, toDateTime64(hour, 3, 'UTC') AS occurred_at FROM ${hours}) AS used
   GROUP BY label${sources.notVoided('counted')}`;
}

/** By the values of the property that is the dimension. */
function valuesOfHours({ customerMeter, versions }: BreakdownQuestion, sources: UsageSources): string {
  const { aggregation } = customerMeter.meter;
  const amount =
    aggregation === 'count'
      ? 'toUInt64(toInt64(counts) * part.2)'
      : 'CAST(amounts * part.2 AS Decimal(38, 12))';
  const rate = "concat(toString(rate_version), '=', label)";
  const name = `if(has({rates:Array(String)}, ${rate}), ${rate}, toString(rate_version))`;
  const byRate =
    versions.length === 0
      ? 'tuple(emptyArrayString(), emptyArrayUInt64())'
      : `sumMap([rate_name], [rate_amount])`;
  const version =
    versions.length === 0 ? '0' : VERSION.replace('occurred_at', "toDateTime64(hour, 3, 'UTC')");
  const values = valuesSql({
    aggregation,
    keys: [`${version} AS rate_version`],
    more: `, ${versions.length === 0 ? "''" : name} AS rate_name, sum(${amount}) AS rate_amount`,
    where: `${OF_CUSTOMER_METER} AND ${IN_WHOLE_HOURS}`,
    sources,
  });
  const { merged } = AGGREGATE_SQL[aggregation];
  return `
  SELECT label, sum(one.counted) AS counted, toDateTime64(0, 3, 'UTC') AS first,
         ${mergedState(merged)} AS state, ${byRate} AS by_rate, 0 AS spread, max(one.lacking) AS lacking
    FROM (${values}) AS one
   GROUP BY label`;
}
