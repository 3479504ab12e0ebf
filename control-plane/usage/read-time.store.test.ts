import { expect, it, onTestFinished } from 'vitest';
import type { Statement, Warehouse } from '../../infra/ports/warehouse.ts';
import { lockOut } from '../../tests/support/lock-waits.ts';
import { startStopwatch } from '../../tests/support/stopwatch.ts';
import { apiOfThisFile, EMPTY_LOG, expectRejection, UNAVAILABLE_WAREHOUSE } from '../api-under-test.ts';

/*
 * Red when a wait for Postgres is bounded only by its connection (10 s here, 12 s where the server hangs
 * completely), or when that time is not subtracted from the warehouse's time.
 */
const READ_MS = 5_000;
const SLACK_MS = 1_500;

const requested: number[] = [];
const warehouse: Warehouse = {
  ...UNAVAILABLE_WAREHOUSE,
  query: async ({ timeoutMs }: Statement) => {
    requested.push(timeoutMs);
    return [];
  },
};

const api = await apiOfThisFile({ warehouse, logReader: EMPTY_LOG });
await api.call('POST', '/api/v1/meters', { body: { key: 'calls', name: 'Calls', aggregation: 'sum' } });
const customer = { name: 'Ada', email: 'ada@example.com' };
const usage = `/api/v1/usage/${(await api.call('POST', '/api/v1/customers', { body: customer })).body.id}`;

it('every read of usage is rejected within five seconds while Postgres hangs', async () => {
  onTestFinished(await lockOut(api.pool, 'meters'));
  const passedMs = startStopwatch();
  const paths = ['?', '/calls?', '/calls/breakdown?dimension=user&', '/calls/events?'];
  const reads = paths.flatMap((path) => {
    return ['eventual', 'strong'].map((consistency) => {
      return api.call('GET', `${usage}${path}consistency=${consistency}`);
    });
  });
  for (const response of await Promise.all(reads)) expectRejection(response, 'unavailable');
  expect(passedMs()).toBeLessThan(READ_MS + SLACK_MS);
});

it('the time of the reads in Postgres is taken off that of the warehouse', async () => {
  const release = await lockOut(api.pool, 'meters');
  const read = api.call('GET', `${usage}/calls?consistency=eventual`);
  // Longer than what is asserted: a read that the test before abandoned may have begun its wait first.
  const waiting = async () => {
    const sql = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
       AND wait_event_type = 'Lock' AND clock_timestamp() - query_start > interval '2 seconds'`;
    return (await api.pool.query(sql)).rowCount;
  };
  await expect.poll(waiting, { interval: 50, timeout: 4_000 }).toBeGreaterThan(0).finally(release);
  expect((await read).status).toBe(200);
  expect(requested.at(-1)).toBeLessThanOrEqual(READ_MS - 1_000);
});
