import type { Pool } from 'pg';
import { Registry } from 'prom-client';
import { expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../infra/ports/clock.ts';
import type { Statement, Warehouse } from '../../infra/ports/warehouse.ts';
import { Transient } from '../../schemas/failures.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { alarms, createEnd, settledUpTo, start, WAIT } from '../aggregator-under-test.ts';
import type { Lease } from '../load/lease.ts';
import { createAggregatorMetrics } from '../metrics.ts';
import { acquireLease } from '../store/leases.ts';
import { loadedRange, openTenant, PLACE, TOUCHED } from './settlement-under-test.ts';
import { startSettler } from './settler.ts';

// Mutant it catches: healthy as soon as the log can be read, even when the settlement failed.
it('a settlement that fails each time has an alarm until it succeeds, and then burns all of it', async () => {
  const { stores, tenant } = await openTenant();
  await tenant.rate(1, 0, '2');
  await tenant.grant('100');
  let isBroken = true;
  let tries = 0;
  const query = async <Row>(statement: Statement): Promise<Row[]> => {
    if (statement.connection === 'settlement' && isBroken) {
      tries += 1;
      throw new Transient('warehouse_unavailable', 'broken by the test');
    }
    return stores.warehouse.query<Row>(statement);
  };
  const metrics = new Registry();
  start(stores, { warehouse: { ...stores.warehouse, query } as Warehouse, metrics }, { lingerMs: 0 });
  const end = await stores.append([{ id: 'a', value: '3' }]);
  await vi.waitFor(async () => expect(await alarms(stores)).toEqual(['warehouse_unavailable']), WAIT);
  const before = tries;
  for (const seen = new Set<number>(); seen.size < 3; ) {
    seen.add(tries);
    expect(await alarms(stores)).toEqual(['warehouse_unavailable']);
  }
  expect(tries).toBeGreaterThan(before);
  expect(await metrics.metrics()).toMatch(
    /metergate_load_failures_total\{code="warehouse_unavailable"\} [2-9]/,
  );
  isBroken = false;
  await settledUpTo(stores, end);
  expect(await tenant.wallet()).toMatchObject({ balance: '94' });
  await vi.waitFor(async () => expect(await alarms(stores)).toEqual([]), WAIT);
});

it('takes no more customer meters than fit, and more once these are settled', async () => {
  const { stores } = await openTenant();
  await acquireLease(stores.pool, PLACE, 'a', 60_000);
  const [first, second] = [await loadedRange(stores.pool, 0), await loadedRange(stores.pool, 10)];
  const held = createEnd();
  const pool = {
    connect: () => stores.pool.connect(),
    query: async (sql: string, values?: unknown[]) => {
      if (sql.includes('meter_rates')) await held.here();
      return stores.pool.query(sql, values);
    },
  } as unknown as Pool;
  const deps = { ...stores, pool, clock: systemClock, log: SILENT };
  const metrics = createAggregatorMetrics(new Registry());
  const settler = startSettler({ ...deps, metrics, keptFromMs: () => 0 }, { ...PLACE, epoch: 1 } as Lease);
  onTestFinished(() => settler.close());
  // The first has more than may wait: alone it is taken all the same.
  await settler.add(first, [Array(600_000).fill(TOUCHED)]);
  await held.reached;
  const added = vi.fn();
  const adding = settler.add(second, [[TOUCHED]]).then(added);
  // Nothing shows that it waits: an unbounded queue would take everything during these round trips.
  for (let trip = 0; trip < 200; trip += 1) await stores.pool.query('SELECT 1');
  expect(added).not.toHaveBeenCalled();
  held.release();
  await adding;
});
