import { labelOfValue, type RateVersion } from '../../domain/rules/credit-cost.ts';
import { labelOf } from '../../domain/store/aggregate-sql.ts';

/** The newest version that had begun when an event occurred; 0 is before the first. */
export const VERSION = `arrayLastIndex(
  start -> toInt64(start) <= toUnixTimestamp64Milli(occurred_at), {starts:Array(String)})`;

/** The version and the label of a rate, as {@link rateParams} lists them for all values with a rate. */
const RATE = `arrayFirst(rate -> has({rates:Array(String)}, rate),
  [concat(toString(${VERSION}), '=', ${labelOf(`{properties:Array(String)}[${VERSION}]`)})])`;

export function rateParams(versions: readonly RateVersion[]): Record<string, string[]> {
  return {
    starts: versions.map(({ startMs }) => String(startMs)),
    properties: versions.map(({ rates }) => rates?.property?.name ?? ''),
    rates: versions.flatMap(({ rates }, at) =>
      Object.keys(rates?.property?.rates ?? {}).map((value) => `${at + 1}${labelOfValue(value)}`),
    ),
  };
}

export function byRateSql(amount: string, versions: readonly RateVersion[]): string {
  const [first, ...others] = versions;
  if (!first) return 'tuple(emptyArrayString(), emptyArrayUInt64())';
  const isOfAll = others.length === 0 && first.startMs === 0 && !first.rates?.property;
  // A map of one name costs as much as a map of many.
  if (isOfAll) return `tuple(['${first.version}'], [sum(${amount})])`;
  return `sumMap([if(${RATE} != '', ${RATE}, toString(${VERSION}))], [${amount}])`;
}

/** The same of hours, where no rate is by a property. */
export function byVersionSql(amount: string, versions: readonly RateVersion[]): string {
  return versions.length === 0
    ? 'tuple(emptyArrayString(), emptyArrayUInt64())'
    : `sumMap([toString(${VERSION})], [${amount}])`;
}
