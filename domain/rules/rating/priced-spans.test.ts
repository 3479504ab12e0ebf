import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Price } from './price.ts';
import { type PricedTerm, type PriceSet, pricedSpans } from './priced-spans.ts';
import { rateSpan } from './rate-price.ts';

/*
 * What a subscription is charged for, against a walk over its days: histories of plans, versions, add-ons,
 * quantities, pauses and changed prices.
 *
 * Mutants that turn it red: a price that begins again with each change of another; a flat price charged again
 * when its amount changes; a quantity that is charged as a whole when it grows; usage before a plan counted
 * by it; a pinned subscription charged the current version.
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
  if (key !== 'use') {
    return fc
      .record({ intervalCount, amount })
      .map((given): Price => ({ ...common, model: 'flat', ...given }));
  }
  return fc.record({ intervalCount, unitAmount: amount }).map((given): Price => {
    return { ...common, model: 'per_unit', meterKey: 'calls', ...given };
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
      }),
      { minLength: 1, maxLength: 6, selector: ({ startsMs }) => startsMs },
    )
    .map((terms) => terms.sort((a, b) => a.startsMs - b.startsMs)),
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
    fc.integer({ min: 0, max: 5 }).map((units) => BigInt(units) * 10n ** 12n),
    {
      minLength: DAYS,
      maxLength: DAYS,
    },
  ),
});

describe('what a subscription is charged', () => {
  it('is what a walk over its days finds, by price', () => {
    fc.assert(
      fc.property(histories, (history) => {
        expect(chargedIn(history, 0, DAYS)).toEqual(expectedOf(history));
      }),
      HISTORIES,
    );
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

function chargedIn({ terms, sets, used }: History, from: number, to: number): Map<string, bigint> {
  const charged = new Map<string, bigint>();
  const usage = (fromMs: number, toMs: number) => {
    const units = used.slice(Math.max(0, fromMs / DAY_MS), toMs / DAY_MS).reduce((sum, one) => sum + one, 0n);
    return { units };
  };
  for (const span of pricedSpans(terms, sets, { fromMs: from * DAY_MS, toMs: to * DAY_MS })) {
    const { beganMs, fromMs, toMs, price, times, ownerId } = span;
    const before = fromMs > beganMs ? usage(beganMs, fromMs) : undefined;
    const { amount } = rateSpan(price, usage(beganMs, toMs), before);
    const id = `${ownerId} ${price.key}`;
    charged.set(id, (charged.get(id) ?? 0n) + amount * BigInt(times));
  }
  return withoutZeros(charged);
}

function withoutZeros(amounts: Map<string, bigint>): Map<string, bigint> {
  return new Map([...amounts].filter(([, amount]) => amount !== 0n).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Day by day: a unit of a flat price is charged on its first day and where its period begins. */
function expectedOf({ terms, sets, used }: History): Map<string, bigint> {
  const charged = new Map<string, bigint>();
  const CENTS = 10n ** 24n;
  const since = new Map<string, number[]>();
  for (let today = 0; today < DAYS; today += 1) {
    const term = terms.findLast(({ startsMs }) => startsMs <= today * DAY_MS);
    const present = new Set<string>();
    for (const { ownerId, quantity, version } of term?.isCharged ? ownersOf(term) : []) {
      const known = sets.filter((one) => one.ownerId === ownerId && one.startsMs <= today * DAY_MS);
      const set = known.findLast((one) => version === null || one.version === version);
      for (const price of set?.prices ?? []) {
        const id = `${ownerId} ${price.key}`;
        const unit = `${id} ${price.intervalCount}`;
        present.add(unit);
        const begun = (since.get(unit) ?? []).slice(0, price.model === 'flat' ? quantity : 1);
        while (begun.length < (price.model === 'flat' ? quantity : 1)) begun.push(today);
        since.set(unit, begun);
        const begins = (today - 3) % price.intervalCount === 0;
        let thousandths = 0n;
        if (price.model === 'flat') {
          const due = begun.filter((first) => first === today || begins).length;
          thousandths = BigInt(due) * BigInt(Number(price.amount) * 1000);
        } else if (price.model === 'per_unit') {
          thousandths = ((used[today] ?? 0n) / 10n ** 12n) * BigInt(Number(price.unitAmount) * 1000);
        }
        charged.set(id, (charged.get(id) ?? 0n) + (thousandths * CENTS) / 1000n);
      }
    }
    for (const unit of since.keys()) if (!present.has(unit)) since.delete(unit);
  }
  return withoutZeros(charged);
}

function ownersOf({ planId, planVersion, addons }: PricedTerm) {
  const attached = addons.map(({ addonId, quantity }) => ({ ownerId: addonId, quantity, version: null }));
  return [{ ownerId: planId, quantity: 1, version: planVersion }, ...attached];
}
