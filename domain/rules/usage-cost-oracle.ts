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
  /** Of the features on the meter; null: one is unlimited. */
  limits: OneLimit[] | null;
  /** Which subscription gives the periods; undefined: the calendar. */
  subscription: 'a' | 'b' | undefined;
  /** Recorded before this settlement: a clock may notice late what it does. */
  round: number;
}

export interface OneLimit {
  /** In thousandths. */
  amount: number;
  resets: SlowResets;
}

export type SlowResets = 'day' | 'week' | 'month' | 'billing_period' | 'never';
const RESETS = ['day', 'week', 'month', 'billing_period', 'never'] as const;

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

const oneLimit = (resets: readonly SlowResets[]): fc.Arbitrary<OneLimit> =>
  fc.record({ amount: fc.integer({ min: 0, max: 900 }), resets: fc.constantFrom(...resets) });

/** Of a history: with all of them in each, hardly any would last. */
const kinds = fc.constantFrom<readonly SlowResets[]>(
  ['billing_period'],
  ['never'],
  ['day'],
  ['week', 'month'],
  ['billing_period', 'never', 'day'],
  RESETS,
);

const limitChange = (resets: readonly SlowResets[]) =>
  fc
    .record({
      startMs: anyTime,
      limits: fc.oneof(
        { weight: 5, arbitrary: fc.array(oneLimit(resets), { maxLength: 2 }) },
        { weight: 1, arbitrary: fc.constant(null) },
      ),
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
  limits: kinds.chain((some) => fc.array(limitChange(some), { maxLength: 4 })).map(byStart),
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
  stretch: Stretch;
}

/** What is settled as one. */
export interface SettledSpan {
  fromMs: number;
  toMs: number;
  /** The billing period that it is in, and when the subscription began to give the periods. */
  billing: { fromMs: number; toMs: number };
  sinceMs: number;
  /** From where days, weeks and months are counted; undefined: by the calendar. */
  anchorMs: number | undefined;
}

/**
 * In thousandths of a credit, of the events of one span. Events of a stretch of the same limits and one
 * version of the rates (an hour of it, where it has rates by region; a part of it, where a window begins in
 * it) count as simultaneous: a correction among them lowers what they use of its region, and the dearest
 * usage is covered first. A unit is free where any limit has something left in its own window.
 */
export function expectedCost(history: UsageHistory, span: SettledSpan): number {
  const units: Unit[] = [];
  const overdrawn: Array<{ atMs: number; amount: number }> = [];
  for (const stretch of stretchesOf(history, span)) {
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
      overdrawn.push({ atMs: stretch.atMs, amount: rest });
    }
    for (const { region, value, rate } of uses.filter((use) => use.value > 0)) {
      for (let unit = 0; unit < value; unit += 1) units.push({ region, rate, stretch });
    }
  }
  const places = new Map<Stretch, number>();
  units.forEach(({ stretch }, at) => void (places.has(stretch) || places.set(stretch, at)));
  // What was used of each limit when a stretch begins.
  const usedOf = (stretch: Stretch, fromMs: number) => {
    const isIn = (atMs: number) => fromMs <= atMs && atMs <= stretch.atMs;
    const first = units.slice(0, places.get(stretch)).filter((one) => isIn(one.stretch.atMs)).length;
    const under = overdrawn.filter((one) => isIn(one.atMs)).reduce((sum, one) => sum + one.amount, 0);
    const earlier = history.events.filter((one) => fromMs <= one.atMs && one.atMs < span.fromMs);
    return first - under + earlier.reduce((sum, { value }) => sum + value, 0);
  };
  return [...places.keys()].reduce((sum, stretch) => {
    if (stretch.limits === null) return sum;
    // What nothing was left for is made up for by what comes after it.
    const left = [{ amount: 0, fromMs: span.fromMs }]
      .concat(
        stretch.limits.map(({ amount, resets }) => {
          return { amount, fromMs: windowStart(span, resets, stretch.atMs) };
        }),
      )
      .map(({ amount, fromMs }) => amount - usedOf(stretch, fromMs));
    const own = units.filter((unit) => unit.stretch === stretch);
    return own.reduce((cost, { rate }, at) => (left.some((one) => at < one) ? cost : cost + rate), sum);
  }, 0);
}

