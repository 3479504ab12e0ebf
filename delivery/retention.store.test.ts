import type { Pool } from 'pg';
import { expect, it } from 'vitest';
import { deliveryUnderTest } from './delivery-under-test.ts';
import { turnPartitions } from './retention.ts';

const DAY_MS = 86_400_000;
const TODAY = new Date('2026-03-31T12:00:00.000Z');

function daysFrom(days: number): Date {
  return new Date(TODAY.getTime() + days * DAY_MS);
}

async function partitions(pool: Pool, parent: string): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
      WHERE i.inhparent = $1::regclass AND c.relname LIKE '%2026%' ORDER BY 1`,
    [parent],
  );
  return rows.map(({ name }) => name.replace(`${parent}_`, ''));
}

async function addDelivery(pool: Pool, id: string, at: Date): Promise<void> {
  await pool.query(
    `INSERT INTO webhook_deliveries (id, environment, endpoint_id, event_id, state, created_at)
     VALUES ($1, 'ws_a:live', 'we_a', 'evt_a', 'pending', $2)`,
    [id, at],
  );
  await pool.query(
    `INSERT INTO webhook_attempts (delivery_id, number, environment, created_at, started_at, duration_ms,
                                   request_head) VALUES ($1, 1, 'ws_a:live', $2, $2, 1, '')`,
    [id, at],
  );
  await pool.query(
    `INSERT INTO webhook_queue (delivery_id, delivery_created_at, environment, endpoint_id, event_id, due_at)
     VALUES ($1, $2, 'ws_a:live', 'we_a', 'evt_a', $2)`,
    [id, at],
  );
}

async function left(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT id FROM webhook_deliveries UNION ALL SELECT delivery_id FROM webhook_attempts
     UNION ALL SELECT delivery_id FROM webhook_queue ORDER BY 1`,
  );
  return rows.map(({ id }) => id);
}

/** Red when an age is another one, or when attempts or the queue are left. */
it('deliveries are deleted after 30 days with their attempts, and coming days are created', async () => {
  const { pool } = await deliveryUnderTest();
  await turnPartitions(pool, daysFrom(-31));
  await addDelivery(pool, 'dlv_old', daysFrom(-31));
  await addDelivery(pool, 'dlv_kept', daysFrom(-30));
  for (const parent of ['webhook_deliveries', 'webhook_attempts']) {
    expect(await partitions(pool, parent)).toEqual(
      expect.arrayContaining(['20260228', '20260301', '20260302', '20260303']),
    );
  }
  await turnPartitions(pool, TODAY);
  await turnPartitions(pool, TODAY);
  expect(await left(pool)).toEqual(['dlv_kept', 'dlv_kept', 'dlv_kept']);
  for (const parent of ['webhook_deliveries', 'webhook_attempts']) {
    const days = await partitions(pool, parent);
    expect(days).not.toContain('20260228');
    expect(days).toEqual(
      expect.arrayContaining(['20260301', '20260331', '20260401', '20260402', '20260403']),
    );
  }
});

it('a day without its partition is in the default one, blocks no other, and is deleted as well', async () => {
  const { pool } = await deliveryUnderTest();
  await addDelivery(pool, 'dlv_stray', TODAY);
  await turnPartitions(pool, TODAY);
  const days = await partitions(pool, 'webhook_deliveries');
  expect(days).not.toContain('20260331');
  expect(days).toContain('20260401');
  expect(await left(pool)).toHaveLength(3);
  await turnPartitions(pool, daysFrom(31));
  expect(await left(pool)).toEqual([]);
});

it('several processes turn them at once', async () => {
  const { pool } = await deliveryUnderTest();
  await Promise.all(Array.from({ length: 4 }, () => turnPartitions(pool, TODAY)));
  expect(await partitions(pool, 'webhook_attempts')).toContain('20260403');
});
