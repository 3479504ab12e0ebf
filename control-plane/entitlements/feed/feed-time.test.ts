import { expect, test } from 'vitest';
import { createTimeEvents } from './feed-time.ts';
import { createWatchedCustomers } from './watched-customers.ts';

// Red when a customer that cannot be read makes the decisions of all other environments look old.
test('a heartbeat has the time of its own environment, of customers that a stream has', () => {
  const watched = createWatchedCustomers();
  const add = (environment: string, asOfMs: number, isSent = true) => {
    const customer = watched.watch(environment, `c${asOfMs}`);
    customer.asOfMs = asOfMs;
    if (isSent) customer.streams.add({ change: () => undefined });
  };
  for (const asOfMs of [9_000, 3_000, 7_000]) add('ws_a:live', asOfMs);
  add('ws_b:live', 8_000);
  add('ws_b:live', 1_000, false);
  const timeOf = createTimeEvents({ latestMs: 10_000, nowMs: 11_000 }, watched);
  const seconds = ['ws_a:live', 'ws_b:live', 'ws_c:live'].map((environment) => {
    const [, asOf, now] =
      /"asOf":".*:(\d\d)\.000Z","now":".*:(\d\d)\./.exec(String(timeOf(environment))) ?? [];
    expect(now).toBe('11');
    return asOf;
  });
  expect(seconds).toEqual(['03', '08', '10']);
});
