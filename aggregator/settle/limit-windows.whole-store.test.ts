import { expect, it } from 'vitest';
import { TEST_NOW_MS } from '../../tests/support/event-line.ts';
import { start } from '../aggregator-under-test.ts';
import { openTenant } from './settlement-under-test.ts';

/*
 * Limits that reset at times of their own, over a real log, Postgres and ClickHouse.
 *
 * Mutants that turn it red: a threshold that is crossed once in a billing period; usage of all days of a
 * period against the limit of one; late usage that leaves the cost of later periods as it was.
 */
const DAY_MS = 86_400_000;

it('of each day cover usage of each day, and are crossed in each', async () => {
  const { stores, tenant } = await openTenant();
  const sinceMs = TEST_NOW_MS - 3 * DAY_MS;
  const use = (value: string, days: number) =>
    tenant.use({ value, occurredAtMs: sinceMs + days * DAY_MS + 1 });
  await tenant.rate(1, 0, '1');
  await tenant.grant('100');
  await tenant.limit('10', sinceMs, 'day');
  start(stores);
  await use('15', 0);
  await use('9', 2);
  expect(await tenant.wallet()).toMatchObject({ balance: '95' });
  // Late, and each against the day on which it occurred.
  await use('7', 1);
  await use('4', 0);
  await use('3', 1);
  expect(await tenant.wallet()).toMatchObject({ balance: '91' });
  await use('-6', 0);
  expect(await tenant.wallet()).toMatchObject({ balance: '97' });
  const events = await tenant.notified('usage.threshold');
  const crossed = events.map(({ thresholdValue, kind, currentUsage }) => {
    return `${kind} ${thresholdValue} at ${currentUsage}`;
  });
  expect(crossed.sort()).toEqual([
    ...['hard 10 at 10', 'hard 10 at 15', 'soft 8 at 10', 'soft 8 at 15', 'soft 8 at 9'],
  ]);
});

it('that never reset cover usage once, through the periods, in whatever order it comes', async () => {
  const { stores, tenant } = await openTenant();
  const sinceMs = TEST_NOW_MS - 70 * DAY_MS;
  const use = (value: string, days: number) => tenant.use({ value, occurredAtMs: sinceMs + days * DAY_MS });
  await tenant.rate(1, 0, '1');
  await tenant.budget('5', null);
  await tenant.grant('100');
  await tenant.limit('10', sinceMs, 'never');
  start(stores);
  await use('8', 1);
  await use('6', 69);
  expect(await tenant.wallet()).toMatchObject({ balance: '96' });
  await use('5', 40);
  expect(await tenant.wallet()).toMatchObject({ balance: '91' });
  await use('-3', 2);
  expect(await tenant.wallet()).toMatchObject({ balance: '94' });
  const events = await tenant.notified('usage.threshold');
  const crossed = events.map(({ thresholdValue, currentUsage }) => `${thresholdValue} at ${currentUsage}`);
  // The limit's own once, the budget's in each billing period.
  expect(crossed.sort()).toEqual(['10 at 14', '5 at 5', '5 at 6', '5 at 8', '8 at 8']);
});
