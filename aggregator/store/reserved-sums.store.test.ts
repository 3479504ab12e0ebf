import { expect, it } from 'vitest';
import { testWorkspace } from '../../tests/support/test-pool.ts';
import { contradictoryReservations } from './reserved-sums.ts';

it('an audit finds sums of reservations that are not those of the open ones, on either side', async () => {
  const { pool, environment } = await testWorkspace();
  await pool.query(
    `INSERT INTO reserved_amounts (environment, customer_id, meter_key, held, beyond, rate)
     VALUES ($1, 'cus_a', 'm', 3.5, 0, 0), ($1, 'cus_b', 'm', 2, 0, 0), ($1, 'cus_c', 'm', 0, 0, 0)`,
    [environment],
  );
  await pool.query(
    `INSERT INTO reservations (id, environment, customer_id, feature_key, meter_key, amount, status,
                               created_by, created_at, renewed_at, expires_at)
     SELECT id, $1, customer, 'f', meter, amount, status, 'key_a', now(), now(), now()
       FROM (VALUES ('r1', 'cus_a', 'm', 1.5, 'held'), ('r2', 'cus_a', 'm', 2, 'held'),
                    ('r3', 'cus_b', 'm', 1, 'held'), ('r4', 'cus_b', 'm', 1, 'released'),
                    ('r5', 'cus_d', 'm', 7, 'held')) AS v (id, customer, meter, amount, status)`,
    [environment],
  );
  const found = await contradictoryReservations(pool, 10);
  const common = { kind: 'reservations', environment, meterKey: 'm' };
  expect(found.sort((a, b) => (a.customerId < b.customerId ? -1 : 1))).toEqual([
    { ...common, customerId: 'cus_b', held: '2', open: '1' },
    { ...common, customerId: 'cus_d', held: '0', open: '7' },
  ]);
  expect(await contradictoryReservations(pool, 1)).toHaveLength(1);
});
