import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { PricedTerm } from '../../domain/rules/rating/priced-spans.ts';
import type { SubscriptionPatch } from '../../schemas/resources/subscriptions.ts';
import { credits, DAY_MS, recurringUnderTest, START_MS } from '../credits/recurring-under-test.ts';
import { findPaying } from '../store/subscription-terms.ts';
import { termsOf } from './paying-subscriptions.ts';

/*
 * What subscriptions pay for and are granted over random histories, where the subscription clock runs each
 * day and where it runs just before each change: the same on each day.
 *
 * Mutants that turn it red: what the clock notices late begins when it is noticed; the end of a trial, or of
 * a period, that a later cancellation swallows; a period rolled with the end of a trial within it;
 * credits of periods after a cancellation that is noticed late.
 */
const HISTORIES = 25;
const DAYS = 90;

type ValueOf<A> = A extends fc.Arbitrary<infer T> ? T : never;
type Step = ValueOf<typeof step>;
type History = ValueOf<typeof history>;

const days = fc.integer({ min: 1, max: 25 });
const step = fc.oneof(
  fc.record({ does: fc.constant('plan' as const), days, plan: fc.nat(1), later: fc.boolean() }),
  fc.record({ does: fc.constantFrom('past_due' as const, 'active' as const, 'paused' as const), days }),
  fc.record({ does: fc.constant('extend' as const), days, by: fc.integer({ min: 1, max: 20 }) }),
  fc.record({ does: fc.constant('cancel' as const), days, by: fc.integer({ min: 1, max: 40 }) }),
);
const history = fc.record({
  interval: fc.constantFrom('month' as const, 'week' as const, 'year' as const),
  trialDays: fc.constantFrom(0, 0, 10),
  steps: fc.array(step, { minLength: 1, maxLength: 6 }),
});

const world = await recurringUnderTest();
const planIds = [
  await world.plan([
    credits({ rollover: { percent: '50', max: '120' } }),
    credits({ key: 'more', amount: '7', every: 'month' }),
  ]),
  await world.plan([
    credits({ amount: '250', every: 'month', rollover: { percent: '100' } }),
    credits({ key: 'more', amount: '9', expires: 'never' }),
  ]),
];

it('are the same however late the clock is', { timeout: 240_000 }, async () => {
  const seen = { rejected: 0, uncharged: 0 };
  for (const one of fc.sample(history, { numRuns: HISTORIES })) {
    const [daily, late] = [
      await termsAfter(one, { isDaily: true }),
      await termsAfter(one, { isDaily: false }),
    ];
    const story = JSON.stringify(one);
    expect([late.outcomes, late.grants], story).toEqual([daily.outcomes, daily.grants]);
    for (let day = 0; day < DAYS; day += 1) {
      expect({ day, ...termOn(late.terms, day) }, story).toEqual({ day, ...termOn(daily.terms, day) });
    }
    seen.rejected += daily.outcomes.filter((outcome) => outcome !== 'done').length;
    seen.uncharged += daily.terms.some(({ isCharged }) => !isCharged) ? 1 : 0;
  }
  expect(Math.min(seen.rejected, seen.uncharged)).toBeGreaterThan(2);
});

/** What a subscription pays for, and what came of each step: some are not allowed as it is then. */
async function termsAfter({ interval, trialDays, steps }: History, { isDaily }: { isDaily: boolean }) {
  const customerId = await world.customer();
  const trial = trialDays === 0 ? {} : { trialEnd: isoOf(trialDays) };
  const { id } = await world.subscribe({ customerId, planId: planIds[0] ?? '', interval, ...trial });
  const outcomes: string[] = [];
  let today = 0;
  const goTo = async (day: number) => {
    for (let one = isDaily ? today + 1 : day; one <= day; one += 1) await world.pass(timeOf(one));
    today = day;
  };
  for (const one of steps) {
    await goTo(today + one.days);
    const row = await world.find(id);
    const patch = patchOf(one, { today, endMs: row?.currentPeriodEnd.getTime() ?? 0 });
    const patched = world.patch(id, patch, timeOf(today) + 3_600_000);
    outcomes.push(
      await patched.then(
        () => 'done',
        (err) => String(err),
      ),
    );
  }
  await goTo(Math.max(today, DAYS));
  const paying = await findPaying(world.pool, world.environment, id);
  await world.end(id, timeOf(400));
  // What has expired by the time that it is looked at stays so: ends, and what lapsed, may differ.
  const grants = (await world.grants(customerId)).map((text) => {
    const [key, start, , amount] = text.split(' ');
    return [key, start, key?.endsWith('0') ? 'rolled over' : amount].join(' ');
  });
  return { terms: paying ? termsOf(paying) : [], outcomes, grants };
}

function patchOf(one: Step, { today, endMs }: { today: number; endMs: number }): SubscriptionPatch {
  switch (one.does) {
    case 'plan':
      return { planId: planIds[one.plan] ?? '', ...(one.later ? { at: 'period_end' } : {}) };
    case 'extend':
      return { currentPeriodEnd: new Date(endMs + one.by * DAY_MS).toISOString() };
    case 'cancel':
      return { cancelAt: isoOf(today + one.by) };
    default:
      return { status: one.does };
  }
}

/** Some hours after the clock and the changes of the day. */
function termOn(terms: readonly PricedTerm[], day: number): Partial<PricedTerm> {
  const { startsMs: _, ...term } =
    terms.findLast(({ startsMs }) => startsMs <= timeOf(day) + 7_200_000) ?? {};
  return term;
}

function timeOf(day: number): number {
  return START_MS + day * DAY_MS;
}

function isoOf(day: number): string {
  return new Date(timeOf(day)).toISOString();
}
