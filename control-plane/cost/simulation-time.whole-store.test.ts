import { expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../infra/ports/clock.ts';
import { eventLine } from '../../tests/support/event-line.ts';
import { warehouseOfThisFile } from '../../tests/support/log-and-warehouse.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { addTestWorkspace, testPool } from '../../tests/support/test-pool.ts';
import { findSimulation, insertSimulation, type SimulatedOffer } from '../store/simulations.ts';
import { catalogueUnderTest } from '../subscriptions/subscriptions-under-test.ts';
import { startSimulator } from './simulator.ts';

/*
 * How long a simulation of ten thousand customers over a month of usage takes, on a real Postgres and
 * warehouse: each has 100 events on a meter, and a billing period of its own, which no whole hour begins.
 *
 * Red when customers are read one by one.
 */
const CUSTOMERS = 10_000;
const EVENTS_EACH = 100;
const BLOCK = 100_000;
const DAY_MS = 86_400_000;
/** On a machine that does other work too; the figure of a quiet one is in docs/decisions/rating.md. */
const MS_MAX = 60_000;
const WAIT = { timeout: 240_000, interval: 20 };

const PRICE = { currency: 'EUR', interval: 'month', intervalCount: 1 } as const;
const OFFER: SimulatedOffer = {
  prices: [
    { ...PRICE, key: 'base', model: 'flat', amount: '20' },
    { ...PRICE, key: 'use', model: 'per_unit', meterKey: 'calls', unitAmount: '0.5', included: '10' },
  ],
  grants: [
    {
      ...{ featureKey: 'calls', type: 'metered', meterKey: 'calls', source: 'plan:new', quantity: 1 },
      ...{ enabled: null, amount: '95', soft: false },
    },
  ],
};
const CURRENT = [
  { ...PRICE, key: 'base', model: 'flat', amount: '10' },
  {
    ...{ ...PRICE, key: 'use', model: 'graduated', meterKey: 'calls' },
    tiers: [
      { upTo: '50', unitAmount: '0' },
      { upTo: null, unitAmount: '1' },
    ],
  },
];

const warehouse = await warehouseOfThisFile();

it('a simulation of 10,000 customers × a month takes seconds', { timeout: 400_000 }, async () => {
  const pool = await testPool();
  const { environment } = await addTestWorkspace(pool);
  const planId = await catalogueUnderTest(pool, environment).plan();
  const nowMs = Date.now();
  await pool.query(
    `INSERT INTO plan_prices (plan_id, version, starts_at, prices) VALUES ($1, 1, to_timestamp(0), $2)`,
    [planId, JSON.stringify(CURRENT)],
  );
  for (const statement of SUBSCRIBERS) {
    await pool.query(statement, [environment, planId, CUSTOMERS].slice(0, valuesIn(statement)));
  }
  for (let first = 0; first < CUSTOMERS * EVENTS_EACH; first += BLOCK) {
    const lines = Array.from({ length: BLOCK }, (_, at) => {
      const number = first + at;
      const customerId = `cus_${String(number % CUSTOMERS).padStart(6, '0')}`;
      const occurredAtMs = nowMs - ((number * 104_729) % (30 * DAY_MS));
      const id = `use_${String(number).padStart(26, 'm')}`;
      return eventLine({ environment, customerId, meterKey: 'calls', id, value: '1', occurredAtMs });
    });
    const block = { token: `month ${first}`, lines: Buffer.from(lines.join('')), timeoutMs: 60_000 };
    await warehouse.insertEvents(block);
  }
  const [startsAt, endsAt] = [new Date(nowMs - 30 * DAY_MS), new Date(nowMs)];
  const row = { planId, offer: OFFER, customerIds: null, customers: CUSTOMERS, createdAt: new Date(nowMs) };
  await insertSimulation(pool, environment, { ...row, id: 'sim_month', startsAt, endsAt });
  const [startedAt, cpu] = [performance.now(), process.cpuUsage()];
  const deps = { pool, warehouse, clock: systemClock, log: SILENT, asOfMs: () => nowMs };
  const job = startSimulator(deps);
  onTestFinished(() => job.close());
  await vi.waitFor(async () => {
    const found = await findSimulation(pool, environment, 'sim_month');
    expect(found).toMatchObject({ status: 'completed', done: CUSTOMERS });
  }, WAIT);
  const tookMs = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpu);
  console.log(`of which ${((user + system) / 1000).toFixed(0)} ms of a core, without Postgres`);
  console.log(
    `simulation of ${CUSTOMERS} customers, ${CUSTOMERS * EVENTS_EACH} events: ${tookMs.toFixed(0)} ms`,
  );
  expect(tookMs).toBeLessThan(MS_MAX);
});

function valuesIn(statement: string): number {
  return Math.max(0, ...[...statement.matchAll(/\$(\d)/g)].map(([, number]) => Number(number)));
}

/** $1 is the environment, $2 the plan, $3 their number. */
const SUBSCRIBERS = [
  `INSERT INTO meters (id, environment, key, name, aggregation, created_at, updated_at)
   VALUES ('meter_a', $1, 'calls', 'Calls', 'sum', now(), now())`,
  `INSERT INTO features (id, environment, key, name, type, meter_key, created_at, updated_at)
   VALUES ('feat_a', $1, 'calls', 'Calls', 'metered', 'calls', now(), now())`,
  `INSERT INTO customers (id, environment, name, email)
   SELECT 'cus_' || lpad(n::text, 6, '0'), $1, 'Ada', 'ada@example.com' FROM generate_series(0, $3 - 1) AS n
    WHERE $2::text <> ''`,
  `INSERT INTO subscriptions (id, environment, customer_id, plan_id, status, status_since, starts_at,
     current_period_start, current_period_end, anchor, interval, interval_count, created_at, updated_at)
   SELECT 'sub_' || n, $1, 'cus_' || lpad(n::text, 6, '0'), $2, 'active', since, since, since,
          since + interval '31 days', since, 'month', 1, since, since
     FROM (SELECT n, now() - n * interval '2591.017 seconds' / 10 - interval '1 hour' AS since
             FROM generate_series(0, $3 - 1) AS n) AS begun`,
  `INSERT INTO subscription_terms (subscription_id, starts_at, is_charged, plan_id, addons, anchor, interval,
     interval_count)
   SELECT id, starts_at, true, $2, '[]', anchor, interval, 1 FROM subscriptions WHERE environment = $1`,
  'ANALYZE subscriptions',
];
