/**
 * Histories of usage for tests, and what they must have burned in the end, told by walking the events one by
 * one. Shares no arithmetic with the rules: a fault there cannot hide here.
 */
import fc from 'fast-check';
import type { Span } from './calendar.ts';

export interface UsedEvent {
  atMs: number;
  /** In thousandths. */
  value: number;
  region: 'eu' | 'us' | 'ap';
  /** Counted in this settlement and all after it. */
  round: number;
}

export interface RatesSince {
  startMs: number;
  rate: number;
  byRegion: { eu: number; us: number } | undefined;
}

export interface UsageHistory {
  events: UsedEvent[];
  /** Ascending; the first from 0 on. */
  rates: RatesSince[];
  limit: number | undefined;
  rounds: number;
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** Two weeks and a half, with the bounds of days, of weeks and of a month in between. */
export const SPAN: Span = { fromMs: Date.UTC(2026, 0, 26, 10, 20), toMs: Date.UTC(2026, 1, 12) };
const ROUNDS = 4;

const anyTime = fc.oneof(
  fc.integer({ min: SPAN.fromMs, max: SPAN.toMs - 1 }),
  fc.constantFrom(Date.UTC(2026, 1, 1), Date.UTC(2026, 1, 1) - 1, SPAN.fromMs + 7 * DAY_MS, SPAN.fromMs),
  fc.integer({ min: 0, max: 30 }).map((step) => SPAN.fromMs + step * (HOUR_MS / 2)),
);

const rates = fc
  .record({
    startMs: anyTime,
    rate: fc.integer({ min: 0, max: 5 }),
    byRegion: fc.option(fc.record({ eu: fc.integer({ min: 0, max: 9 }), us: fc.constant(3) }), {
      nil: undefined,
      freq: 1,
    }),
  })
  .map((one): RatesSince => one);

export const histories: fc.Arbitrary<UsageHistory> = fc.record({
  events: fc.array(
    fc.record({
      atMs: anyTime,
      value: fc.integer({ min: 0, max: 900 }),
      region: fc.constantFrom('eu' as const, 'us' as const, 'ap' as const),
      round: fc.integer({ min: 0, max: ROUNDS - 1 }),
    }),
    { maxLength: 14 },
  ),
  rates: fc
    .array(rates, { maxLength: 2 })
    .chain((later) =>
      rates.map((first) => [{ ...first, startMs: 0 }, ...later.sort((a, b) => a.startMs - b.startMs)]),
    ),
  limit: fc.option(fc.integer({ min: 0, max: 2_000 }), { nil: undefined }),
  rounds: fc.constant(ROUNDS),
});

export function ratesAt({ rates: all }: UsageHistory, atMs: number): RatesSince {
  const running = all.filter(({ startMs }) => startMs <= atMs).at(-1);
  if (!running) throw new TypeError('the first rates hold from 0 on');
  return running;
}

export function rateOf({ rate, byRegion }: RatesSince, region: UsedEvent['region']): number {
  return byRegion && region !== 'ap' ? byRegion[region] : rate;
}

/**
 * In millionths of a credit: per period the limit is used up in the order of time, by stretches of one
 * version (an hour of it, where it has rates by region) and within one by what is dearest.
 */
export function expectedBurn(history: UsageHistory, periods: readonly Span[]): bigint {
  let burned = 0n;
  for (const { fromMs, toMs } of periods) {
    let free = history.limit === undefined ? 0n : BigInt(history.limit) * 1000n;
    const inside = history.events.filter(({ atMs }) => fromMs <= atMs && atMs < toMs);
    const ordered = inside
      .map((event) => ({ event, since: ratesAt(history, event.atMs) }))
      .sort((a, b) => {
        const [one, other] = [stretchOf(a.since, a.event.atMs), stretchOf(b.since, b.event.atMs)];
        return one - other || rateOf(b.since, b.event.region) - rateOf(a.since, a.event.region);
      });
    for (const { event, since } of ordered) {
      const value = BigInt(event.value);
      const covered = value < free ? value : free;
      free -= covered;
      burned += (value - covered) * BigInt(rateOf(since, event.region)) * 1000n;
    }
  }
  return burned;
}

function stretchOf({ startMs, byRegion }: RatesSince, atMs: number): number {
  return byRegion ? Math.max(startMs, Math.floor(atMs / HOUR_MS) * HOUR_MS) : startMs;
}
