import { expect, onTestFinished, test, vi } from 'vitest';
import { holdSettlement } from '../../domain/store/settlement-lock.ts';
import type { Clock } from '../../infra/ports/clock.ts';
import { inTransaction } from '../../infra/postgres/pool.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { type TestPoolOptions, testPool } from '../../tests/support/test-pool.ts';
import { shareSettlement } from '../store/leases.ts';
import { renewMember } from '../store/load-members.ts';
import { type Lease, takeLease } from './lease.ts';

const WAIT = { timeout: 20_000, interval: 20 };
const PLACE = { logId: 'aa', partition: 0 };

// Red when the clock is not checked: an insert could be sent after another owner began.
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

/** What a process leaves that was killed while the clock was ahead, once that has been put right. */
const AHEAD = "UPDATE partition_leases SET expires_at = now() + interval '40 days'";

// Red when such a lease is trusted: nothing is loaded for 40 days. And when it is taken from the living.
test('a lease of a clock that was ahead ends with its length, and a live owner keeps it', async () => {
  const { take, pool } = await partition();
  const living = await take('a', 20_000);
  await pool.query(AHEAD);
  for (const _ of ['cut down', 'held']) expect(await take('b', 20_000)).toBeUndefined();
  expect(living?.remainingMs(0)).toBeGreaterThan(0);
  await pool.query("UPDATE partition_leases SET owner = 'killed', epoch = epoch + 1");
  await pool.query(AHEAD);
  await vi.waitFor(async () => expect((await take('b', 500))?.epoch).toBe(3), WAIT);
});

// Red when dead processes count: their share of the partitions is loaded by no process.
test('members and leases of a clock that was ahead no longer count after their length', async () => {
  const { take, pool } = await partition();
  await take('killed');
  await pool.query(AHEAD);
  await pool.query("INSERT INTO load_members VALUES ('aa', 'killed', now() + interval '40 days')");
  const renew = () => renewMember(pool, { logId: 'aa', owner: 'b', livesMs: 500, leaseMs: 500 });
  expect(await renew()).toMatchObject({ members: 2, held: [{ owner: 'killed' }] });
  await vi.waitFor(async () => expect(await renew()).toEqual({ members: 1, held: [] }), WAIT);
});

// Red when the wait ends with what other statements may take, as if Postgres were unavailable.
test('a settlement waits for the others longer than a statement may take, and not forever', async () => {
  const { take, pool } = await partition({ statementTimeoutMs: 300 });
  const epoch = (await take('a'))?.epoch ?? 0;
  const share = (waitMaxMs: number) =>
    inTransaction(pool, async (client) => {
      const isShared = await shareSettlement(client, PLACE, epoch, waitMaxMs);
      return [isShared, (await client.query('SHOW statement_timeout')).rows[0].statement_timeout];
    });
  const blocker = await pool.connect();
  await blocker.query('BEGIN');
  await holdSettlement(blocker, new Date());
  const waiting = share(20_000).catch((error: unknown) => error);
  const rejected = await share(700).catch((error: unknown) => error);
  await blocker.query('COMMIT');
  blocker.release();
  expect(rejected).toMatchObject({ name: 'Transient', code: 'settlement_busy' });
  expect(await waiting).toEqual([true, '300ms']);
});

async function partition(options?: TestPoolOptions) {
  const pool = await testPool(options);
  const leases: Lease[] = [];
  onTestFinished(async () => {
    for (const lease of leases) await lease.end();
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
      const lease = await takeLease({ pool, clock, log: SILENT }, PLACE, { owner, leaseMs });
      if (lease) leases.push(lease);
      return lease;
    },
  };
}
