import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BilledPeriod, billedPeriods } from './billed-periods.ts';
import { burnCells, burnStretch, type StoredBurn } from './burn-cells.ts';
import { type DueCell, duesOf, settleBurns } from './burn-dues.ts';
import { expectedBurn, histories, type rateOf, ratesAt, SPAN, type UsageHistory } from './burn-oracle.ts';
import { calendarSpan, type Span } from './calendar.ts';
import { labelOfValue, type RateVersion, UNRATED } from './credit-cost.ts';
import type { Grant, HeldSubscription, Holdings } from './resolve-entitlements.ts';

/*
 * The rules of burning against a walk over single events, in any order of arrival, with late events, rates
 * that change and limits.
 *
 * Breaks that turn it red: the newest version for all events; the period of now for a late event; a version's
 * usage counted from the limit anew; what a cut span had burned forgotten, or given to one piece; a negative
 * difference written; cells that are not touched but follow left out.
 */
const METER = 'calls';
const HISTORIES = 5_000;
const TURNED = 2_000;
const SLOW = { timeout: 90_000 };
const CYCLE_MS = 7 * 86_400_000;

describe('what usage burns', () => {
  it('is in the end what a walk over its events says, in whatever order they came', SLOW, () => {
    fc.assert(
      fc.property(histories, (history) => {
        const holdings = history.limit === undefined ? NOTHING : limited(`${history.limit}`, SPAN.fromMs);
        const { burned, stored } = settleInRounds(history, () => holdings);
        const periods = [periodAt(holdings, SPAN.fromMs), ...laterPeriods(holdings)];
        expect(burned).toBe(expectedBurn(history, periods) * 10n ** 18n);
        expect(sumOf(stored)).toBe(burned);
        expectDisjoint(stored);
      }),
      { numRuns: HISTORIES },
    );
  });

  it('is the same where the periods become others half-way, without a limit', SLOW, () => {
    const since = fc.integer({ min: SPAN.fromMs, max: SPAN.toMs - 1 });
    fc.assert(
      fc.property(histories, fc.integer({ min: 0, max: 4 }), since, (given, round, sinceMs) => {
        const history = { ...given, limit: undefined };
        const after = free(sinceMs);
        const { burned, stored } = settleInRounds(history, (now) => (now < round ? NOTHING : after));
        expect(burned).toBe(expectedBurn(history, [SPAN]) * 10n ** 18n);
        expect(sumOf(stored)).toBe(burned);
        expectDisjoint(stored);
      }),
      { numRuns: TURNED },
    );
  });

  it('never falls, and gives nothing back for a limit that is raised', SLOW, () => {
    const limits = fc.array(fc.integer({ min: 0, max: 2_000 }), { minLength: 4, maxLength: 4 });
    fc.assert(
      fc.property(histories, limits, (given, limited4) => {
        const history = { ...given, rates: given.rates.slice(0, 1) };
        const at = (round: number) => limited(`${limited4[round] ?? 0}`, SPAN.fromMs);
        const { burnedAfter } = settleInRounds(history, at);
        burnedAfter.reduce((before, now) => {
          expect(now >= before).toBe(true);
          return now;
        }, 0n);
        const highest = Math.max(...limited4);
        const lowest = Math.min(...limited4);
        const periods = [periodAt(at(0), SPAN.fromMs), ...laterPeriods(at(0))];
        const between = (limit: number) => expectedBurn({ ...history, limit }, periods) * 10n ** 18n;
        expect((burnedAfter.at(-1) ?? 0n) >= between(highest)).toBe(true);
        expect((burnedAfter.at(-1) ?? 0n) <= between(lowest)).toBe(true);
      }),
      { numRuns: TURNED },
    );
  });
});

