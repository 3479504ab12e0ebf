import { decimalUnits, unitsText } from '../../schemas/primitives/decimal.ts';

/** One hour of one meter of one customer. */
export interface HourKey {
  environment: string;
  customerId: string;
  meterKey: string;
  /** Its beginning, seconds since 1970 UTC. */
  hour: number;
}

export interface Sum {
  /** Of the values, in units of 10^-12. */
  units: bigint;
  events: number;
}

/** Sums by hour, keyed by {@link keyText}. */
export type HourSums = Map<string, Sum>;

export const HOUR_SECONDS = 3600;

/** The hour in which this millisecond is, seconds since 1970 UTC. */
export function hourOf(ms: number): number {
  return Math.floor(ms / 1000 / HOUR_SECONDS) * HOUR_SECONDS;
}

export function keyText({ environment, customerId, meterKey, hour }: HourKey): string {
  return JSON.stringify([environment, customerId, meterKey, hour]);
}

export function keyOf(text: string): HourKey {
  const [environment, customerId, meterKey, hour] = JSON.parse(text) as [string, string, string, number];
  return { environment, customerId, meterKey, hour };
}

/** `total`: a decimal's text. */
export function addTo(sums: HourSums, key: string, total: string, events: number): void {
  const sum = sums.get(key);
  if (sum) {
    sum.units += decimalUnits(total);
    sum.events += events;
  } else {
    sums.set(key, { units: decimalUnits(total), events });
  }
}

/** An hour in which two of the three places do not agree. */
export interface Difference extends Omit<HourKey, 'hour'> {
  /** ISO 8601. */
  hour: string;
  /**
   * `rollup`: the hourly sums contradict the stored events; `log`: the stored events contradict the log.
   * `lost`: more was counted than is stored, and the log does not go back far enough to show which is wrong.
   */
  kind: 'rollup' | 'log' | 'lost';
  expected: { total: string; events: number };
  found: { total: string; events: number };
}

/** The requested hours, by their keys, in which `found` differs from `expected`. */
export function differencesOf(
  kind: Difference['kind'],
  expected: HourSums,
  found: HourSums,
  isRequested: (key: string) => boolean,
): Difference[] {
  return allOf(kind, { expected, found }, (key) => {
    const [right, is] = [expected.get(key) ?? NOTHING, found.get(key) ?? NOTHING];
    return isRequested(key) && (right.units !== is.units || right.events !== is.events);
  });
}

/** The requested hours of either, also where their sums are the same. */
export function allOf(
  kind: Difference['kind'],
  { expected, found }: Record<'expected' | 'found', HourSums>,
  isRequested: (key: string) => boolean,
): Difference[] {
  const keys = new Set([...expected.keys(), ...found.keys()]);
  return [...keys].filter(isRequested).map((key) => {
    const { hour, ...rest } = keyOf(key);
    const iso = new Date(hour * 1000).toISOString();
    const sums = [expected.get(key) ?? NOTHING, found.get(key) ?? NOTHING] as const;
    return { ...rest, hour: iso, kind, expected: shown(sums[0]), found: shown(sums[1]) };
  });
}

const NOTHING: Sum = { units: 0n, events: 0 };

function shown({ units, events }: Sum): { total: string; events: number } {
  return { total: unitsText(units), events };
}
