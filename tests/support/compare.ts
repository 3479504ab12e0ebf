import { type Api, type ApiResponse, getPatiently } from './api.ts';
import { numberText, plainText, units } from './exact.ts';
import {
  aggregate,
  breakdown,
  type ExpectedBreakdown,
  folded,
  OTHER,
  type Span,
  windowSpan,
  within,
} from './expected-usage.ts';
import { type KeptEvent, type Ledger, shownFault } from './ledger.ts';
import { severalAtOnce } from './several-at-once.ts';
import { DIMENSIONS, type World } from './world.ts';

export interface Judged {
  api: Api;
  ledger: Ledger;
  world: World;
}

/** One (customer, meter) with everything acknowledged for it. */
interface CustomerMeter {
  customer: World['customers'][number];
  meter: World['meters'][number];
  events: KeptEvent[];
}

/** A store that was just killed is given this long. */
const PATIENCE_MS = 30_000;

/** Every counter that is not what the ledger says, as a sentence each: this month's and the last one's. */
export async function compareCounters({ api, ledger, world }: Judged): Promise<string[]> {
  return eachOf(pairsOf(ledger, world), async (pair) => {
    const path = `${usagePath(pair.customer, pair.meter)}?consistency=strong`;
    const { span, response } = await steadily('month', () => getPatiently(api, path, PATIENCE_MS));
    const past = await monthFaults(api, pair, span.fromMs - 1);
    return [...counterFaults(pair, path, span, response), ...past];
  });
}

/** The same for the months that contain these times, past or present. */
export async function compareMonths({ api, ledger, world }: Judged, times: number[]): Promise<string[]> {
  return eachOf(pairsOf(ledger, world), async (pair) => {
    const found: string[] = [];
    for (const time of times) found.push(...(await monthFaults(api, pair, time)));
    return found;
  });
}

async function monthFaults(api: Api, pair: CustomerMeter, time: number): Promise<string[]> {
  const at = new Date(time).toISOString();
  const path = `${usagePath(pair.customer, pair.meter)}?consistency=strong&at=${at}`;
  const response = await getPatiently(api, path, PATIENCE_MS);
  return counterFaults(pair, path, windowSpan('month', time), response);
}

function counterFaults(
  { customer, meter, events }: CustomerMeter,
  path: string,
  span: Span,
  response: ApiResponse,
): string[] {
  const seen = (response.body ?? {}) as Record<string, unknown>;
  return differences(path, response.status, seen, {
    customerId: customer.id,
    meterId: meter.key,
    current: aggregate(within(events, span), meter),
    periodStart: new Date(span.fromMs).toISOString(),
    periodEnd: new Date(span.toMs).toISOString(),
    unit: meter.unit,
  });
}

const WINDOWS = ['current_period', 'day', 'week', 'month', 'all', 'custom'] as const;

/**
 * The same for breakdowns: these windows by these dimensions, for every pair. By default each window by each
 * dimension, of each meter for one customer in three: a breakdown takes some 50 ms, and all of them would be
 * half of a test.
 */
export async function compareBreakdowns(
  { api, ledger, world }: Judged,
  windows: readonly string[] = WINDOWS,
  given?: readonly string[],
): Promise<string[]> {
  const { customers, meters } = world;
  return eachOf(pairsOf(ledger, world), async (pair) => {
    const found: string[] = [];
    for (const window of windows) {
      const nth = customers.indexOf(pair.customer) + meters.indexOf(pair.meter) + windows.indexOf(window);
      const dimensions = given ?? DIMENSIONS.filter((_, at) => (nth + at) % 3 === 0);
      const expectedWithin = memoized((span) => within(pair.events, span));
      const custom = window === 'custom' ? customSpan(pair.events) : undefined;
      for (const dimension of dimensions) {
        const path = breakdownPath(pair, dimension, custom ? isoSpan(custom) : { window });
        const { span, response } = await steadily(window, () => getPatiently(api, path, PATIENCE_MS));
        const expected = breakdown(expectedWithin(custom ?? span), pair.meter, dimension);
        const stated = {
          customerId: pair.customer.id,
          meterId: pair.meter.key,
          dimension,
          window,
          ...flatten(expected),
        };
        const seen = (response.body ?? {}) as Record<string, unknown>;
        found.push(...differences(path, response.status, { ...seen, ...flattenSeen(seen) }, stated));
      }
    }
    return found;
  });
}

