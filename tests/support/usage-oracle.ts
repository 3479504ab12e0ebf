/**
 * Events of a test, and the expected results of every read, summed here in bigints of 10^-12. It shares no
 * arithmetic with the product, so that no fault of the product can hide here.
 */
import { createHash } from 'node:crypto';
import type { Span } from '../../schemas/primitives/calendar.ts';
import { base32 } from '../../schemas/primitives/ids.ts';
import type { Aggregation } from '../../schemas/usage-limits.ts';
import { createRandom } from './random.ts';

export interface Happening {
  id: string;
  units: bigint;
  occurredAtMs: number;
  createdAtMs: number;
  /** As they are shown and grouped by. */
  properties: Record<string, string | number | boolean>;
}

const ONE = 10n ** 12n;
const DAY_MS = 86_400_000;

/**
 * The same for the same seed: over 70 days before `nowMs`, some exactly on the bounds of hours, some at the
 * same time.
 */
export function makeHappenings(count: number, nowMs: number, seed = 1): Happening[] {
  const { below, chance, pick } = createRandom(seed);
  return Array.from({ length: count }, (_, index) => {
    const at = nowMs - below(70 * DAY_MS);
    const onBound = Math.floor(at / 3_600_000) * 3_600_000 - pick([0, 1]);
    return {
      id: `event ${seed} ${index}`,
      units: pick([1n, -1n]) * BigInt(below(1e15)) * pick([1n, 1000n, 999_983n]),
      occurredAtMs: chance(0.2) ? onBound : at,
      createdAtMs: nowMs - below(3),
      properties: {
        ...(chance(0.8) ? { region: pick(['eu', 'us', 'ap', '1', '']) } : {}),
        ...(chance(0.5) ? { size: pick([1, 2.5, -3]) } : {}),
        ...(chance(0.5) ? { cached: pick([true, false]) } : {}),
      },
    };
  });
}

export function within(happenings: Happening[], { fromMs, toMs }: Span): Happening[] {
  return happenings.filter(({ occurredAtMs }) => fromMs <= occurredAtMs && occurredAtMs < toMs);
}

/** The id under which a meter's copy of the event is stored. */
export function storedId({ id }: Happening, meterKey: string): string {
  return `use_${base32(createHash('md5').update(`${id} ${meterKey}`).digest())}`;
}

/** In units of 10^-12; a `unique` meter counts values of `region`. */
export function expectedValue(happenings: Happening[], aggregation: Aggregation): bigint {
  return aggregateOf(happenings, aggregation, {
    units: (one) => one.units,
    label: ({ properties }) => properties.region,
    isLater: (a, b) => isLater(a, b, aggregation),
  });
}

/** How an aggregate reads the events of a test, whatever they are. */
export interface EventReader<E> {
  units(event: E): bigint;
  /** What a `unique` meter counts; undefined where the event has no such property. */
  label(event: E): string | number | boolean | undefined;
  isLater(a: E, b: E): boolean;
}

/** A meter's value over these events, units of 10^-12; of none 0. The only such sum in the tests. */
export function aggregateOf<E>(events: E[], aggregation: Aggregation, reader: EventReader<E>): bigint {
  const { units, label, isLater } = reader;
  const one = (isBetter: (a: E, b: E) => boolean) => () =>
    units(events.reduce((a, b) => (isBetter(b, a) ? b : a)));
  const values: Record<Aggregation, () => bigint> = {
    sum: () => events.reduce((sum, event) => sum + units(event), 0n),
    count: () => BigInt(events.length) * ONE,
    max: one((a, b) => units(a) > units(b)),
    latest: one(isLater),
    unique: () => BigInt(new Set(events.flatMap((event) => label(event) ?? []).map(String)).size) * ONE,
  };
  return events.length === 0 ? 0n : values[aggregation]();
}

export interface ExpectedGroup {
  value: string;
  total: bigint;
  count: number;
}

/** In the order of `byTotal`. */
export function expectedGroups(
  happenings: Happening[],
  aggregation: Aggregation,
  labelOf: (happening: Happening) => string,
): ExpectedGroup[] {
  const groups = [...groupedBy(happenings, labelOf)].map(([value, same]) => {
    return { value, total: expectedValue(same, aggregation), count: same.length };
  });
  return groups.sort(byTotal);
}

export function groupedBy<E>(events: Iterable<E>, labelOf: (event: E) => string): Map<string, E[]> {
  const groups = new Map<string, E[]>();
  for (const event of events) {
    const label = labelOf(event);
    const group = groups.get(label);
    if (group) group.push(event);
    else groups.set(label, [event]);
  }
  return groups;
}

/** Largest total first, ties by the label's bytes. */
export function byTotal(a: Pick<ExpectedGroup, 'value' | 'total'>, b: typeof a): number {
  if (a.total !== b.total) return a.total > b.total ? -1 : 1;
  return Buffer.compare(Buffer.from(a.value), Buffer.from(b.value));
}

/** Units of 10^-`digits` from the text of a JSON number without exponent. */
export function unitsOf(text: string, digits = 12): bigint {
  const [integer = '', fraction = ''] = text.split('.');
  if (!/^-?\d+$/.test(integer) || fraction.length > digits) throw new Error(`no such decimal: ${text}`);
  return BigInt(integer + fraction.padEnd(digits, '0'));
}

/** The text that a line carries. */
export function unitsAsText(units: bigint): string {
  const digits = (units < 0n ? -units : units).toString().padStart(13, '0');
  return `${units < 0n ? '-' : ''}${digits.slice(0, -12)}.${digits.slice(-12)}`;
}

/** Ids decide in the end. They depend on the meter, which these tests name by its aggregation. */
function isLater(a: Happening, b: Happening, meterKey: string): boolean {
  if (a.occurredAtMs !== b.occurredAtMs) return a.occurredAtMs > b.occurredAtMs;
  if (a.createdAtMs !== b.createdAtMs) return a.createdAtMs > b.createdAtMs;
  return storedId(a, meterKey) > storedId(b, meterKey);
}
