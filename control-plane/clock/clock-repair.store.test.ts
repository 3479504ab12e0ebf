import type { Pool } from 'pg';
import { expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../infra/ports/clock.ts';
import { inTransaction } from '../../infra/postgres/pool.ts';
import { newId } from '../../schemas/primitives/ids.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { testWorkspace } from '../../tests/support/test-pool.ts';
import { notifiedUnderTest } from '../entitlements/changes/changes-under-test.ts';
import { notifierUnderTest } from '../entitlements/changes/notifier-under-test.ts';
import { touchEntitlements } from '../entitlements/changes/touch-entitlements.ts';
import { putOverride } from '../store/overrides.ts';
import { readRepairs } from '../store/repairs.ts';
import { catalogueUnderTest } from '../subscriptions/subscriptions-under-test.ts';
import { startClockRepair } from './clock-repair.ts';
import { clockUnderTest } from './clock-under-test.ts';

/*
 * Rows as a clock that was 40 days ahead leaves them in the stores, after it was corrected. Each case is red
 * when the statement of its table is left out.
 */
const WAIT = { timeout: 20_000, interval: 20 };
const DAY_MS = 86_400_000;
const DAYS_40_MS = 40 * DAY_MS;
const AHEAD = "now() + interval '40 days'";

/** Runs at once, as after a start, until it has processed all tables. */
async function repair(pool: Pool): Promise<void> {
  const job = startClockRepair({ pool, clock: systemClock, log: SILENT });
  onTestFinished(() => job.close());
  const runs = async () => (await pool.query("SELECT runs FROM job_leases WHERE job = 'clock-repair'")).rows;
  await vi.waitFor(async () => expect((await runs())[0]?.runs).toBeGreaterThan(0), WAIT);
  await job.close();
}

/** How far in the future a time of a row is, in days. */
async function daysAhead(pool: Pool, table: string, column: string, where = 'true'): Promise<number | null> {
  const { rows } = await pool.query<{ days: number | null }>(
    `SELECT round(extract(epoch FROM ${column} - now()) / 86400)::int AS days FROM ${table} WHERE ${where}`,
  );
  return rows[0]?.days ?? null;
}

it('a customer notified as of a future day is notified now, and on that day again', async () => {
  const { pool, environment } = await testWorkspace();
  const customerId = await catalogueUnderTest(pool, environment).customer();
  await pool.query(
    `INSERT INTO features (id, environment, key, name, type, created_at, updated_at)
     VALUES ('sso', $1, 'sso', 'sso', 'boolean', now(), now())`,
    [environment],
  );
  await inTransaction(pool, async (db) => {
    const expiresAt = new Date(Date.now() + 10 * DAY_MS);
    const value = { enabled: true, amount: null, expiresAt, reason: null };
    const row = { id: newId('ovr'), customerId, featureId: 'sso', ...value, updatedAt: new Date() };
    await putOverride(db, environment, row);
    // With a clock 40 days later this has expired.
    const nowMs = Date.now() + DAYS_40_MS;
    const context = { db, environment, actor: 'key', operationId: 'test', nowMs };
    await touchEntitlements(context, { customerIds: [customerId] });
  });
  const notified = notifiedUnderTest(pool, environment);
  expect(await notified.events(customerId, 'all')).toEqual([]);
  await repair(pool);
  notifierUnderTest(pool, {});
  const isNotified = expect.objectContaining({ allowed: true });
  await vi.waitFor(async () => expect(await notified.events(customerId, 'all')).toEqual([isNotified]), WAIT);
  expect(await daysAhead(pool, 'entitlements_told', 'next_turn')).toBe(10);
});

it('deliveries, circuits and endpoints continue; what the schedule postponed keeps its time', async () => {
  const { pool, environment } = await testWorkspace();
  await pool.query(
    `INSERT INTO webhook_endpoints (id, environment, url, events, secret, created_at, updated_at,
                                    circuit_until, failing_since)
     VALUES ('we_a', $1, 'https://a.example', '{*}', '', ${AHEAD}, ${AHEAD}, ${AHEAD}, ${AHEAD})`,
    [environment],
  );
  await pool.query(
    `INSERT INTO webhook_queue (delivery_id, delivery_created_at, environment, endpoint_id, event_id, due_at,
                                owner, lease_until)
     VALUES ('stranded', ${AHEAD}, $1, 'we_a', 'evt', ${AHEAD}, NULL, NULL),
            ('leased', now(), $1, 'we_a', 'evt', now(), 'killed', ${AHEAD}),
            ('tomorrow', now(), $1, 'we_a', 'evt', now() + interval '24 hours', NULL, NULL)`,
    [environment],
  );
  await repair(pool);
  const due = (id: string) => daysAhead(pool, 'webhook_queue', 'due_at', `delivery_id = '${id}'`);
  expect([await due('stranded'), await due('leased'), await due('tomorrow')]).toEqual([0, 0, 1]);
  const leases = await pool.query('SELECT FROM webhook_queue WHERE owner IS NOT NULL');
  expect(leases.rowCount).toBe(0);
  for (const column of ['circuit_until', 'failing_since', 'created_at']) {
    expect(await daysAhead(pool, 'webhook_endpoints', column), column).toBe(0);
  }
});

it('a repair of the warehouse that failed then is over with the audit that came through since', async () => {
  const { pool } = await testWorkspace();
  await pool.query(
    `INSERT INTO audit_runs (id, repair, state, asked_at, finished_at)
     VALUES ('before', true, 'done', now() - interval '1 hour', now() - interval '1 hour'),
            ('failed', true, 'failed', ${AHEAD}, ${AHEAD} + interval '1 minute'),
            ('later', true, 'done', ${AHEAD}, ${AHEAD} + interval '2 minutes'),
            ('last', true, 'failed', ${AHEAD}, ${AHEAD} + interval '3 minutes')`,
  );
  await repair(pool);
  const { rows } = await pool.query('SELECT id FROM audit_runs ORDER BY finished_at');
  expect(rows.map(({ id }) => id)).toEqual(['before', 'failed', 'later', 'last']);
  expect((await readRepairs(pool)).hasFailed).toBe(true);
  await pool.query(
    `INSERT INTO audit_runs (id, repair, state, finished_at) VALUES ('now', true, 'done', clock_timestamp())`,
  );
  expect((await readRepairs(pool)).hasFailed).toBe(false);
});

it('rolls of periods, fan-outs, alarms, stored responses and stamps of keys are reset, too', async () => {
  const { pool, environment, add } = await clockUnderTest();
  // It rolled with the wrong clock, and an operator has corrected its period since.
  const ahead = new Date(Date.now() + DAYS_40_MS);
  await add({ noRollBefore: ahead, localChangedAt: ahead });
  await pool.query(
    `INSERT INTO fanout_jobs (environment, scope, target, asked_at, worked_at, changed_at)
     VALUES ($1, 'plan', 'p', ${AHEAD}, ${AHEAD}, ${AHEAD})`,
    [environment],
  );
  await pool.query(
    `INSERT INTO partition_alarms (log_id, partition, code, message, created_at)
     VALUES ('aa', 0, 'event_twice', '', ${AHEAD})`,
  );
  await pool.query(
    `INSERT INTO idempotent_answers (environment, method, path, key, request_hash, status, body, created_at)
     VALUES ($1, 'POST', '/', 'k', '', 201, '', ${AHEAD})`,
    [environment],
  );
  await pool.query(`UPDATE api_keys SET last_used_at = ${AHEAD}`);
  await repair(pool);
  for (const [table, column] of [
    ['fanout_jobs', 'worked_at'],
    ['fanout_jobs', 'changed_at'],
    ['partition_alarms', 'created_at'],
    ['idempotent_answers', 'created_at'],
    ['api_keys', 'last_used_at'],
    ['subscriptions', 'no_roll_before'],
    ['subscriptions', 'local_changed_at'],
  ] as const) {
    expect(await daysAhead(pool, table, column), table).toBe(0);
  }
});

it('an open reservation lasts as long as was asked for, from now', async () => {
  const { pool, environment } = await testWorkspace();
  await pool.query(
    `INSERT INTO reservations (id, environment, customer_id, feature_key, meter_key, amount, status,
                               created_by, created_at, renewed_at, expires_at)
     VALUES ('rsv_a', $1, 'cus_a', 'f', 'm', 1, 'held', 'key_a', ${AHEAD}, ${AHEAD},
             ${AHEAD} + interval '1 day')`,
    [environment],
  );
  await repair(pool);
  expect(await daysAhead(pool, 'reservations', 'expires_at')).toBe(1);
  expect(await daysAhead(pool, 'reservations', 'created_at')).toBe(0);
});
