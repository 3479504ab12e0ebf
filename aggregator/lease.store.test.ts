import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Clock } from '../infra/ports/clock.ts';
import { createPool, inTransaction, type PoolOptions } from '../infra/postgres/pool.ts';
import { createTestDatabase } from '../infra/postgres/test-database.ts';
import { holdSettlement } from '../infra/store/settlement-lock.ts';
import { type Lease, takeLease } from './lease.ts';
import { shareSettlement } from './store/leases.ts';

const WAIT = { timeout: 20_000, interval: 20 };
const PLACE = { logId: 'aa', partition: 0 };

// Red when the clock is not asked: an insert could be sent after another owner began.
test('a lease is worth what is left of it, by the clock that never goes back', async () => {
  const { take, clock } = await partition();
  const lease = await take('a');
  clock.aheadMs = 10_000;
  expect(lease?.remainingMs(1_000)).toBeLessThanOrEqual(20_000);
  clock.aheadMs = 29_500;
  expect(() => lease?.remainingMs(1_000)).toThrow(expect.objectContaining({ code: 'lease_lost' }));
});

test('a lease that was ended can be taken at once', async () => {
  const { take } = await partition();
  const first = await take('a');
  expect(await take('b')).toBeUndefined();
  await first?.end();
  expect((await take('b'))?.epoch).toBe(2);
});

// Red when a lease is not renewed, and when its loss is not noticed.
test('a lease is renewed until another epoch has begun', async () => {
  const { take, pool } = await partition();
  const lease = await take('a', 300);
  const expiry = async () => (await pool.query('SELECT expires_at FROM partition_leases')).rows[0].expires_at;
  const first = await expiry();
  await vi.waitFor(async () => expect((await expiry()) > first).toBe(true), WAIT);
  expect(lease?.remainingMs(0)).toBeGreaterThan(0);
  await pool.query("UPDATE partition_leases SET epoch = epoch + 1, owner = 'b'");
  await vi.waitFor(() => expect(() => lease?.remainingMs(-1_000_000)).toThrow(), WAIT);
});

// Red when the wait ends with what other statements may take, as if Postgres were away.
test('who settles waits for the others for longer than a statement may take, and not for ever', async () => {
  const { take, pool } = await partition({ statementTimeoutMs: 300 });
  const epoch = (await take('a'))?.epoch ?? 0;
  const share = (waitMaxMs: number) =>
    inTransaction(pool, async (client) => {
      const isShared = await shareSettlement(client, PLACE, epoch, waitMaxMs);
      return [isShared, (await client.query('SHOW statement_timeout')).rows[0].statement_timeout];
    });
  const holder = await pool.connect();
  await holder.query('BEGIN');
  await holdSettlement(holder, new Date());
  const waiting = share(20_000).catch((error: unknown) => error);
  const refused = await share(700).catch((error: unknown) => error);
  await holder.query('COMMIT');
  holder.release();
  expect(refused).toMatchObject({ name: 'Transient', code: 'settlement_busy' });
  expect(await waiting).toEqual([true, '300ms']);
});

async function partition(options: Pick<PoolOptions, 'statementTimeoutMs'> = {}) {
  const database = await createTestDatabase();
  const log = pino({ level: 'silent' });
  const pool = createPool({ url: database.url, name: 'test', log, ...options });
  const leases: Lease[] = [];
  onTestFinished(async () => {
    for (const lease of leases) await lease.end();
    await pool.end();
    await database.drop();
  });
  const clock: Clock & { aheadMs: number } = {
    aheadMs: 0,
    nowMs: () => Date.now(),
    monotonicMs: () => performance.now() + clock.aheadMs,
  };
  return {
    pool,
    clock,
    async take(owner: string, leaseMs = 30_000): Promise<Lease | undefined> {
      const lease = await takeLease({ pool, clock, log }, PLACE, { owner, leaseMs });
      if (lease) leases.push(lease);
      return lease;
    },
  };
}