describe('an allowance', () => {
  const atMs = Date.UTC(2026, 1, 10);
  const spans = (holdings: Holdings) =>
    billedPeriods(holdings, { meterKey: METER, firstMs: atMs, lastMs: atMs, nowMs: atMs }).periods.flatMap(
      (one) => one.spans,
    );
  const since = Date.UTC(2026, 1, 2);
  const MONTHLY = {
    cycle: { anchorMs: since, interval: 'month', intervalCount: 1 },
    periodEndMs: Date.UTC(2026, 2, 2),
  } as const;
  const held = (fields: Partial<HeldSubscription>): Holdings => ({
    ...NOTHING,
    subscriptions: [{ ...subscription('10', since), ...MONTHLY, ...fields }],
  });

  it('that has gone goes from that moment on', () => {
    const pausedMs = atMs - 1000;
    expect(spans(held({ status: 'paused', statusSinceMs: pausedMs }))).toEqual([
      { fromMs: since, toMs: pausedMs, allowance: '10' },
      { fromMs: pausedMs, toMs: Date.UTC(2026, 2, 2), allowance: undefined },
    ]);
    const end = { status: 'canceled', canceledAtMs: pausedMs } as const;
    const before = billedPeriods(held(end), {
      ...{ meterKey: METER, firstMs: since, lastMs: since, nowMs: atMs },
    });
    expect(before.periods[0]?.spans).toEqual([{ fromMs: since, toMs: pausedMs, allowance: '10' }]);
    expect(spans(held(end))).toEqual([
      { fromMs: Date.UTC(2026, 1, 1), toMs: since, allowance: undefined },
      { fromMs: pausedMs, toMs: Date.UTC(2026, 2, 1), allowance: undefined },
    ]);
  });

  it('of an override ends with it', () => {
    const override = { featureKey: 'f', type: 'metered' as const, meterKey: METER, value: '3' };
    const expiresAtMs = atMs - 5;
    expect(spans({ ...NOTHING, overrides: [{ ...override, expiresAtMs }] })).toEqual([
      { fromMs: Date.UTC(2026, 1, 1), toMs: expiresAtMs, allowance: '3' },
      { fromMs: expiresAtMs, toMs: Date.UTC(2026, 2, 1), allowance: undefined },
    ]);
  });

  it('that is unlimited lets nothing burn', () => {
    const rated = version({ startMs: 0, rate: 1, byRegion: undefined }, 1);
    expect(duesOf({ allowance: null, rated }, 0n, [{ label: UNRATED, units: 5n }])).toEqual([]);
  });

  it('leaves what occurred before credits were burned as it is', () => {
    const [rated] = [version({ startMs: 0, rate: 1, byRegion: undefined }, 1)];
    const question = { meterKey: METER, firstMs: since, lastMs: atMs, nowMs: atMs };
    const { periods } = billedPeriods(NOTHING, question);
    const facts = { holdings: NOTHING, versions: [{ ...rated, burnsFromMs: atMs }], stored: [] };
    const cells = burnCells(periods, facts, question).flatMap((one) => one.cells);
    expect(cells).toMatchObject([{ fromMs: atMs, toMs: Date.UTC(2026, 2, 1), isDue: true }]);
  });

  it('leaves moments of too many periods to the next question', () => {
    const interval = 'day';
    const cycle = { anchorMs: since, interval, intervalCount: 1, legacyIntervalMs: 1 } as const;
    const question = { meterKey: METER, firstMs: since, lastMs: since + 1000, nowMs: atMs };
    const { periods, restMs } = billedPeriods(held({ cycle, periodEndMs: since + 1 }), question);
    expect([periods.length, restMs]).toEqual([64, since + 64]);
  });
});

interface Rounds {
  stored: StoredBurn[];
  burned: bigint;
  burnedAfter: bigint[];
}

/** Settles after each round the moments that it touched, as the settler does: their first to their last. */
function settleInRounds(history: UsageHistory, holdingsIn: (round: number) => Holdings): Rounds {
  let stored: StoredBurn[] = [];
  let burned = 0n;
  const burnedAfter: bigint[] = [];
  for (let round = 0; round < history.rounds; round++) {
    const moments = history.events.filter((one) => one.round === round).map(({ atMs }) => atMs);
    const counted = { ...history, events: history.events.filter((one) => one.round <= round) };
    if (moments.length > 0) {
      const touched = { firstMs: Math.min(...moments), lastMs: Math.max(...moments) };
      const after = settle(counted, { holdings: holdingsIn(round), stored, touched });
      ({ stored } = after);
      burned += after.burned;
    }
    burnedAfter.push(burned);
  }
  return { stored, burned, burnedAfter };
}

interface Situation {
  holdings: Holdings;
  stored: StoredBurn[];
  touched: { firstMs: number; lastMs: number };
}

