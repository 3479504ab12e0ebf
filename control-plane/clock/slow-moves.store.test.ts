import { expect, it, vi } from 'vitest';
import { holdJob } from '../../domain/store/job-leases.ts';
import { clockUnderTest, DAY_MS, daysLater, lasting } from './clock-under-test.ts';
import { SUBSCRIPTION_CLOCK } from './subscription-clock.ts';

/*
 * Subscriptions that take too long to move, over a real Postgres, with a clock that does not advance.
 *
 * Mutants this suite catches: a pass that ends at a slow subscription; a slow one that is tried first in each
 * pass, never again, or again and again; a pass that continues without its connection.
 */
const WAIT = { timeout: 10_000, interval: 20 };

it.each(['57014', '25P03', '55P03'])(
  'those that take too long (%s) delay no other, and are tried again after them',
  async (code) => {
    const { add, clock, run, row, reject, metric } = await clockUnderTest();
    const slow: string[] = [];
    // More subscriptions than concurrent moves.
    for (let n = 0; n < 8; n += 1) slow.push(await add({ cancelAt: daysLater(1), metadata: '{"bad":true}' }));
    const period = lasting(2 * DAY_MS);
    const [end, roll] = [await add({ cancelAt: daysLater(2) }), await add(period)];
    const { allow, tries } = await reject(`RAISE 'slow' USING ERRCODE = '${code}'`);
    clock.now = daysLater(3);
    run();
    await vi.waitFor(async () => expect((await row(roll)).currentPeriodEnd).toEqual(daysLater(4)), WAIT);
    expect((await row(end)).status).toBe('canceled');
    expect(await metric('move_failures_total')).toBe(8);
    const tried = await tries();
    const late = await add({ cancelAt: daysLater(3) });
    await vi.waitFor(async () => expect((await row(late)).status).toBe('canceled'), WAIT);
    expect(await tries()).toBe(tried);
    // For two days: those that could not.
    await vi.waitFor(async () => expect(await metric('oldest_due_seconds')).toBe(2 * 86_400), WAIT);
    await allow();
    clock.aheadMs = 2_000;
    for (const id of slow)
      await vi.waitFor(async () => expect((await row(id)).status).toBe('canceled'), WAIT);
  },
);

it('a look ends with its connection, and the next one tries all again', async () => {
  const { add, clock, run, row, reject } = await clockUnderTest();
  const id = await add({ cancelAt: daysLater(1), metadata: '{"bad":true}' });
  const period = lasting(2 * DAY_MS);
  const roll = await add(period);
  const { allow, tries } = await reject('PERFORM pg_terminate_backend(pg_backend_pid())');
  clock.now = daysLater(3);
  run();
  await vi.waitFor(async () => expect(await tries()).toBeGreaterThan(2), WAIT);
  expect((await row(roll)).currentPeriodEnd).toEqual(daysLater(2));
  await allow();
  await vi.waitFor(async () => expect((await row(id)).status).toBe('canceled'), WAIT);
});

it('a pass ends with the first that takes too long again', async () => {
  const { add, clock, pass, reject, pool } = await clockUnderTest();
  await add({ cancelAt: daysLater(1), metadata: '{"bad":true}' });
  const { tries } = await reject(`RAISE 'slow' USING ERRCODE = '57014'`);
  clock.now = daysLater(3);
  let holds = 0;
  const hold = async () => {
    holds += 1;
    return holds < 10 ? holdJob(pool, SUBSCRIPTION_CLOCK, 'owner', 60_000) : undefined;
  };
  // Its time has come whenever a pass checks it.
  const monotonicMs = () => {
    clock.aheadMs += 30_000;
    return clock.aheadMs;
  };
  expect(await pass(hold, { monotonicMs })).toBe(false);
  expect(await tries()).toBe(2);
});
