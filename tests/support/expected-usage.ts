import { product, units } from './exact.ts';
import type { KeptEvent } from './ledger.ts';
import { aggregateOf, byTotal, groupedBy } from './usage-oracle.ts';
import type { MeterPlan } from './world.ts';

/** Half-open: from ≤ occurredAt < to, milliseconds. */
export interface Span {
  fromMs: number;
  toMs: number;
}

export interface ExpectedBreakdown {
  total: bigint;
  totalCreditCost: bigint;
  items: Array<{ value: string; total: bigint; count: number; creditCost: bigint }>;
}

function occurredAtOf(entry: KeptEvent): number {
  const ms = entry.event.occurredAtMs ?? entry.createdAtMs;
  if (ms === undefined) throw new Error(`no response showed when ${entry.id} was stored`);
  return ms;
}

export function within(events: KeptEvent[], { fromMs, toMs }: Span): KeptEvent[] {
  return events.filter((entry) => {
    const at = occurredAtOf(entry);
    return fromMs <= at && at < toMs;
  });
}

/** The meter's value over these events, units of 10^-12; nothing is 0. */
export function aggregate(events: KeptEvent[], { aggregation, property = '' }: MeterPlan): bigint {
  return aggregateOf(events, aggregation, {
    units: ({ event }) => event.value,
    label: ({ event }) => event.properties.find(({ name }) => name === property)?.label,
    isLater,
  });
}

/** Greatest (occurredAt, createdAt), then the order of arrival. */
function isLater(a: KeptEvent, b: KeptEvent): boolean {
  if (occurredAtOf(a) !== occurredAtOf(b)) return occurredAtOf(a) > occurredAtOf(b);
  if (a.createdAtMs === undefined || b.createdAtMs === undefined) throw new Error('a tie without createdAt');
  if (a.createdAtMs !== b.createdAtMs) return a.createdAtMs > b.createdAtMs;
  return a.order === undefined || b.order === undefined ? a.id > b.id : a.order > b.order;
}

/** Largest total first, equal ones by their text's bytes; events without the property are under ''. */
export function breakdown(events: KeptEvent[], meter: MeterPlan, dimension: string): ExpectedBreakdown {
  const groups = grouped(events, dimension);
  const items = [...groups].map(([value, group]) => itemOf(value, group, meter));
  items.sort(byTotal);
  const total = aggregate(events, meter);
  return { total, totalCreditCost: creditCostOf(events, meter), items };
}

/** The name under which `folded` puts what is not shown. */
export const OTHER = '(other)';

/** The same, cut to the first few groups; the events of all the others are one more. */
export function folded(
  events: KeptEvent[],
  meter: MeterPlan,
  dimension: string,
  shown: number,
): ExpectedBreakdown {
  const whole = breakdown(events, meter, dimension);
  const groups = grouped(events, dimension);
  const rest = whole.items.slice(shown).flatMap(({ value }) => groups.get(value) ?? []);
  const other = rest.length === 0 ? [] : [itemOf(OTHER, rest, meter)];
  return { ...whole, items: [...whole.items.slice(0, shown), ...other] };
}

function itemOf(value: string, events: KeptEvent[], meter: MeterPlan): ExpectedBreakdown['items'][number] {
  const creditCost = creditCostOf(events, meter);
  return { value, total: aggregate(events, meter), count: events.length, creditCost };
}

function grouped(events: KeptEvent[], dimension: string): Map<string, KeptEvent[]> {
  return groupedBy(events, (entry) => labelOf(entry, dimension));
}

/** Usage times rate, label by label where the meter has rates by a property. */
function creditCostOf(events: KeptEvent[], meter: MeterPlan): bigint {
  const { creditRate = '0', creditRates } = meter;
  if (!creditRates) return product(aggregate(events, meter), units(creditRate));
  const labels = [...grouped(events, creditRates.property)];
  return labels.reduce((cost, [label, group]) => {
    return cost + product(aggregate(group, meter), units(creditRates.rates[label] ?? creditRate));
  }, 0n);
}

function labelOf(entry: KeptEvent, dimension: string): string {
  if (dimension === '$hour') return `${hourText(occurredAtOf(entry))}:00:00.000Z`;
  if (dimension === '$day') return hourText(occurredAtOf(entry)).slice(0, 10);
  if (dimension === '$month') return hourText(occurredAtOf(entry)).slice(0, 7);
  return entry.event.properties.find(({ name }) => name === dimension)?.label ?? '';
}

const HOUR_MS = 3_600_000;
const hourTexts = new Map<number, string>();

/** `2026-01-01T00`. Kept per hour: printing a date for each event would cost more than all else here. */
function hourText(ms: number): string {
  const hour = Math.floor(ms / HOUR_MS);
  const known = hourTexts.get(hour);
  if (known !== undefined) return known;
  const text = new Date(hour * HOUR_MS).toISOString().slice(0, 13);
  hourTexts.set(hour, text);
  return text;
}

/** The current window at this time, UTC; a week begins on Monday. */
export function windowSpan(window: string, nowMs: number): Span {
  const now = new Date(nowMs);
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  if (window === 'all') return { fromMs: Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY };
  if (window === 'day') return { fromMs: Date.UTC(year, month, day), toMs: Date.UTC(year, month, day + 1) };
  if (window === 'week') {
    const monday = day - ((now.getUTCDay() + 6) % 7);
    return { fromMs: Date.UTC(year, month, monday), toMs: Date.UTC(year, month, monday + 7) };
  }
  return { fromMs: Date.UTC(year, month, 1), toMs: Date.UTC(year, month + 1, 1) };
}