function breakdownPath(
  { customer, meter }: CustomerMeter,
  dimension: string,
  more: Record<string, string>,
): string {
  const query = new URLSearchParams({ dimension, limit: '1000', ...more });
  return `${usagePath(customer, meter)}/breakdown?${query}`;
}

const SHOWN = 5;

/** The same for a breakdown cut short: the first few groups, then all the others as one. */
export async function compareFolded({ api, ledger, world }: Judged): Promise<string[]> {
  return eachOf(pairsOf(ledger, world), async (pair) => {
    const path = breakdownPath(pair, 'user', { window: 'all', limit: String(SHOWN) });
    const response = await getPatiently(api, path, PATIENCE_MS);
    const seen = (response.body ?? {}) as { breakdown?: object[]; other?: object };
    const other = seen.other ? [{ ...seen.other, value: OTHER }] : [];
    const rows = flattenSeen({ breakdown: [...(seen.breakdown ?? []), ...other] });
    const expected = folded(pair.events, pair.meter, 'user', SHOWN);
    return differences(path, response.status, { ...seen, ...rows }, flatten(expected));
  });
}

/** The last span's events: a window is the same for one dimension after the other, until the day is over. */
function memoized(select: (span: Span) => KeptEvent[]): (span: Span) => KeptEvent[] {
  let last: { span: Span; events: KeptEvent[] } | undefined;
  return (span) => {
    const same = last?.span.fromMs === span.fromMs && last.span.toMs === span.toMs;
    const current = same && last ? last : { span, events: select(span) };
    last = current;
    return current.events;
  };
}

/** The same for the list of stored events: each acknowledged event once, field by field, and no other. */
export async function compareEvents({ api, ledger, world }: Judged): Promise<string[]> {
  return eachOf(pairsOf(ledger, world), async ({ customer, meter, events }) => {
    const missing = new Map(events.map((entry) => [entry.id, entry]));
    const found: string[] = [];
    for await (const shown of listedEvents(api, usagePath(customer, meter))) {
      const id = String(shown.id);
      const entry = missing.get(id);
      const fault = entry ? shownFault(entry, shown, world) : 'was not acknowledged, or is listed twice';
      if (fault !== undefined) found.push(`${id}: ${fault}`);
      missing.delete(id);
    }
    for (const id of missing.keys()) found.push(`${id}: is not listed`);
    return found;
  });
}