function settle(history: UsageHistory, { holdings, stored, touched }: Situation) {
  const versions = history.rates.map((one, at) => version(one, at + 1));
  const question = { meterKey: METER, ...touched, nowMs: touched.lastMs };
  const { periods } = billedPeriods(holdings, question);
  const stretch = burnStretch(periods, versions, question);
  const near = stored.filter((one) => one.fromMs < stretch.toMs && stretch.fromMs < one.toMs);
  const cells = burnCells(periods, { holdings, versions, stored: near }, question).flatMap(
    (period): DueCell[] => {
      let before = 0n;
      return period.cells.flatMap((cell) => {
        const usage = usageOf(history, cell);
        const dues = cell.isDue ? [{ ...cell, dues: duesOf(cell, before, usage) }] : [];
        before += usage.reduce((sum, { units }) => sum + units, 0n);
        return dues;
      });
    },
  );
  const { written, removed, owed } = settleBurns(cells, near);
  const left = stored.filter((one) => !removed.some((gone) => gone.fromMs === one.fromMs));
  const names = new Set(written.map(({ fromMs, label }) => `${fromMs} ${label}`));
  return {
    stored: [...left.filter(({ fromMs, label }) => !names.has(`${fromMs} ${label}`)), ...written],
    burned: owed.reduce((sum, { credits }) => sum + credits, 0n),
  };
}

function usageOf(history: UsageHistory, { fromMs, toMs }: Span) {
  const units = new Map<string, bigint>();
  for (const { atMs, value, region } of history.events) {
    if (atMs < fromMs || atMs >= toMs) continue;
    const hasOwn = ratesAt(history, atMs).byRegion && region !== 'ap';
    const label = hasOwn ? labelOfValue(region) : UNRATED;
    units.set(label, (units.get(label) ?? 0n) + BigInt(value) * 10n ** 9n);
  }
  return [...units].map(([label, sum]) => ({ label, units: sum }));
}

function version(rates: Parameters<typeof rateOf>[0], number: number): RateVersion {
  const { startMs, rate, byRegion } = rates;
  const own = byRegion && { eu: `${byRegion.eu}`, us: `${byRegion.us}` };
  return {
    version: number,
    startMs,
    burnsFromMs: startMs,
    rates: { rate: `${rate}`, ...(own ? { property: { name: 'region', rates: own } } : {}) },
  };
}

const NOTHING: Holdings = { graceMs: 0, subscriptions: [], overrides: [] };

/** With a cycle that begins in the middle of months. */
function limited(amount: string, sinceMs: number): Holdings {
  return { ...NOTHING, subscriptions: [subscription(amount, sinceMs)] };
}

/** A subscription that gives the meter its periods, and no limit. */
function free(sinceMs: number): Holdings {
  const one = subscription('0', sinceMs);
  return { ...NOTHING, subscriptions: [{ ...one, status: 'paused', statusSinceMs: 0 }] };
}

function subscription(amount: string, sinceMs: number): HeldSubscription {
  const grant: Grant = {
    ...{ featureKey: 'f', type: 'metered', meterKey: METER, source: 'plan:p', quantity: 1 },
    ...{ enabled: null, amount, soft: false },
  };
  return {
    status: 'active',
    statusSinceMs: sinceMs,
    createdAtMs: sinceMs,
    canceledAtMs: null,
    startsAtMs: sinceMs,
    cycle: { anchorMs: sinceMs, interval: 'week', intervalCount: 1 },
    periodStartMs: sinceMs,
    periodEndMs: sinceMs + CYCLE_MS,
    grants: [grant],
  };
}

function periodAt(holdings: Holdings, atMs: number): BilledPeriod | Span {
  const question = { meterKey: METER, firstMs: atMs, lastMs: atMs, nowMs: SPAN.toMs };
  return billedPeriods(holdings, question).periods[0] ?? calendarSpan('month', atMs);
}

function laterPeriods(holdings: Holdings): Span[] {
  const first = periodAt(holdings, SPAN.fromMs);
  const question = { meterKey: METER, firstMs: first.toMs, lastMs: SPAN.toMs, nowMs: SPAN.toMs };
  return billedPeriods(holdings, question).periods;
}

function sumOf(stored: readonly StoredBurn[]): bigint {
  return stored.reduce((sum, { burned }) => sum + burned, 0n);
}

function expectDisjoint(stored: readonly StoredBurn[]): void {
  const spans = new Map(stored.map(({ fromMs, toMs }) => [`${fromMs} ${toMs}`, { fromMs, toMs }]));
  const inOrder = [...spans.values()].sort((a, b) => a.fromMs - b.fromMs);
  const meeting = inOrder.filter(({ toMs }, at) => toMs > (inOrder[at + 1]?.fromMs ?? toMs));
  expect(meeting).toEqual([]);
}
