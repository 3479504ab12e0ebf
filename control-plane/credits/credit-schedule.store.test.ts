import { expect, it, onTestFinished, vi } from 'vitest';
import { SILENT } from '../../tests/support/silent-log.ts';
import { rejectRows } from '../http/rejection-under-test.ts';
import { startCreditSchedule } from './credit-schedule.ts';
import { credits, DAY_MS, recurringUnderTest, START_MS } from './recurring-under-test.ts';

/*
 * The job that makes the grants of months, over a real Postgres, with a clock that does not advance.
 *
 * Mutants this suite catches: a pass that ends with the subscription that fails; a schedule that is not read
 * again under the lock, so that two processes grant a month twice, or one fails.
 */
const WAIT = { timeout: 30_000, interval: 20 };
const world = await recurringUnderTest();

it('is done by one of several processes, and one that fails delays no other', async () => {
  const planId = await world.plan([credits({ every: 'month' })]);
  const customers = await Promise.all([1, 2, 3].map(() => world.customer()));
  for (const customerId of customers) await world.subscribe({ customerId, planId, interval: 'year' });
  const [bad = '', ...good] = customers;
  const when = `new.customer_id = '${bad}'`;
  const { allow } = await rejectRows(world.pool, {
    write: 'INSERT ON credit_grants',
    when,
    how: `RAISE 'no'`,
  });
  const clock = { nowMs: () => START_MS + 30 * DAY_MS, monotonicMs: () => 0 };
  for (const owner of ['one', 'two']) {
    const job = startCreditSchedule({ pool: world.pool, clock, log: SILENT }, { owner, everyMs: 20 });
    onTestFinished(() => job.close());
  }
  const counts = async () => {
    const all = await Promise.all(good.map((id) => world.grants(id)));
    return all.map(({ length }) => length);
  };
  await vi.waitFor(async () => expect(await counts()).toEqual([2, 2]), WAIT);
  expect(await world.grants(bad)).toHaveLength(1);
  await allow();
  await vi.waitFor(async () => expect(await world.grants(bad)).toHaveLength(2), WAIT);
});
