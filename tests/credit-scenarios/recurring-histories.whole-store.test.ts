import fc from 'fast-check';
import { expect, it } from 'vitest';
import { contradictoryGrants, contradictoryWallets } from '../../aggregator/store/wallet-sums.ts';
import {
  credits,
  DAY_MS,
  recurringUnderTest,
  START_MS,
} from '../../control-plane/credits/recurring-under-test.ts';
import { SlowCredits } from '../../domain/rules/recurring-credits-oracle.ts';

/*
 * Subscriptions in Postgres whose plans grant credits, against the slow model, over random histories; and
 * what the audit finds in their wallets.
 */
const HISTORIES = 120;
const AN_HOUR_MS = 3_600_000;

const days = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 24 }), fc.integer({ min: 0, max: 70 }));
const step = fc.oneof(
  fc.record({ does: fc.constant('use' as const), days, amount: fc.integer({ min: 1, max: 120 }) }),
  fc.record({ does: fc.constant('change' as const), days, plan: fc.nat(3) }),
  fc.record({ does: fc.constantFrom('stop' as const, 'resume' as const, 'pass' as const), days }),
);
const history = fc.record({
  interval: fc.constantFrom('month' as const, 'week' as const),
  steps: fc.array(step, { minLength: 1, maxLength: 12 }),
});

const GRANTS = [
  [credits({ rollover: { percent: '50', max: '120' } })],
  [credits({ amount: '250' }), credits({ key: 'more', amount: '7', every: 'month', priority: 200 })],
  [],
  [credits({ amount: '10', rollover: { percent: '100' } })],
];

it('agree with a slow model, and their books add up', { timeout: 240_000 }, async () => {
  const world = await recurringUnderTest();
  const planIds: string[] = [];
  for (const grants of GRANTS) planIds.push(await world.plan(grants));
  for (const { interval, steps } of fc.sample(history, { numRuns: HISTORIES })) {
    const customerId = await world.customer();
    const { id } = await world.subscribe({ customerId, planId: planIds[0] ?? '', interval });
    const slow = new SlowCredits(START_MS, interval, GRANTS[0] ?? []);
    let atMs = START_MS + AN_HOUR_MS;
    for (const one of steps) {
      atMs += one.days * DAY_MS;
      if (one.does === 'use' || one.does === 'pass') await world.pass(atMs);
      if (one.does === 'use') {
        slow.use(one.amount, atMs);
        await world.burn(customerId, String(one.amount), atMs);
      } else if (one.does === 'change') {
        slow.change(GRANTS[one.plan] ?? [], atMs);
        await world.patch(id, { planId: planIds[one.plan] ?? '' }, atMs);
      } else if (one.does === 'stop') {
        slow.stop(atMs);
        await world.patch(id, { status: 'past_due' }, atMs);
      } else if (one.does === 'resume') {
        slow.resume(atMs);
        await world.patch(id, { status: 'active' }, atMs);
      }
    }
    slow.goTo(atMs);
    await world.pass(atMs);
    await world.burn(customerId, '0.001', atMs);
    slow.use(0.001, atMs);
    const [balance = 0, unpaid = 0] = (await world.wallet(customerId)).split(' ').map(Number);
    const story = JSON.stringify({ interval, steps });
    expect(balance, story).toBeCloseTo(slow.balance, 9);
    expect(unpaid, story).toBeCloseTo(slow.unpaid, 9);
    await world.end(id, atMs);
  }
  await world.settleBurns();
  const page = await contradictoryWallets(world.pool, { after: '', limit: 1_000 });
  expect(page.wallets).toEqual([]);
  expect(await contradictoryGrants(world.pool, { after: '', last: page.last })).toEqual([]);
});
