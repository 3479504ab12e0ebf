import type { Pool } from 'pg';
import { expect, it } from 'vitest';
import { addMonths, periodAt, termPeriodAt } from '../../domain/rules/billing-period.ts';
import { migratePostgres } from '../../infra/postgres/migrate.ts';
import { databaseOfBefore } from '../../tests/support/database-of-before.ts';
import { findSubscription, type SubscriptionRow } from '../store/subscriptions.ts';
import { shownSubscription } from './shown-subscription.ts';
import { termOfRow } from './subscription-fields.ts';

/** The last migration of the release that derived the length of periods from the first one. */
const BEFORE = 8;
const DAY_MS = 86_400_000;

/** What the previous release could store, and how it is shown from now on. */
const CYCLES: Array<[id: string, anchor: string, months: number | null, ms: number | null, shown: object]> = [
  ['month', '2026-01-31T10:00:00.5Z', 1, null, { interval: 'month', intervalCount: 1 }],
  ['quarter', '2026-01-31Z', 3, null, { interval: 'month', intervalCount: 3 }],
  ['eighteen', '2025-08-31Z', 18, null, { interval: 'month', intervalCount: 18 }],
  ['year', '2024-02-29Z', 12, null, { interval: 'year', intervalCount: 1 }],
  ['years', '2024-02-29Z', 36, null, { interval: 'year', intervalCount: 3 }],
  ['decades', '2020-01-31Z', 240, null, { interval: 'year', intervalCount: 20 }],
  ['fortnight', '2026-01-17Z', null, 14 * DAY_MS, { interval: 'day', intervalCount: 14 }],
  ['odd', '2026-01-17Z', null, 10 * DAY_MS + 12_345_678, {}],
  ['instant', '2026-01-17Z', null, 1, {}],
  ['half', '2026-01-17Z', null, DAY_MS / 2, {}],
];

/*
 * Red when a count or an anchor differs, when a year is not twelve months, when a length that is not a whole
 * number of days is rounded, when a subscription that counts today no longer counts, when `rolls_at`, the
 * pause or a period is changed, or when a process of the previous release reads another length.
 */
it('no period of an earlier release begins or ends at another time after the upgrade', async () => {
  const { pool, url, environment } = await databaseWithRows();
  for (const [id, anchor, months, ms] of CYCLES) {
    await insertOld(pool, environment, { id, anchor, months, ms });
  }
  const unchanged = `SELECT id, status, current_period_start, current_period_end, anchor, no_roll_before,
    rolls_at, cancel_at, trial_end, interval_months, interval_ms, updated_at FROM subscriptions ORDER BY id`;
  const before = (await pool.query(unchanged)).rows;
  await migratePostgres(url);
  expect((await pool.query(unchanged)).rows).toEqual(before);
  const ofTerms = await pool.query<{ same: boolean }>(
    `SELECT bool_and(t.legacy_interval_ms IS NOT DISTINCT FROM s.legacy_interval_ms) AS same
       FROM subscriptions s LEFT JOIN subscription_terms t ON t.subscription_id = s.id`,
  );
  expect(ofTerms.rows).toEqual([{ same: true }]);
  for (const [id, anchor, months, ms, shown] of CYCLES) {
    const row = await found(pool, environment, id);
    const { interval, intervalCount } = shownSubscription(row);
    expect({ interval, intervalCount }).toEqual({ interval: undefined, intervalCount: undefined, ...shown });
    const old = (n: number) =>
      months === null ? Date.parse(anchor) + n * Number(ms) : addMonths(Date.parse(anchor), n * months);
    const term = termOfRow(row);
    for (let n = -5; n < 30; n += 1) {
      const period = { fromMs: old(n), toMs: old(n + 1) };
      expect([id, periodAt(term.cycle, old(n))]).toEqual([id, period]);
      if (n >= 1) expect(termPeriodAt(term, old(n + 1) - 1)).toEqual(period);
    }
  }
});