async function* listedEvents(api: Api, path: string): AsyncGenerator<Record<string, unknown>> {
  let cursor: string | undefined;
  do {
    const query = new URLSearchParams({ limit: '1000', ...(cursor === undefined ? {} : { cursor }) });
    const response = await getPatiently(api, `${path}/events?${query}`, PATIENCE_MS);
    if (response.status !== 200) throw new Error(`${path}/events returned ${response.status}`);
    const page = response.body as { data: Array<Record<string, unknown>>; nextCursor?: string | null };
    yield* page.data;
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
}

function pairsOf(ledger: Ledger, world: World): CustomerMeter[] {
  const pairs = world.customers.map((customer) => {
    return world.meters.map((meter): CustomerMeter => ({ customer, meter, events: [] }));
  });
  for (const entry of ledger.events()) pairs[entry.event.customer]?.[entry.event.meter]?.events.push(entry);
  return pairs.flat();
}

/** Customers with an external id are requested by that id. */
function usagePath(customer: CustomerMeter['customer'], meter: CustomerMeter['meter']): string {
  return `/usage/${encodeURIComponent(customer.externalId ?? customer.id)}/${encodeURIComponent(meter.key)}`;
}

/** Reads again when a calendar bound passed between request and response. */
async function steadily<T>(window: string, ask: () => Promise<T>): Promise<{ span: Span; response: T }> {
  for (;;) {
    const before = windowSpan(window, Date.now());
    const response = await ask();
    if (windowSpan(window, Date.now()).fromMs === before.fromMs) return { span: before, response };
  }
}

/** From one event's instant to another's: the first is counted, the last is not. */
function customSpan(events: KeptEvent[]): Span {
  const known = events.flatMap(({ event }) => event.occurredAtMs ?? []).sort((a, b) => a - b);
  const fromMs = known[Math.floor(known.length / 5)] ?? Date.now() - 86_400_000;
  const toMs = known[Math.floor((known.length * 4) / 5)] ?? Date.now();
  return toMs > fromMs ? { fromMs, toMs } : { fromMs, toMs: fromMs + 1 };
}

function isoSpan({ fromMs, toMs }: Span): { from: string; to: string } {
  return { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
}

function flatten({ total, totalCreditCost, items }: ExpectedBreakdown): Record<string, unknown> {
  const rows = items.map((item) => {
    const numbers = [plainText(item.total), item.count, plainText(item.creditCost)];
    return `${JSON.stringify(item.value)} ${numbers.join(' ')}`;
  });
  return { total, totalCreditCost, rows: rows.join('\n') };
}

function flattenSeen(seen: Record<string, unknown>): Record<string, unknown> {
  const items = Array.isArray(seen.breakdown) ? seen.breakdown : [];
  const rows = items.map((item: Record<string, unknown>) => {
    const numbers = ['total', 'count', 'creditCost'].map((name) => plainText(unitsOf(item[name]) ?? -1n));
    return `${JSON.stringify(item.value)} ${numbers.join(' ')}`;
  });
  return { rows: rows.join('\n') };
}

function unitsOf(value: unknown): bigint | undefined {
  const text = numberText(value);
  return text === undefined ? undefined : units(text);
}

/** Expected bigints are compared as decimals, all else as it is. */
function differences(
  path: string,
  status: number,
  seen: Record<string, unknown>,
  expected: Record<string, unknown>,
): string[] {
  if (status !== 200) return [`${path}: ${status} ${JSON.stringify(seen)}`];
  return Object.entries(expected).flatMap(([name, value]) => {
    const same = typeof value === 'bigint' ? unitsOf(seen[name]) === value : seen[name] === value;
    const stated = typeof value === 'bigint' ? plainText(value) : String(value);
    const shown = numberText(seen[name]) ?? String(seen[name]);
    return same ? [] : [`${path}: ${name} is ${firstDifference(shown, stated)}`];
  });
}

/** Of long lists only the place where they part. */
function firstDifference(seen: string, expected: string): string {
  const [seenRows, expectedRows] = [seen.split('\n'), expected.split('\n')];
  const at = expectedRows.findIndex((row, index) => row !== seenRows[index]);
  const row = at < 0 ? expectedRows.length : at;
  return `${seenRows[row]}, expected ${expectedRows[row]} (row ${row} of ${expectedRows.length})`;
}

const REQUESTED_AT_ONCE = 3;
const FAULTS_SHOWN = 10;

async function eachOf(
  pairs: CustomerMeter[],
  judge: (pair: CustomerMeter) => Promise<string[]>,
): Promise<string[]> {
  const found: string[] = [];
  await severalAtOnce(pairs, REQUESTED_AT_ONCE, async (pair) => {
    found.push(...(await judge(pair)));
  });
  const more = found.length - FAULTS_SHOWN;
  return more > 0 ? [...found.slice(0, FAULTS_SHOWN), `and ${more} more`] : found;
}
