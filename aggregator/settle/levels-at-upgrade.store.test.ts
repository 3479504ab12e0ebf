import { expect, it } from 'vitest';
import { migratePostgres } from '../../infra/postgres/migrate.ts';
import { databaseOfBefore } from '../../tests/support/database-of-before.ts';

/** The last migration of the release without levels. */
const BEFORE = 15;

// Red when a customer with only a budget or only a limit waits for its next usage, or a delivery has no type.
it('an upgrade marks every customer with a limit or budget, and writes the types of deliveries', async () => {
  const { pool, url, environment } = await databaseOfBefore(BEFORE);
  await pool.query(
    `INSERT INTO customers (id, environment, name, email) SELECT id, $1, 'A', 'a@b.c'
       FROM unnest('{limited,unlimited,budgeted,both}'::text[]) AS id`,
    [environment],
  );
  await pool.query(
    `INSERT INTO meters (id, environment, key, name, aggregation)
     VALUES ('meter_a', $1, 'calls', 'C', 'sum')`,
    [environment],
  );
  await pool.query(
    `INSERT INTO metered_terms (environment, customer_id, meter_key, starts_at, period_start, limits,
                                is_unlimited)
     SELECT $1, id, 'calls', now(), now(), limits::numeric[], limits = '{}'
       FROM (VALUES ('limited', '{5}'), ('both', '{5,7}'), ('unlimited', '{}')) AS new (id, limits)`,
    [environment],
  );
  await pool.query(
    `INSERT INTO budgets SELECT $1, id, 'calls', NULL, 9, now(), now()
       FROM unnest('{budgeted,both}'::text[]) AS id`,
    [environment],
  );
  await pool.query(
    `INSERT INTO webhook_events (id, environment, type, object_id, body, created_at, fanned_out)
     VALUES ('evt_a', $1, 'plan.created', 'plan_a', '{}', now(), true)`,
    [environment],
  );
  await pool.query(
    `INSERT INTO webhook_deliveries (id, environment, endpoint_id, event_id, state, created_at)
     SELECT 'dlv_' || age, $1, 'we_a', 'evt_a', 'failed', now() - age * interval '1 day'
       FROM generate_series(0, 20) AS age`,
    [environment],
  );
  await pool.query('DELETE FROM settlement_marks');
  await migratePostgres(url);
  const marks = await pool.query('SELECT customer_id AS id, meter_key FROM settlement_marks ORDER BY 1');
  expect(marks.rows).toEqual(['both', 'budgeted', 'limited'].map((id) => ({ id, meter_key: 'calls' })));
  const types = await pool.query(
    'SELECT event_type AS type, count(*)::integer FROM webhook_deliveries GROUP BY 1',
  );
  expect(types.rows).toEqual([{ type: 'plan.created', count: 21 }]);
});
