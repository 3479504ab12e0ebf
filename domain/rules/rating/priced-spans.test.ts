import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Span } from '../../../schemas/primitives/calendar.ts';
import type { Price } from './price.ts';
import { type PricedTerm, type PriceSet, pricedSpans } from './priced-spans.ts';
import { rateSpan } from './rate-price.ts';

/*
 * What a subscription is charged for, against a walk over its days: histories of plans, versions, add-ons,
 * quantities, pauses and changed prices.
 *
 * Mutants that turn it red: a price that begins again with each change of another, or after a gap in its
 * period; a flat price charged again when its amount changes; a quantity that is charged as a whole when it
 * grows, or again when it comes back; usage before a plan, or in a gap, counted by it; a pinned subscription
 * charged the current version, or nothing before that had prices; a `minimum` that is raised within a period
 * taken for paid; the bounds of a flat price of an add-on taken for those of one unit;
 * a billing period of another length charged as several; what was charged given back at a changed price.
 */
const DAY_MS = 86_400_000;
const DAYS = 40;
const HISTORIES = { numRuns: Number(process.env.METERGATE_HISTORIES ?? 1_500) };

interface History {
  terms: PricedTerm[];
  sets: PriceSet[];
  /** Units of 10^-12 that each day used, at its beginning. */
  used: bigint[];
}

const prices = fc
  .uniqueArray(fc.constantFrom('flat', 'more', 'use'), { maxLength: 3 })
  .chain((keys) => fc.tuple(...keys.map(priceOf)));

function priceOf(key: 'flat' | 'more' | 'use'): fc.Arbitrary<Price> {
  const common = { key, currency: 'USD', interval: 'day' as const };
  const intervalCount = fc.constantFrom(7, 30);
  const amount = fc.constantFrom('1', '2.5', '10');
  const bounds = {
    minimum: fc.constantFrom(undefined, '3', '12.5'),
    maximum: fc.constantFrom(undefined, '25'),
  };
  if (key !== 'use') {
    return fc
      .record({ intervalCount, amount, ...bounds })
      .map((given) => ({ ...common, model: 'flat', ...given }) as Price);
  }
  const included = fc.constantFrom('0', '4', '20');
  return fc.record({ intervalCount, unitAmount: amount, included, ...bounds }).map((given) => {
    return { ...common, model: 'per_unit', meterKey: 'calls', ...given } as Price;
  });
}

const day = fc.integer({ min: 0, max: DAYS - 1 });
const histories: fc.Arbitrary<History> = fc.record({
  terms: fc
    .uniqueArray(
      fc.record({
        startsMs: day.map((one) => one * DAY_MS),
        isCharged: fc.boolean(),
        planId: fc.constantFrom('plan_a', 'plan_b'),
        planVersion: fc.constantFrom(null, 1, 2),
        addons: fc
          .constantFrom(0, 0, 1, 3)
          .map((quantity) => (quantity ? [{ addonId: 'addon', quantity }] : [])),
        cycle: fc.constantFrom(7, 30).map((intervalCount) => {
          return { anchorMs: 3 * DAY_MS, interval: 'day' as const, intervalCount };
        }),
        exception: fc.option(fc.record({ before: fc.nat(12), extended: fc.nat(1) })),
      }),
      { minLength: 1, maxLength: 6, selector: ({ startsMs }) => startsMs },
    )
    .map((terms) => terms.sort((a, b) => a.startsMs - b.startsMs).map(withPeriod)),
  sets: fc
    .uniqueArray(
      fc.record({
        ownerId: fc.constantFrom('plan_a', 'plan_b', 'addon'),
        version: fc.constantFrom(1, 2),
        startsMs: day.map((one) => one * DAY_MS),
        prices,
      }),
      { maxLength: 8, selector: ({ startsMs }) => startsMs },
    )
    .map((sets) => sets.sort((a, b) => a.startsMs - b.startsMs)),
  used: fc.array(
    fc.integer({ min: -4, max: 5 }).map((units) => BigInt(units) * 10n ** 12n),
    {
      minLength: DAYS,
      maxLength: DAYS,
    },
  ),
});

