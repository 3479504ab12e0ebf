import type { Pool, PoolClient } from 'pg';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { markForSettlement } from '../../domain/store/settlement-marks.ts';
import { systemClock } from '../../infra/ports/clock.ts';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { inTransaction } from '../../infra/postgres/pool.ts';
import { eventLines, TEST_NOW_MS } from '../../tests/support/event-line.ts';
import { createEnd, ranges, settledUpTo, start, WAIT } from '../aggregator-under-test.ts';
import type { Lease } from '../load/lease.ts';
import { acquireLease, shareSettlement } from '../store/leases.ts';
import { settleBatch } from './settle-batch.ts';
import { settleCustomerMeters } from './settle-customer-meters.ts';
import {
  CUSTOMER,
  ENVIRONMENT,
  loadedRange,
  METER,
  openTenant,
  PLACE,
  TOUCHED,
} from './settlement-under-test.ts';

const DAY_MS = 86_400_000;

describe('a threshold', () => {
  it('is emitted once in each period, with what was used', async () => {
    const { stores, tenant } = await openTenant();
    await tenant.budget('5', '10.5');
    start(stores);
    await tenant.use({ value: '4.999999999999' });
    expect(await tenant.notified('usage.threshold')).toEqual([]);
    await tenant.use({ value: '0.000000000001' });
    await tenant.use({ value: '1' });
    const notified = { customerId: CUSTOMER, meterId: METER };
    expect(await tenant.notified('usage.threshold')).toEqual([
      { ...notified, thresholdValue: 5, kind: 'soft', currentUsage: 5 },
    ]);
    await tenant.use({ value: '6' }, { value: '7', occurredAtMs: TEST_NOW_MS - 40 * DAY_MS });
    expect(await tenant.notified('usage.threshold')).toEqual(
      expect.arrayContaining([
        { ...notified, thresholdValue: 5, kind: 'soft', currentUsage: 5 },
        { ...notified, thresholdValue: 10.5, kind: 'hard', currentUsage: 12 },
        { ...notified, thresholdValue: 5, kind: 'soft', currentUsage: 7 },
      ]),
    );
    expect(await tenant.notified('usage.threshold')).toHaveLength(3);
  });

  it('is at a limit and at 80 % of it, and covers usage from before the limit', async () => {
    const { stores, tenant } = await openTenant();
    await tenant.limit('5', TEST_NOW_MS - 1_800_001);
    start(stores);
    await tenant.use({ value: '3.999999999999' });
    expect(await tenant.notified('usage.threshold')).toEqual([]);
    await tenant.use({ value: '0.1' });
    const at = (value: number) =>
      expect.objectContaining({ thresholdValue: value, currentUsage: 4.099999999999 });
    expect(await tenant.notified('usage.threshold')).toEqual([at(4)]);
    await tenant.budget('2', null);
    await markForSettlement(stores.pool, ENVIRONMENT, {
      customerId: CUSTOMER,
      meterKey: METER,
      from: new Date(TEST_NOW_MS),
    });
    await vi.waitFor(
      async () => expect(await tenant.notified('usage.threshold')).toEqual([at(4), at(2)]),
      WAIT,
    );
    const { rows } = await stores.pool.query('SELECT FROM settlement_marks');
    expect(rows).toEqual([]);
  });

  it('is reached by whatever a meter counts', async () => {
    const { stores, tenant } = await openTenant();
    const others = ['count', 'max', 'latest', 'unique'];
    for (const meterKey of others) await tenant.budget(null, '3', meterKey);
    start(stores);
    const events = (values: number[]) =>
      others.flatMap((meterKey) =>
        values.map((value) => {
          return { meterKey, value: `${value}`, uniqueValue: `=${value}`, createdAtMs: value };
        }),
      );
    await tenant.use(...events([1, 2]));
    expect(await tenant.notified('usage.threshold')).toEqual([]);
    await tenant.use(...events([3]));
    const notified = await tenant.notified('usage.threshold');
    expect(notified.map(({ meterId, currentUsage }) => [meterId, currentUsage]).sort()).toEqual(
      others.map((meterKey) => [meterKey, 3]).sort(),
    );
  });
});

describe('rates', () => {
  it('that change hold for what was settled before the change was seen', async () => {
    const { stores, tenant } = await openTenant();
    await tenant.rate(1, 0, '1');
    await tenant.grant('100');
    start(stores);
    await tenant.use({ value: '4' }, { value: '3', occurredAtMs: TEST_NOW_MS - 1 });
    expect(await tenant.wallet()).toMatchObject({ balance: '93' });
    await tenant.rate(2, TEST_NOW_MS, '10');
    await markForSettlement(stores.pool, ENVIRONMENT, { meterKey: METER, from: new Date(TEST_NOW_MS) });
    await vi.waitFor(async () => expect(await tenant.wallet()).toMatchObject({ balance: '57' }), WAIT);
  });
});

