import type { Pool } from 'pg';
import { beforeEach, expect, it } from 'vitest';
import { SILENT } from '../tests/support/silent-log.ts';
import { startStopwatch } from '../tests/support/stopwatch.ts';
import { addTestWorkspace, poolOfThisFile } from '../tests/support/test-pool.ts';
import { createLastUsedStamp, type LastUsedStamp } from './last-used-stamp.ts';

/*
 * Seen red with: the bound left out; what failed not tried again; an older stamp written over a newer one; a
 * stop that waits four times as long.
 */
const FAR = 3_600_000;

const pool = await poolOfThisFile();
await addTestWorkspace(pool);
const ids = (await pool.query<{ id: string }>('SELECT id FROM api_keys ORDER BY id')).rows.map(
  ({ id }) => id,
);

beforeEach(async () => {
  await pool.query('UPDATE api_keys SET last_used_at = NULL');
});

async function stamped(): Promise<Array<number | undefined>> {
  const { rows } = await pool.query<{ at: Date | null }>(
    'SELECT last_used_at AS at FROM api_keys ORDER BY id',
  );
  return rows.map(({ at }) => at?.getTime());
}

function see(stamp: LastUsedStamp, ...seen: Array<[at: number, atMs: number]>): void {
  for (const [at, atMs] of seen) stamp.saw(ids[at] ?? '', atMs);
}

it('stamps the newest use of each key when it is closed', async () => {
  const stamp = createLastUsedStamp(pool, SILENT, { everyMs: FAR });
  see(stamp, [0, 1_000], [1, 2_000], [0, 3_000]);
  await stamp.close();
  expect(await stamped()).toEqual([3_000, 2_000, undefined, undefined]);
});

it('stamps at its interval, and never back in time: both tiers see the same keys', async () => {
  const newStamp = () => createLastUsedStamp(pool, SILENT, { everyMs: 20 });
  const [one, other] = [newStamp(), newStamp()];
  see(one, [0, 3_000]);
  await expect.poll(stamped, { timeout: 20_000 }).toEqual([3_000, undefined, undefined, undefined]);
  see(other, [0, 2_500], [2, 4_000]);
  await expect.poll(stamped, { timeout: 20_000 }).toEqual([3_000, undefined, 4_000, undefined]);
  await Promise.all([one.close(), other.close()]);
});

it('tries again what Postgres did not take', async () => {
  let rejected = 0;
  let isUnavailable = true;
  const reject = () => {
    rejected += 1;
    return Promise.reject(new Error('unavailable'));
  };
  const stamp = createLastUsedStamp(
    poolWith(() => (isUnavailable ? reject : undefined)),
    SILENT,
    { everyMs: 10 },
  );
  see(stamp, [3, 5_000]);
  await expect.poll(() => rejected, { timeout: 20_000 }).toBeGreaterThan(0);
  isUnavailable = false;
  await expect.poll(async () => (await stamped())[3], { timeout: 20_000 }).toBe(5_000);
  await stamp.close();
});

it('holds a bounded number of keys', async () => {
  const stamp = createLastUsedStamp(pool, SILENT, { everyMs: FAR, keysMax: 2 });
  see(stamp, [0, 7_000], [1, 7_000], [2, 7_000], [0, 8_000]);
  await stamp.close();
  expect(await stamped()).toEqual([8_000, 7_000, undefined, undefined]);
});

it('closes in a second while Postgres hangs', async () => {
  const hanging = poolWith(() => () => new Promise(() => undefined));
  const stamp = createLastUsedStamp(hanging, SILENT, { everyMs: FAR });
  see(stamp, [0, 9_000]);
  const passedMs = startStopwatch();
  await stamp.close();
  expect(passedMs()).toBeLessThan(2_000);
});

/** The pool with another `query`, as long as there is one. */
function poolWith(query: () => (() => Promise<unknown>) | undefined): Pool {
  return new Proxy(pool, {
    get: (target, name) => (name === 'query' && query()) || Reflect.get(target, name).bind(target),
  });
}