/** One that has begun before the term, and ends where one of the lattice does, or one later. */
function withPeriod({
  exception,
  ...term
}: Omit<PricedTerm, 'period'> & { exception: { before: number; extended: number } | null }): PricedTerm {
  const { startsMs, cycle } = term;
  if (!exception) return { ...term, period: null };
  const first = periodDay(startsMs / DAY_MS, cycle.intervalCount);
  const end = first + (1 + exception.extended) * cycle.intervalCount;
  return { ...term, period: { fromMs: startsMs - exception.before * DAY_MS, toMs: end * DAY_MS } };
}

/** The first day of the period that contains this one. */
function periodDay(today: number, length: number): number {
  return 3 + Math.floor((today - 3) / length) * length;
}

describe('what a subscription is charged', () => {
  it('is what a walk over its days finds, by price', () => {
    fc.assert(
      fc.property(histories, (history) => {
        expect(chargedIn(history, 0, DAYS)).toEqual(expectedOf(history));
      }),
      HISTORIES,
    );
  });

  // Red when a minimum that ends within a period makes earlier usage final, here or where the time is cut.
  it.each([
    ['minimum', {}],
    ['description', { minimum: '12.5', description: 'Calls of the API' }],
  ])('is given back in a period in which the %s alone has changed', (_, changed) => {
    const { term, price } = monthly();
    const sets = [
      { ownerId: 'plan_a', version: 1, startsMs: 3 * DAY_MS, prices: [{ ...price, minimum: '12.5' }] },
      { ownerId: 'plan_a', version: 2, startsMs: 16 * DAY_MS, prices: [{ ...price, ...changed }] },
    ];
    const used = Array.from({ length: DAYS }, () => 0n);
    used[15] = 3n * 10n ** 12n;
    used[20] = -2n * 10n ** 12n;
    const history = { terms: [term], sets, used };
    const periodEnd = 33;
    expect([...chargedIn(history, 0, periodEnd).values()]).toEqual([125n * 10n ** 23n]);
    expect(chargedIn(history, 0, DAYS)).toEqual(expectedOf(history));
    const parts = [chargedIn(history, 0, 17), chargedIn(history, 17, periodEnd)];
    const sum = parts.flatMap((charged) => [...charged.values()]);
    expect(sum).toEqual([30n * 10n ** 24n, -175n * 10n ** 23n]);
  });

  it('is the same in whatever way the time is cut', () => {
    fc.assert(
      fc.property(histories, fc.array(day, { maxLength: 4 }), (history, cuts) => {
        const bounds = [0, ...cuts.toSorted((a, b) => a - b), DAYS];
        const total = new Map<string, bigint>();
        for (const [at, end] of bounds.slice(1).entries()) {
          for (const [id, amount] of chargedIn(history, bounds[at] ?? 0, end)) {
            total.set(id, (total.get(id) ?? 0n) + amount);
          }
        }
        expect(withoutZeros(total)).toEqual(chargedIn(history, 0, DAYS));
      }),
      HISTORIES,
    );
  });
});

/** A term from day 3 on, and a price of 10 a unit in periods of 30 days from there. */
function monthly() {
  const cycle = { anchorMs: 3 * DAY_MS, interval: 'day' as const, intervalCount: 30 };
  const common = { startsMs: 3 * DAY_MS, isCharged: true, planId: 'plan_a', planVersion: null };
  const term: PricedTerm = { ...common, addons: [], cycle, period: null };
  const of = { key: 'use', currency: 'USD', interval: 'day', intervalCount: 30 } as const;
  const amounts = { model: 'per_unit', meterKey: 'calls', unitAmount: '10', included: '0' } as const;
  return { term, price: { ...of, ...amounts } as Price };
}

function chargedIn({ terms, sets, used }: History, from: number, to: number): Map<string, bigint> {
  const charged = new Map<string, bigint>();
  const unitsIn = ({ fromMs, toMs }: Span) =>
    used.slice(Math.max(0, fromMs / DAY_MS), toMs / DAY_MS).reduce((sum, one) => sum + one, 0n);
  const usage = (parts: readonly Span[]) => ({
    units: parts.reduce((sum, part) => sum + unitsIn(part), 0n),
  });
  for (const span of pricedSpans(terms, sets, { fromMs: from * DAY_MS, toMs: to * DAY_MS })) {
    const { earlier, changed, price, quantity, ownerId } = span;
    const whole = (count: number) => ({ units: BigInt(count) * 10n ** 12n });
    const isFlat = price.model === 'flat';
    const until = isFlat ? whole(quantity.until) : usage([...earlier, span]);
    const before = isFlat ? whole(quantity.before) : usage(earlier);
    const { amount } = rateSpan(price, {
      until,
      before: earlier.length > 0 ? before : undefined,
      changed: isFlat || changed.length === 0 ? undefined : usage(changed),
    });
    const id = `${ownerId} ${price.key}`;
    charged.set(id, (charged.get(id) ?? 0n) + amount);
  }
  return withoutZeros(charged);
}

