import fc from 'fast-check';
import { expect } from 'vitest';
import { cycleOf } from './billing-period.ts';
import { takeCredits } from './credit-order.ts';
import { creditText, smaller } from './credit-units.ts';
import { dueGrants, type GrantPart, partsDue, type RecurringGrant } from './recurring-credits.ts';
import { SlowCredits, type SlowRhythm } from './recurring-credits-oracle.ts';

const DAY_MS = 86_400_000;
const START_MS = Date.UTC(2026, 0, 31, 12);
/** Away from every noon. */
const AN_HOUR_MS = 3_600_000;

type Step =
  | { does: 'use'; days: number; amount: number; isLate: boolean }
  | { does: 'change'; days: number; plan: number }
  | { does: 'stop' | 'resume' | 'look'; days: number };

const days = fc.integer({ min: 0, max: 24 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant('use' as const),
      days,
      amount: fc.integer({ min: 1, max: 90 }),
      isLate: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('change' as const), days, plan: fc.nat(2) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constantFrom('stop' as const, 'resume' as const, 'look' as const),
      days,
    }),
  },
);

/** Those of one key are one amount. */
const PRIORITIES = { a: 1, b: 2 };
const percent = fc.constantFrom('25', '50', '100');
const max = fc.option(fc.constantFrom('8', '30'), { nil: undefined });
const rollover = fc.option(fc.record({ percent, max }), { nil: undefined });
const grant: fc.Arbitrary<RecurringGrant> = fc
  .record({
    key: fc.constantFrom('a', 'b'),
    amount: fc.constantFrom('10', '40', '64'),
    every: fc.constantFrom('period' as const, 'month' as const),
    rollover,
  })
  .map(({ rollover, ...given }) => ({
    ...{ ...given, priority: PRIORITIES[given.key], expires: 'period_end' as const },
    ...(rollover ? { rollover } : {}),
  }));
/** One rhythm for each key: another one is another series of periods. */
const plans = fc
  .array(fc.uniqueArray(grant, { selector: ({ key }) => key, maxLength: 2 }), { minLength: 3, maxLength: 3 })
  .map((all) => all.map((one) => one.map((own) => ({ ...own, every: rhythmOf(all, own) }))));

function rhythmOf(all: readonly RecurringGrant[][], { key }: RecurringGrant) {
  return all.flat().find((one) => one.key === key)?.every ?? 'period';
}

const history = fc.record({
  interval: fc.constantFrom<SlowRhythm>('month', 'week'),
  plans,
  steps: fc.array(step, { minLength: 1, maxLength: 12 }),
});

/** What plans grant lazily, against the slow model, over that many random histories. */
export function compareHistories(runs: number): void {
  const seen = { rolled: 0, late: 0, unpaid: 0 };
  fc.assert(
    fc.property(history, ({ interval, plans, steps }) => {
      const [first = []] = plans;
      const slow = new SlowCredits(START_MS, interval, first);
      const lazy = new LazyWallet(interval, first);
      // Of grants of several series those that are there burn first, and not those that are to come.
      const isOneSeries = new Set(plans.flat().map(({ every }) => every)).size < 2 || interval === 'month';
      let atMs = START_MS + AN_HOUR_MS;
      for (const one of steps) {
        atMs += one.days * DAY_MS;
        if (one.does === 'use') {
          // However late it is settled, it burns what is there then, be it or the next grant the first.
          const isFirst = one.isLate && isOneSeries && lazy.isRecent(atMs);
          if (!isFirst) lazy.look(atMs);
          slow.use(one.amount, atMs);
          lazy.use(one.amount, atMs);
          if (isFirst) lazy.look(atMs);
        } else if (one.does === 'change') {
          slow.change(plans[one.plan] ?? [], atMs);
          lazy.change(plans[one.plan] ?? [], atMs);
        } else if (one.does === 'look') lazy.look(atMs);
        else {
          slow[one.does](atMs);
          lazy[one.does](atMs);
        }
      }
      slow.goTo(atMs);
      lazy.look(atMs);
      // A share of a share of a share has more digits than a number.
      const { balance, unpaid } = lazy.seen();
      const differsBy = Math.abs(balance - slow.balance) + Math.abs(unpaid - slow.unpaid);
      if (differsBy > 1e-9)
        expect({ balance, unpaid }).toEqual({ balance: slow.balance, unpaid: slow.unpaid });
      seen.rolled += lazy.rolled > 0 ? 1 : 0;
      seen.unpaid += slow.unpaid > 0 ? 1 : 0;
      seen.late += steps.some((one) => one.does === 'use' && one.isLate) ? 1 : 0;
    }),
    { numRuns: runs },
  );
  expect(Object.values(seen).every((count) => count > runs / 50)).toBe(true);
}

interface Held {
  id: string;
  place: string;
  remaining: bigint;
  granted: bigint;
  lapsed: bigint;
  part: number;
  priority: number;
  expiresAt: Date;
}

