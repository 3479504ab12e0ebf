import { expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../infra/ports/clock.ts';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { Transient } from '../../schemas/failures.ts';
import { newId } from '../../schemas/primitives/ids.ts';
import { warehouseOfThisFile } from '../../tests/support/log-and-warehouse.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { addTestWorkspace, testPool } from '../../tests/support/test-pool.ts';
import { findSimulation, forgetSimulations, insertSimulation, listSimulated } from '../store/simulations.ts';
import { catalogueUnderTest } from '../subscriptions/subscriptions-under-test.ts';
import { type SimulatorOptions, startSimulator } from './simulator.ts';

/*
 * Simulations through the end of the process that works on them, and through failures.
 *
 * Mutants this suite catches: the position stored before the results, or apart from them; a former owner that
 * still writes; a failure that ends the simulation, or delays the others; one that is tried forever.
 */
const WAIT = { timeout: 60_000, interval: 20 };
const warehouse = await warehouseOfThisFile();
const PRICE = { key: 'base', currency: 'EUR', interval: 'month', intervalCount: 1 } as const;
const OFFER = {
  prices: [
    { ...PRICE, model: 'flat' as const, amount: '10' },
    { ...PRICE, key: 'use', model: 'per_unit' as const, meterKey: 'calls', unitAmount: '1' },
  ],
};

async function simulatorUnderTest() {
  const pool = await testPool();
  const { environment } = await addTestWorkspace(pool);
  const made = catalogueUnderTest(pool, environment);
  const planId = await made.plan();
  await pool.query(
    `INSERT INTO meters (id, environment, key, name, aggregation, created_at, updated_at)
     VALUES ('meter_a', $1, 'calls', 'Calls', 'sum', now(), now())`,
    [environment],
  );

  /** As a process of the release before leaves it: without a term. */
  async function subscriber(): Promise<string> {
    const customerId = await made.customer();
    await pool.query(
      `INSERT INTO subscriptions (id, environment, customer_id, plan_id, status, status_since, starts_at,
         current_period_start, current_period_end, anchor, interval, interval_count, created_at, updated_at)
       VALUES ($1, $2, $3, $4, 'active', now(), now() - interval '9 days', now() - interval '9 days',
         now() + interval '20 days', now() - interval '9 days', 'month', 1, now(), now())`,
      [newId('sub'), environment, customerId, planId],
    );
    return customerId;
  }

  const [startsAt, endsAt] = [new Date(Date.now() - 10 * 86_400_000), new Date()];
  return {
    pool,
    customers: async (count: number) => {
      const ids: string[] = [];
      for (let n = 0; n < count; n += 1) ids.push(await subscriber());
      return ids.sort();
    },
    async request(customers: number, offer = OFFER): Promise<string> {
      const id = newId('sim');
      const row = { id, planId: null, offer, customerIds: null, customers, createdAt: new Date() };
      await insertSimulation(pool, environment, { ...row, startsAt, endsAt });
      return id;
    },
    start(options: SimulatorOptions, over: Warehouse = warehouse) {
      const deps = { pool, warehouse: over, clock: systemClock, log: SILENT, asOfMs: () => Date.now() };
      const job = startSimulator(deps, { everyMs: 50, leaseMs: 400, ...options });
      onTestFinished(() => job.close());
      return job;
    },
    found: (id: string) => findSimulation(pool, environment, id),
    results: (id: string) => listSimulated(pool, id, { page: 1, pageSize: 100, isBeyond: false }),
  };
}

/** A warehouse that reads nothing from its nth statement on. */
function spoilt(from: number, respond: () => Promise<never>): Warehouse & { statements: () => number } {
  let statements = 0;
  return {
    ...warehouse,
    statements: () => statements,
    query: (statement) => {
      statements += 1;
      return statements < from ? warehouse.query(statement) : respond();
    },
  };
}

it('a simulation goes on where its process ended, with each customer once', async () => {
  const { customers, request, start, found, results } = await simulatorUnderTest();
  const ids = await customers(7);
  const id = await request(ids.length);
  let release: (error: Error) => void = () => undefined;
  const hanging = new Promise<never>((_, reject) => {
    release = reject;
  });
  const first = spoilt(4, () => hanging);
  start({ owner: 'first', chunkMax: 1 }, first);
  await vi.waitFor(() => expect(first.statements()).toBe(4), WAIT);
  expect(await found(id)).toMatchObject({ status: 'running', done: 3, position: ids[2] });
  start({ owner: 'second', chunkMax: 2 });
  await vi.waitFor(async () => expect(await found(id)).toMatchObject({ status: 'completed' }), WAIT);
  release(new Transient('warehouse_unavailable', 'It was released.'));
  const { rows, total } = await results(id);
  expect([total, rows.map(({ customerId }) => customerId).sort()]).toEqual([7, ids]);
  const simulated = { currency: 'EUR', customers: 7, current: '0', simulated: '70' };
  expect(await found(id)).toMatchObject({ done: 7, totals: [simulated] });
});

it('a former owner writes nothing', async () => {
  const { customers, request, start, found, results } = await simulatorUnderTest();
  const id = await request((await customers(3)).length);
  let proceed: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    proceed = resolve;
  });
  let isHeld = false;
  const slow: Warehouse = {
    ...warehouse,
    query: async (statement) => {
      isHeld = true;
      await held;
      return warehouse.query(statement);
    },
  };
  start({ owner: 'first' }, slow);
  await vi.waitFor(() => expect(isHeld).toBe(true), WAIT);
  start({ owner: 'second' });
  await vi.waitFor(async () => expect(await found(id)).toMatchObject({ status: 'completed' }), WAIT);
  const before = [await found(id), await results(id)];
  proceed();
  const next = await request(3);
  await vi.waitFor(async () => expect(await found(next)).toMatchObject({ status: 'completed' }), WAIT);
  expect([await found(id), await results(id)]).toEqual(before);
});