interface Stretch {
  limits: LimitSince['limits'];
  /** Of its first event. */
  atMs: number;
  uses: Array<{ region: string; value: number; rate: number }>;
}

function stretchesOf(history: UsageHistory, span: SettledSpan): Stretch[] {
  const stretches = new Map<string, Stretch>();
  const inside = history.events.filter(({ atMs }) => span.fromMs <= atMs && atMs < span.toMs);
  const kinds = kindsIn(history, span);
  for (const { atMs, value, region } of [...inside].sort((a, b) => a.atMs - b.atMs)) {
    const since = ratesAt(history, atMs);
    const changes = history.limits.filter(({ startMs }) => startMs <= atMs);
    const limits = changes.length === 0 ? [] : (changes.at(-1) as LimitSince).limits;
    const hour = since.byRegion ? Math.floor(atMs / HOUR_MS) : 0;
    const windows = kinds.map((resets) => windowStart(span, resets, atMs));
    const name = [sinceSame(changes), history.rates.indexOf(since), hour, ...windows].join(' ');
    const stretch = stretches.get(name) ?? { limits, uses: [], atMs };
    stretches.set(name, stretch);
    const own = since.byRegion ? region : '';
    const label = since.byRegion && region === 'ap' ? '' : own;
    const use = stretch.uses.find((one) => one.region === label);
    if (use) use.value += value;
    else stretch.uses.push({ region: label, value, rate: rateOf(since, region) });
  }
  return [...stretches.values()];
}

/** The windows that usage of the billing period is counted in. */
function kindsIn({ limits }: UsageHistory, { billing }: SettledSpan): SlowResets[] {
  const held = limits.filter(({ startMs }, at) => {
    return startMs < billing.toMs && (limits[at + 1]?.startMs ?? Number.POSITIVE_INFINITY) > billing.fromMs;
  });
  const kinds = held.flatMap((one) => (one.limits ?? []).map(({ resets }) => resets));
  return [...new Set(kinds)].filter((one) => one === 'day' || one === 'week' || one === 'month');
}

/** Step by step from the anchor. */
function windowStart({ billing, sinceMs, anchorMs }: SettledSpan, resets: SlowResets, atMs: number): number {
  if (resets === 'never') return Math.min(sinceMs, billing.fromMs);
  if (resets === 'billing_period') return billing.fromMs;
  // Monday, the first of a year.
  let startMs = anchorMs ?? (resets === 'month' ? Date.UTC(2025, 0, 1) : Date.UTC(2025, 0, 6));
  for (let next = startMs, n = 1; next <= atMs; n += 1) {
    startMs = next;
    next = later(anchorMs ?? startMs, resets, anchorMs === undefined ? 1 : n);
  }
  return Math.max(startMs, billing.fromMs);
}

function later(fromMs: number, resets: 'day' | 'week' | 'month', count: number): number {
  if (resets === 'day') return fromMs + count * DAY_MS;
  if (resets === 'week') return fromMs + count * 7 * DAY_MS;
  const at = new Date(fromMs);
  const lastDay = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + count + 1, 0)).getUTCDate();
  const day = Math.min(at.getUTCDate(), lastDay);
  const midnight = Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + count, day);
  return midnight + (fromMs % DAY_MS);
}

/** When the limits that hold began to hold without an interruption. */
function sinceSame(changes: readonly LimitSince[]): number {
  const text = ({ limits }: LimitSince) => JSON.stringify(limits);
  let sinceMs = 0;
  for (const change of [...changes].reverse()) {
    if (text(change) !== text(changes.at(-1) as LimitSince)) return sinceMs;
    sinceMs = change.startMs;
  }
  return changes.at(-1)?.limits?.length === 0 ? 0 : sinceMs;
}
