import { beforeEach, expect, test } from 'vitest';
import { inTransaction } from '../../infra/postgres/pool.ts';
import { deferred } from '../../tests/support/deferred.ts';
import { poolOfThisFile } from '../../tests/support/test-pool.ts';
import {
  closeUsageChange,
  insertUsageChange,
  type NewUsageChange,
  revertUsageChange,
  showUsageChange,
} from './usage-changes.ts';
import { NO_CHANGES, readClosingChanges, readUsageViews, type UsageView } from './usage-views.ts';

const AT = new Date('2026-11-27T12:00:00.000Z');
const ENVIRONMENT = 'ws_a:live';
const pool = await poolOfThisFile();
await pool.query("INSERT INTO workspaces (id, name) VALUES ('ws_a', 'A')");
await pool.query(
  `INSERT INTO environments (id, workspace_id, mode)
   VALUES ('ws_a:live', 'ws_a', 'live'), ('ws_a:test', 'ws_a', 'test')`,
);
beforeEach(() => pool.query('TRUNCATE usage_changes, usage_voids'));

let made = 0;

function change(given: Partial<NewUsageChange> = {}): NewUsageChange {
  made += 1;
  return {
    ...{ environment: ENVIRONMENT, id: `bkf_${made}`, kind: 'backfill', hasVoids: false },
    ...{ request: { name: 'March' }, createdBy: 'key_a', createdAt: AT },
    ...given,
  };
}

const begin = (given?: Partial<NewUsageChange>) =>
  inTransaction(pool, (db) => insertUsageChange(db, change(given)));

async function viewOf(environment = ENVIRONMENT): Promise<UsageView | undefined> {
  return (await readUsageViews(pool, [environment, 'ws_unknown:live'])).get(environment);
}

test('an environment without changes has the view that reads none, as an unknown one has', async () => {
  await begin({ environment: 'ws_a:test' });
  const views = await readUsageViews(pool, [ENVIRONMENT, 'ws_unknown:live', ENVIRONMENT]);
  expect([...views]).toEqual([
    [ENVIRONMENT, NO_CHANGES],
    ['ws_unknown:live', NO_CHANGES],
  ]);
});

test('a change is hidden until it is visible, and again once it is reverted', async () => {
  const first = await begin();
  const second = await begin({ hasVoids: true });
  const view = { upTo: second, hasVoids: true };
  expect(await viewOf()).toEqual({ ...view, hidden: [first, second] });
  // Not before all its records are on the log.
  expect(await showUsageChange(pool, first, AT)).toBe(false);
  const endsAt = [{ logId: 'aa', partition: 0, end: 1_000 }];
  expect(await closeUsageChange(pool, first, { endsAt, at: AT })).toBe(true);
  expect(await readClosingChanges(pool, ENVIRONMENT)).toEqual([first]);
  expect(await viewOf()).toEqual({ ...view, hidden: [first, second] });
  expect(await showUsageChange(pool, first, AT)).toBe(true);
  expect(await viewOf()).toEqual({ ...view, hidden: [second] });
  expect(await readClosingChanges(pool, ENVIRONMENT)).toEqual([]);
  expect(await inTransaction(pool, (db) => revertUsageChange(db, first, AT))).toBe(true);
  expect(await inTransaction(pool, (db) => revertUsageChange(db, first, AT))).toBe(false);
  expect(await viewOf()).toEqual({ ...view, hidden: [first, second] });
  await pool.query('UPDATE usage_changes SET rows_removed_at = now() WHERE number = $1', [first]);
  expect(await viewOf()).toEqual({ ...view, hidden: [second] });
});

test('what a change voided may be voided by another one once it is reverted', async () => {
  const [first, second] = [await begin({ hasVoids: true }), await begin({ hasVoids: true })];
  const voidBy = async (number: number) => {
    const { rowCount } = await pool.query(
      `INSERT INTO usage_voids (environment, event_id, change, of_change, customer_id, meter_key, occurred_at)
       VALUES ($1, 'use_a', $2, 0, 'cus_a', 'calls', $3) ON CONFLICT DO NOTHING`,
      [ENVIRONMENT, number, AT],
    );
    return rowCount;
  };
  expect([await voidBy(first), await voidBy(second)]).toEqual([1, 0]);
  await inTransaction(pool, (db) => revertUsageChange(db, first, AT));
  expect(await voidBy(second)).toBe(1);
});

/** Red without the lock: the view that has the second number alone would show the rows of the first. */
test('numbers of an environment are committed in their order', async () => {
  const [isInserted, mayCommit] = [deferred<void>(), deferred<void>()];
  const first = inTransaction(pool, async (db) => {
    const number = await insertUsageChange(db, change());
    isInserted.resolve();
    await mayCommit.promise;
    return number;
  });
  await isInserted.promise;
  const second = begin();
  const elsewhere = await begin({ environment: 'ws_a:test' });
  expect(await viewOf('ws_a:test')).toMatchObject({ upTo: elsewhere });
  // The second waits for the first one's end: no view may know of it alone.
  const waiting = async () => {
    const { rows } = await pool.query<{ waiting: number }>(
      `SELECT count(*) AS waiting FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return rows[0]?.waiting;
  };
  await expect.poll(waiting, { timeout: 30_000 }).toBe(1);
  expect(await viewOf()).toEqual(NO_CHANGES);
  mayCommit.resolve();
  expect(await viewAfter(first, second)).toMatchObject({ upTo: await second });
  expect(await first).toBeLessThan(await second);
});

async function viewAfter(...numbers: Promise<number>[]): Promise<UsageView | undefined> {
  await Promise.all(numbers);
  return viewOf();
}