const UNIT = 10n ** 24n;

/** Grants are made when something looks, all that are due, in their order; in between usage stays unpaid. */
class LazyWallet {
  readonly #interval: SlowRhythm;
  #plan: readonly RecurringGrant[];
  #isGranting = true;
  #lookedMs = START_MS;
  #grants: Held[] = [];
  #unpaid = 0n;
  rolled = 0;

  constructor(interval: SlowRhythm, plan: readonly RecurringGrant[]) {
    this.#interval = interval;
    this.#plan = plan;
    this.#make(START_MS, { isOtherPlan: false, includesBegun: true });
  }

  /** Not two periods can have begun since it looked. */
  isRecent(atMs: number): boolean {
    return atMs < this.#lookedMs + 7 * DAY_MS;
  }

  look(atMs: number): void {
    this.#make(atMs, { isOtherPlan: false, includesBegun: false });
  }

  use(amount: number, atMs: number): void {
    this.#expire(atMs);
    const open = this.#grants.filter(({ remaining }) => remaining > 0n);
    const order = open.map((one) => ({ ...one, createdAt: new Date(0) }));
    const { takings, rest } = takeCredits(order, BigInt(amount) * UNIT);
    for (const one of this.#grants) {
      one.remaining = takings.find(({ grantId }) => grantId === one.id)?.remaining ?? one.remaining;
    }
    this.#unpaid += rest;
  }

  change(plan: readonly RecurringGrant[], atMs: number): void {
    this.look(atMs);
    this.#plan = plan;
    this.#make(atMs, { isOtherPlan: true, includesBegun: true });
  }

  stop(atMs: number): void {
    this.look(atMs);
    this.#isGranting = false;
  }

  resume(atMs: number): void {
    this.look(atMs);
    this.#isGranting = true;
    this.#make(atMs, { isOtherPlan: false, includesBegun: true });
  }

  seen() {
    const balance = this.#grants.reduce((sum, { remaining }) => sum + remaining, 0n);
    return { balance: Number(creditText(balance)), unpaid: Number(creditText(this.#unpaid)) };
  }

  #make(atMs: number, how: { isOtherPlan: boolean; includesBegun: boolean }): void {
    const toMs = cycleEnd(this.#interval);
    const length = { interval: this.#interval, intervalCount: 1 };
    const term = { cycle: cycleOf({ fromMs: START_MS, toMs }, length), period: { fromMs: START_MS, toMs } };
    const firstMs = how.includesBegun ? atMs : this.#lookedMs + 1;
    const stretch = { term, planId: 'p', planVersion: null, firstMs, lastMs: atMs };
    const sets = [{ planId: 'p', version: 1, startsMs: 0, grants: this.#plan }];
    const due = this.#isGranting && firstMs <= atMs ? dueGrants({ ...stretch, ...how }, sets) : [];
    for (const { grant, period } of due) {
      this.#expire(atMs);
      const place = `${grant.key} ${period.fromMs}`;
      const own = this.#grants.filter((one) => one.place === place);
      const ended = this.#grants.filter(
        (one) => one.place.startsWith(`${grant.key} `) && one.expiresAt.getTime() === period.fromMs,
      );
      const granted = own.reduce((sum, one) => sum + (one.part > 0 ? one.granted : 0n), 0n);
      const nextPart = own.reduce((most, { part }) => Math.max(most, part), 0) + 1;
      const lapsed = ended.reduce((sum, one) => sum + one.lapsed, 0n);
      for (const part of partsDue(grant, { granted, nextPart, lapsed }, how)) {
        this.#put(place, part, { ...grant, expiresAt: new Date(period.toMs) });
      }
    }
    this.#expire(atMs);
    this.#lookedMs = Math.max(this.#lookedMs, atMs);
  }

  #put(
    place: string,
    { part, units }: GrantPart,
    { priority, expiresAt }: Pick<Held, 'priority' | 'expiresAt'>,
  ): void {
    const repaid = smaller(units, this.#unpaid);
    this.#unpaid -= repaid;
    const id = `${place} ${part}`;
    if (this.#grants.some((one) => one.id === id)) throw new Error(`${id} is granted a second time`);
    const amounts = { remaining: units - repaid, granted: units, lapsed: 0n };
    this.#grants.push({ id, place, ...amounts, part, priority, expiresAt });
    if (part === 0) this.rolled += 1;
  }

  #expire(atMs: number): void {
    for (const one of this.#grants) {
      if (one.expiresAt.getTime() > atMs) continue;
      one.lapsed += one.remaining;
      one.remaining = 0n;
    }
  }
}

function cycleEnd(interval: SlowRhythm): number {
  return interval === 'week' ? START_MS + 7 * DAY_MS : Date.UTC(2026, 1, 28, 12);
}
