import type { Pool } from 'pg';
import { Registry } from 'prom-client';
import { expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../infra/ports/clock.ts';
import type { Statement, Warehouse } from '../../infra/ports/warehouse.ts';
import { Transient } from '../../schemas/failures.ts';
import type { TouchedCustomerMeter } from '../../schemas/stored/frame.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { alarms, createEnd, settledUpTo, start, WAIT } from '../aggregator-under-test.ts';
import type { Lease } from '../load/lease.ts';
import { createAggregatorMetrics } from '../metrics.ts';
import { acquireLease } from '../store/leases.ts';
import type { Range } from '../store/ranges.ts';
import { settleBatch } from './settle-batch.ts';
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

it('takes no more ranges than fit, and more once these are settled', async () => {
  const { settler, held, ranges, roundTrips } = await openHeldSettler(258);
  await settler.add(ranges(), [[TOUCHED]]);
  await held.reached;
  for (let added = 1; added < 256; added += 1) await settler.add(ranges(), [[TOUCHED]]);
  const added = vi.fn();
  const adding = settler.add(ranges(), [[TOUCHED]]).then(added);
  // Nothing shows that it waits: an unbounded queue would take everything during these round trips.
  await roundTrips();
  expect(added).not.toHaveBeenCalled();
  held.release();
  await adding;
});

// Red when each use of a customer meter counts: with many customers counters wait for their thresholds.
it('a customer meter that is used often takes one place, and 500,000 of them hold the load up', async () => {
  const { settler, held, ranges, roundTrips } = await openHeldSettler(4);
  await settler.add(ranges(), [[TOUCHED]]);
  await held.reached;
  await settler.add(ranges(), [Array(600_000).fill(TOUCHED)]);
  await settler.add(ranges(), [Array.from({ length: 500_000 }, (_, at) => touchedOf(`cus_${at}`))]);
  const added = vi.fn();
  const adding = settler.add(ranges(), [[TOUCHED]]).then(added);
  await roundTrips();
  expect(added).not.toHaveBeenCalled();
  held.fail(new Transient('database_unavailable', 'broken by the test'));
  await expect(adding).rejects.toThrow('broken by the test');
});

// Red when they are settled in the order in which they were used: each chunk is from everywhere.
it('customer meters that are neighbours in the warehouse are settled together', async () => {
  const { stores } = await openTenant();
  await acquireLease(stores.pool, PLACE, 'a', 60_000);
  const { rows } = await stores.pool.query<{ id: string }>(
    `WITH customer AS (INSERT INTO customers (id, environment, name, email)
       SELECT 'cus_' || md5(n::text), $1, 'A', 'a@b.c' FROM generate_series(1, 700) AS n RETURNING id),
     budget AS (INSERT INTO budgets SELECT $1, id, $2, NULL, 5, now(), now() FROM customer)
     SELECT id FROM customer`,
    [TOUCHED.environment, TOUCHED.meterKey],
  );
  const chunks: string[][] = [];
  const query = async <Row>(statement: Statement): Promise<Row[]> => {
    const { customers } = statement.params as { customers?: string[] };
    if (customers) chunks.push([...customers]);
    return stores.warehouse.query<Row>(statement);
  };
  const deps = { ...stores, warehouse: { ...stores.warehouse, query } as Warehouse, keptFromMs: () => 0 };
  const customerMeters = rows.map(({ id }) => ({ ...TOUCHED, customerId: id }));
  const lease = { ...PLACE, epoch: 1 } as Lease;
  await settleBatch({ ...deps, clock: systemClock }, lease, { ranges: [], customerMeters, marks: [] });
  expect(chunks.map(({ length }) => length)).toEqual([300, 300, 100]);
  expect(chunks.flatMap((chunk) => chunk.sort())).toEqual(rows.map(({ id }) => id).sort());
});

function touchedOf(customerId: string): TouchedCustomerMeter {
  return { ...TOUCHED, customerId };
}

/** Its first settlement waits. `ranges` gives one after the other, of so many. */
async function openHeldSettler(count: number) {
  const { stores, tenant } = await openTenant();
  await tenant.budget(null, '5');
  await acquireLease(stores.pool, PLACE, 'a', 60_000);
  const loaded: Range[] = [];
  for (let at = 0; at < count; at += 1) loaded.push(await loadedRange(stores.pool, at * 10));
  const end = createEnd();
  let failure: Error | undefined;
  const pool = {
    connect: async () => {
      await end.here();
      if (failure) throw failure;
      return stores.pool.connect();
    },
    query: (sql: string, values?: unknown[]) => stores.pool.query(sql, values),
  } as unknown as Pool;
  const metrics = createAggregatorMetrics(new Registry());
  const deps = { ...stores, pool, clock: systemClock, log: SILENT, metrics, keptFromMs: () => 0 };
  const settler = startSettler(deps, { ...PLACE, epoch: 1 } as Lease);
  const fail = (error: Error) => {
    failure = error;
    end.release();
  };
  onTestFinished(() => {
    fail(new Error('the test is over'));
    return settler.close();
  });
  const roundTrips = async () => {
    for (let trip = 0; trip < 200; trip += 1) await stores.pool.query('SELECT 1');
  };
  return { settler, held: { ...end, fail }, ranges: () => loaded.shift() as Range, roundTrips };
}