it('a period at the upgrade stays counted, and a cancellation at its end moves with it', async () => {
  const { pool, url, environment } = await databaseWithRows();
  const month = { anchor: '2026-01-10Z', months: 1, ms: null };
  await insertOld(pool, environment, { id: 'imported', ...month, fields: { created_at: '2026-03-01Z' } });
  await insertOld(pool, environment, { id: 'ahead', ...month, fields: { created_at: '2025-12-01Z' } });
  await insertOld(pool, environment, { id: 'ends', ...month, fields: { cancel_at: '2026-03-10Z' } });
  await insertOld(pool, environment, { id: 'sooner', ...month, fields: { cancel_at: '2026-03-09Z' } });
  const ended = { cancel_at: '2026-03-10Z', status: 'canceled' };
  await insertOld(pool, environment, { id: 'ended', ...month, fields: ended });
  await migratePostgres(url);
  const { rows } = await pool.query(
    `SELECT id, starts_at AS start, cancels_at_period_end AS moves, pending_plan_id AS waits
       FROM subscriptions ORDER BY id`,
  );
  const [since, waits] = [new Date('2026-01-10Z'), null];
  expect(rows).toEqual([
    { id: 'ahead', start: new Date('2025-12-01Z'), moves: false, waits },
    { id: 'ended', start: since, moves: false, waits },
    { id: 'ends', start: since, moves: true, waits },
    { id: 'imported', start: since, moves: false, waits },
    { id: 'sooner', start: since, moves: false, waits },
  ]);
});

it('a workspace keeps its days of grace, and a new one has 14', async () => {
  const { pool, url } = await databaseWithRows();
  await migratePostgres(url);
  await pool.query(`INSERT INTO workspaces (id, name) VALUES ('ws_new', 'New')`);
  const { rows } = await pool.query('SELECT name, past_due_grace_days AS days FROM workspaces ORDER BY name');
  expect(rows).toEqual([
    { name: 'New', days: 14 },
    { name: 'Test', days: 7 },
  ]);
});

async function databaseWithRows() {
  const { pool, url, environment } = await databaseOfBefore(BEFORE);
  for (const statement of CATALOGUE) await pool.query(statement, [environment]);
  return { pool, url, environment };
}

const CATALOGUE = [
  `INSERT INTO products (environment, id, name, created_at) VALUES ($1, 'p', 'p', now())`,
  `INSERT INTO plans (id, environment, key, name, product_id, created_at, updated_at)
   VALUES ('pro', $1, 'pro', 'Pro', 'p', now(), now())`,
  `INSERT INTO customers (id, environment, name, email) VALUES ('cus', $1, 'Ada', 'ada@example.com')`,
];

interface OldRow {
  id: string;
  anchor: string;
  months: number | null;
  ms: number | null;
  fields?: Record<string, string>;
}

/** In its second period. */
async function insertOld(
  pool: Pool,
  environment: string,
  { id, anchor, months, ms, fields = {} }: OldRow,
): Promise<void> {
  const from = Date.parse(anchor);
  const [start, end] = [1, 2].map(
    (n) => new Date(months === null ? from + n * Number(ms) : addMonths(from, n * months)),
  );
  const row: Record<string, unknown> = {
    ...{
      id,
      environment,
      customer_id: 'cus',
      plan_id: 'pro',
      status: 'active',
      status_since: anchor,
      anchor,
    },
    current_period_start: start,
    current_period_end: end,
    interval_months: months,
    interval_ms: ms,
    no_roll_before: end,
    created_at: anchor,
    updated_at: anchor,
    ...fields,
  };
  const names = Object.keys(row);
  await pool.query(
    `INSERT INTO subscriptions (${names}) VALUES (${names.map((_, at) => `$${at + 1}`)})`,
    Object.values(row),
  );
}

async function found(pool: Pool, environment: string, id: string): Promise<SubscriptionRow> {
  const row = await findSubscription(pool, environment, id);
  if (!row) throw new Error(`there is no subscription ${id}`);
  return row;
}