describe('ranges', () => {
  // Mutant it catches: a range that arrives while others are settled is taken for settled with them.
  it('that are loaded while others are settled are settled after them', async () => {
    const { stores, tenant } = await openTenant();
    await tenant.rate(1, 0, '2');
    await tenant.grant('100');
    const [reached, held] = [createEnd(), createEnd()];
    onTestFinished(held.release);
    const { query } = stores.warehouse;
    const slow: Warehouse['query'] = async (statement) => {
      if (statement.connection === 'settlement') {
        reached.release();
        await held.here();
      }
      return query(statement);
    };
    start(stores, { warehouse: { ...stores.warehouse, query: slow } }, { lingerMs: 0 });
    await stores.append([{ id: 'a', value: '1' }]);
    await reached.here();
    const end = await stores.append([{ id: 'b', value: '2' }]);
    const isLoaded = ({ state }: { state: string }) => state === 'loaded';
    await vi.waitFor(async () => expect((await ranges(stores)).filter(isLoaded)).toHaveLength(2), WAIT);
    held.release();
    await settledUpTo(stores, end);
    expect(await tenant.wallet()).toMatchObject({ balance: '94' });
  });
});

describe('a settlement', () => {
  async function openLoaded() {
    const { stores, tenant } = await openTenant();
    await tenant.rate(1, 0, '2');
    await tenant.budget(null, '5');
    await tenant.grant('100');
    const lines = eventLines([{ id: 'a', value: '7' }]);
    await stores.warehouse.insertEvents({ token: 'a', lines, timeoutMs: 10_000 });
    await acquireLease(stores.pool, PLACE, 'a', 60_000);
    const range = await loadedRange(stores.pool, 0);
    const settle = (pool: Pool, epoch = 1) => {
      const lease = { ...PLACE, epoch } as Lease;
      const batch = { ranges: [range], customerMeters: [TOUCHED], marks: [] };
      return settleBatch({ ...stores, pool, clock: systemClock, keptFromMs: () => 0 }, lease, batch);
    };
    return { stores, tenant, settle };
  }

  // Mutant it catches: the mark outside the transaction that has the effects of the range.
  it('that is not committed leaves the range loaded and nothing burned, to be settled again', async () => {
    const { stores, tenant, settle } = await openLoaded();
    await expect(settle(endingBeforeCommit(stores.pool))).rejects.toThrow('the process ends here');
    expect(await ranges(stores)).toMatchObject([{ state: 'loaded' }]);
    expect([await tenant.wallet(), await tenant.notified('usage.threshold')]).toMatchObject([
      { balance: '100' },
      [],
    ]);
    await settle(stores.pool);
    expect(await ranges(stores)).toMatchObject([{ state: 'settled' }]);
    expect(await tenant.wallet()).toMatchObject({ balance: '86' });
    expect(await tenant.notified('usage.threshold')).toHaveLength(1);
  });

  it('of a former owner of the partition changes nothing', async () => {
    const { stores, tenant, settle } = await openLoaded();
    await acquireLease(stores.pool, PLACE, 'a', 60_000);
    await expect(settle(stores.pool)).rejects.toMatchObject({ code: 'lease_lost' });
    expect(await tenant.wallet()).toMatchObject({ balance: '100' });
  });

  it('that is done again, also by two at once, burns nothing more', async () => {
    const { stores, tenant } = await openLoaded();
    const again = () =>
      inTransaction(stores.pool, async (client) => {
        await shareSettlement(client, PLACE, 1);
        return settleCustomerMeters(
          client,
          { warehouse: stores.warehouse, nowMs: TEST_NOW_MS, keptFromMs: 0 },
          [TOUCHED],
        );
      });
    await Promise.all([again(), again(), again(), again()]);
    await again();
    expect(await tenant.wallet()).toMatchObject({ balance: '86' });
    expect(await tenant.notified('usage.threshold')).toHaveLength(1);
  });
});

/** Its connections end instead of committing. */
function endingBeforeCommit(real: Pool): Pool {
  const connect = async () => {
    const client = await real.connect();
    const query = async (sql: string, values?: unknown[]) => {
      if (sql === 'COMMIT') throw new Error('the process ends here');
      return client.query(sql, values);
    };
    return { query, release: (broken?: Error) => client.release(broken) } as unknown as PoolClient;
  };
  return { connect, query: real.query.bind(real) } as unknown as Pool;
}
