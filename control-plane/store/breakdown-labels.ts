import { offsetText } from '../analytics/local-labels.ts';
import type { ZoneOffset } from '../analytics/zone-offsets.ts';

/** A map: a client's property may have the name of a member that every object has. */
export const TIME_FORMATS = new Map(
  Object.entries({ $hour: '%Y-%m-%dT%H:00:00.000', $day: '%Y-%m-%d', $month: '%Y-%m' }),
);

const zoneTimes = (name: string) => `arrayMap(text -> toInt64(text), {${name}:Array(String)})`;

/** As `localLabel` (control-plane/analytics/local-labels.ts) names it, by what {@link zoneParams} has. */
export function timeLabelSql(dimension: string, isLocal: boolean): string | undefined {
  const format = TIME_FORMATS.get(dimension);
  if (format === undefined) return undefined;
  const since = `roundDown(toUnixTimestamp64Milli(occurred_at), ${zoneTimes('zoneSince')})`;
  const ofZone = (values: string, none: string) =>
    `transform(${since}, ${zoneTimes('zoneSince')}, ${values}, ${none})`;
  const offset = ofZone(zoneTimes('zoneOffsets'), 'toInt64(0)');
  const local = `fromUnixTimestamp64Milli(toUnixTimestamp64Milli(occurred_at) + ${offset}, 'UTC')`;
  const label = `formatDateTime(${isLocal ? local : 'occurred_at'}, '${format}', 'UTC')`;
  if (dimension !== '$hour') return label;
  return `concat(${label}, ${isLocal ? ofZone('{zoneTexts:Array(String)}', "''") : "'Z'"})`;
}

export function zoneParams(offsets: readonly ZoneOffset[] = []): Record<string, string[]> {
  return {
    zoneSince: offsets.map(({ fromMs }) => String(fromMs)),
    zoneOffsets: offsets.map(({ offsetMs }) => String(offsetMs)),
    zoneTexts: offsets.map(({ offsetMs }) => offsetText(offsetMs)),
  };
}