it('waits while the warehouse is unavailable', async () => {
  const { customers, request, start, found } = await simulatorUnderTest();
  const id = await request((await customers(2)).length);
  const gone = spoilt(1, async () => {
    throw new Transient('warehouse_unavailable', 'ClickHouse is unavailable.');
  });
  const job = start({ owner: 'first' }, gone);
  await vi.waitFor(() => expect(gone.statements()).toBeGreaterThan(8), WAIT);
  await job.close();
  expect(await found(id)).toMatchObject({ status: 'pending', done: 0, failures: 0 });
  start({ owner: 'second' });
  await vi.waitFor(async () => expect(await found(id)).toMatchObject({ status: 'completed', done: 2 }), WAIT);
});

it('that cannot be done is given up, and delays no other', async () => {
  const { customers, request, start, found } = await simulatorUnderTest();
  await customers(2);
  const [use] = OFFER.prices.slice(1);
  const broken = await request(2, { prices: use ? [{ ...use, meterKey: 'missing' } as typeof use] : [] });
  const id = await request(2);
  start({ owner: 'first' });
  await vi.waitFor(async () => expect(await found(broken)).toMatchObject({ status: 'failed' }), WAIT);
  expect(await found(id)).toMatchObject({ status: 'completed' });
  expect(await found(broken)).toMatchObject({ done: 0, failures: 5, totals: null });
});

it('is removed with its results a week later, in bounded pieces', async () => {
  const { pool, customers, request, start, found, results } = await simulatorUnderTest();
  const [old, young] = [await request((await customers(5)).length), await request(5)];
  start({ owner: 'first' });
  for (const id of [old, young]) {
    await vi.waitFor(async () => expect(await found(id)).toMatchObject({ status: 'completed' }), WAIT);
  }
  await pool.query(`UPDATE simulations SET created_at = now() - interval '8 days' WHERE id = $1`, [old]);
  const left = async () => (await results(old)).total;
  expect([await forgetSimulations(pool, 3), await left()]).toEqual([3, 2]);
  expect([await forgetSimulations(pool, 3), await left()]).toEqual([3, 0]);
  expect([await forgetSimulations(pool, 3), await found(old)]).toEqual([1, undefined]);
  expect([await forgetSimulations(pool, 3), (await results(young)).total]).toEqual([0, 5]);
});
