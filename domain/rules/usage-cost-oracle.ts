/**
 * Histories of usage, limits and rates for tests, and what they must have cost in the end, unit by unit in
 * the order in which they occurred. It shares no arithmetic with the rules: a fault there cannot hide here.
 */
import fc from 'fast-check';

export interface UsedEvent {
  atMs: number;
  /** In thousandths; a correction is negative. */
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

/** A change of what the customer holds. */
export interface LimitSince {
  startMs: number;
  /** In thousandths; null is unlimited. */
  limit: number | null | undefined;
  /** Which subscription gives the periods; undefined: the calendar. */
  subscription: 'a' | 'b' | undefined;
  /** Recorded before this settlement: a clock may notice late what it does. */
  round: number;
}

export interface UsageHistory {
  events: UsedEvent[];
  /** Ascending; the first from 0 on. */
  rates: RatesSince[];
  /** Ascending. */
  limits: LimitSince[];
  rounds: number;
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** Two weeks and a half, with the bounds of days, of weeks and of a month in between. */
export const SPAN = { fromMs: Date.UTC(2026, 0, 26, 10, 20), toMs: Date.UTC(2026, 1, 12) };
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
      freq: 2,
    }),
  })
  .map((one): RatesSince => one);

const limitChange = fc
  .record({
    startMs: anyTime,
    limit: fc.oneof(fc.integer({ min: 0, max: 900 }), fc.constantFrom(null, undefined)),
    subscription: fc.constantFrom('a' as const, 'b' as const, undefined),
    round: fc.integer({ min: 0, max: ROUNDS - 1 }),
  })
  .map((one): LimitSince => one);

function byStart<One extends { startMs: number }>(all: One[]): One[] {
  return [...all].sort((a, b) => a.startMs - b.startMs);
}

export const histories: fc.Arbitrary<UsageHistory> = fc.record({
  events: fc.array(
    fc.record({
      atMs: anyTime,
      value: fc.oneof(fc.integer({ min: 0, max: 400 }), fc.integer({ min: -300, max: 400 })),
      region: fc.constantFrom('eu' as const, 'us' as const, 'ap' as const),
      round: fc.integer({ min: 0, max: ROUNDS - 1 }),
    }),
    { maxLength: 14 },
  ),
  rates: fc
    .array(rates, { maxLength: 2 })
    .chain((later) => rates.map((first) => [{ ...first, startMs: 0 }, ...byStart(later)])),
  limits: fc.array(limitChange, { maxLength: 4 }).map(byStart),
  rounds: fc.constant(ROUNDS),
});

export function ratesAt({ rates: all }: UsageHistory, atMs: number): RatesSince {
  const running = all.filter(({ startMs }) => startMs <= atMs).at(-1);
  if (!running) throw new TypeError('the first rates hold from 0 on');
  return running;
}

function rateOf({ rate, byRegion }: RatesSince, region: UsedEvent['region']): number {
  return byRegion && region !== 'ap' ? byRegion[region] : rate;
}

/** One thousandth that was used. */
interface Unit {
  region: string;
  rate: number;
  limit: LimitSince['limit'];
  /** How much the corrections before it had nothing to take away from. */
  overdrawn: number;
}

/**
 * In thousandths of a credit, of the events of one period. Events of a stretch of one limit and one version
 * of the rates (an hour of it, where it has rates by region) count as simultaneous: a correction among them
 * lowers what they use of its region, and the dearest usage is covered first.
 */
export function expectedCost(
  history: UsageHistory,
  { fromMs, toMs }: { fromMs: number; toMs: number },
): number {
  const units: Unit[] = [];
  let overdrawn = 0;
  for (const stretch of stretchesOf(history, fromMs, toMs)) {
    const uses = [...stretch.uses].sort((a, b) => b.rate - a.rate || (a.region < b.region ? -1 : 1));
    for (const { region, value } of uses.filter((use) => use.value < 0)) {
      let rest = -value;
      for (const isMeant of [(unit: Unit) => unit.region === region, () => true]) {
        for (let at = units.length - 1; at >= 0 && rest > 0; at -= 1) {
          if (!isMeant(units[at] as Unit)) continue;
          units.splice(at, 1);
          rest -= 1;
        }
      }
      overdrawn += rest;
    }
    for (const { region, value, rate } of uses.filter((use) => use.value > 0)) {
      for (let unit = 0; unit < value; unit += 1)
        units.push({ region, rate, limit: stretch.limit, overdrawn });
    }
  }
  return units.reduce((cost, { rate, limit = 0, overdrawn: under }, at) => {
    return limit === null || at - under < limit ? cost : cost + rate;
  }, 0);
}

interface Stretch {
  limit: LimitSince['limit'];
  uses: Array<{ region: string; value: number; rate: number }>;
}

function stretchesOf(history: UsageHistory, fromMs: number, toMs: number): Stretch[] {
  const stretches = new Map<string, Stretch & { order: number }>();
  const inside = history.events.filter(({ atMs }) => fromMs <= atMs && atMs < toMs);
  for (const { atMs, value, region } of [...inside].sort((a, b) => a.atMs - b.atMs)) {
    const since = ratesAt(history, atMs);
    const changes = history.limits.filter(({ startMs }) => startMs <= atMs);
    const limit = changes.at(-1)?.limit;
    const runs = sinceSame(changes, limit);
    const hour = since.byRegion ? Math.floor(atMs / HOUR_MS) : 0;
    const name = `${runs} ${history.rates.indexOf(since)} ${hour}`;
    const stretch = stretches.get(name) ?? { limit, uses: [], order: atMs };
    stretches.set(name, stretch);
    const own = since.byRegion ? region : '';
    const label = since.byRegion && region === 'ap' ? '' : own;
    const use = stretch.uses.find((one) => one.region === label);
    if (use) use.value += value;
    else stretch.uses.push({ region: label, value, rate: rateOf(since, region) });
  }
  return [...stretches.values()];
}

/** When the limit that holds began to hold without an interruption. */
function sinceSame(changes: readonly LimitSince[], limit: LimitSince['limit']): number {
  let sinceMs = 0;
  for (const change of [...changes].reverse()) {
    if (change.limit !== limit) return sinceMs;
    sinceMs = change.startMs;
  }
  return limit === undefined ? 0 : sinceMs;
}