function withoutZeros(amounts: Map<string, bigint>): Map<string, bigint> {
  return new Map([...amounts].filter(([, amount]) => amount !== 0n).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Day by day, by price: what the days of its period have cost with today, less what they had without it. */
function expectedOf({ terms, sets, used }: History): Map<string, bigint> {
  const charged = new Map<string, bigint>();
  const before = new Map<string, ChargedDay[]>();
  for (let today = 0; today < DAYS; today += 1) {
    const term = terms.findLast(({ startsMs }) => startsMs <= today * DAY_MS);
    if (!term?.isCharged) continue;
    for (const { ownerId, quantity, version } of ownersOf(term)) {
      const known = sets.filter((one) => one.ownerId === ownerId && one.startsMs <= today * DAY_MS);
      const pinned = sets.filter((one) => one.ownerId === ownerId && one.version === version);
      const ofVersion = known.findLast((one) => one.version === version) ?? pinned[0];
      for (const price of (version === null ? known.at(-1) : ofVersion)?.prices ?? []) {
        const id = `${ownerId} ${price.key}`;
        const days = before.get(`${id} ${price.intervalCount}`) ?? [];
        before.set(`${id} ${price.intervalCount}`, days);
        const past = days.filter(({ day }) => day >= firstDay(price, term, today));
        const units = Number((used[today] ?? 0n) / 10n ** 12n);
        days.push({ day: today, quantity, used: units, price });
        const thousandths =
          (sinceChange(price, [...past, ...days.slice(-1)]) - sinceChange(price, past)) * 1000;
        charged.set(id, (charged.get(id) ?? 0n) + BigInt(thousandths) * 10n ** 21n);
      }
    }
  }
  return withoutZeros(charged);
}

/** A day on which a price was charged. */
interface ChargedDay {
  day: number;
  quantity: number;
  used: number;
  price: Price;
}

/** Of the billing period where the price has its length, else of its own. */
function firstDay({ intervalCount }: Price, { cycle, period }: PricedTerm, today: number): number {
  const isIn = period && today * DAY_MS < period.toMs && intervalCount === cycle.intervalCount;
  return isIn ? period.fromMs / DAY_MS : periodDay(today, intervalCount);
}

/**
 * What later days give back is no more than what this price has charged since it was changed. Another minimum
 * alone is no change, since the period keeps the one that it began with, nor is another description.
 */
function sinceChange(price: Price, days: readonly ChargedDay[]): number {
  const amounts = ({ minimum, description, ...others }: Price & { description?: string }) =>
    JSON.stringify(others);
  const last = days.findLastIndex((one) => amounts(one.price) !== amounts(price));
  if (last < 0) return costOf(price, days);
  return Math.max(0, costOf(price, days) - costOf(price, days.slice(0, last + 1)));
}

function costOf(price: Price, days: readonly ChargedDay[]): number {
  const [first] = days;
  if (!first) return 0;
  const most = Number(price.maximum ?? Number.POSITIVE_INFINITY);
  const least = Number(first.price.minimum ?? 0);
  const bounded = (amount: number) => Math.max(least, Math.min(most, amount));
  if (price.model === 'flat')
    return bounded(Math.max(...days.map(({ quantity }) => quantity)) * Number(price.amount));
  if (price.model !== 'per_unit') return 0;
  const used = days.reduce((sum, day) => sum + day.used, 0);
  return bounded(Math.max(0, used - Number(price.included)) * Number(price.unitAmount));
}

function ownersOf({ planId, planVersion, addons }: PricedTerm) {
  const attached = addons.map(({ addonId, quantity }) => ({ ownerId: addonId, quantity, version: null }));
  return [{ ownerId: planId, quantity: 1, version: planVersion }, ...attached];
}
