import { expect, it } from 'vitest';
import { testWorkspace } from '../../tests/support/test-pool.ts';
import { contradictoryReservations } from './reserved-sums.ts';

it('an audit finds sums of reservations that are not what each takes, on either side', async () => {
  const { pool, environment } = await testWorkspace();
  await pool.query(
    `INSERT INTO reserved_amounts (environment, customer_id, meter_key, held, beyond, rate, uncounted,
                                   has_commits)
     VALUES ($1, 'cus_a', 'm', 5.5, 0, 0, 2, true), ($1, 'cus_b', 'm', 2, 0, 0, 0, false),
            ($1, 'cus_c', 'm', 0, 0, 0, 0, true)`,
    [environment],
  );
  await pool.query(
    `INSERT INTO reservations (id, environment, customer_id, feature_key, meter_key, counts_events, amount,
                               reserved, status, on_expiry, created_by, created_at, renewed_at, expires_at,
                               value, occurred_at, commit_number, event)
     SELECT id, $1, customer, 'f', meter, false, 9, reserved, status, 'release', 'key_a', now(), now(),
            now(), 2, now(), 1, '{}'
       FROM (VALUES ('r1', 'cus_a', 'm', 1.5, 'held'), ('r2', 'cus_a', 'm', 2, 'held'),
                    ('r6', 'cus_a', 'm', 2, 'committed'), ('r7', 'cus_a', 'm', 0, 'committed'),
                    ('r3', 'cus_b', 'm', 1, 'held'), ('r4', 'cus_b', 'm', 0, 'released'),
                    ('r5', 'cus_d', 'm', 7, 'held')) AS v (id, customer, meter, reserved, status)`,
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
