import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { createMutex } from '../../infra/platform/mutex.ts';
import { deferred } from '../../tests/support/deferred.ts';
import { testPool } from '../../tests/support/test-pool.ts';
import { withInsertLock } from './insert-lock.ts';

/** An insert that ends when the test releases it. */
function held() {
  let begun = false;
  const ended = deferred<void>();
  const insert = () => {
    begun = true;
    return ended.promise;
  };
  return { insert, end: () => ended.resolve(), hasBegun: () => begun };
}

const SOON = { timeout: 20_000, interval: 5 };

it('inserts run concurrently; an exclusive one waits, and later ones wait for it', async () => {
  const pool = await testPool();
  const enter = (alone: boolean, insert: () => Promise<void>) =>
    withInsertLock(pool, { logId: 'ab', alone }, insert);
  const ofAnotherLog = () => withInsertLock(pool, { logId: 'cd', alone: true }, async () => 'in');
  const waits = async () => {
    const { rows } = await pool.query(`SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`);
    return rows.length > 0;
  };
  const [first, second, alone, next] = [held(), held(), held(), held()];
  onTestFinished(() => {
    for (const one of [first, second, alone, next]) one.end();
  });
  const running = [enter(false, first.insert), enter(false, second.insert)];
  await expect.poll(() => first.hasBegun() && second.hasBegun(), SOON).toBe(true);
  running.push(enter(true, alone.insert));
  await expect.poll(async () => alone.hasBegun() || (await waits()), SOON).toBe(true);
  first.end();
  await running[0];
  expect(await ofAnotherLog()).toBe('in');
  expect(alone.hasBegun()).toBe(false);
  second.end();
  await expect.poll(alone.hasBegun, SOON).toBe(true);
  running.push(enter(false, next.insert));
  await expect.poll(async () => next.hasBegun() || (await waits()), SOON).toBe(true);
  expect(await ofAnotherLog()).toBe('in');
  expect(next.hasBegun()).toBe(false);
  alone.end();
  await expect.poll(next.hasBegun, SOON).toBe(true);
  next.end();
  await Promise.all(running);
});

// Red when the wait ends with what other statements may take, as if Postgres were unavailable.
it('a waiting insert enters when the others have left, or fails with `insert_gate_busy`', async () => {
  const pool = await testPool({ statementTimeoutMs: 300 });
  const enter = (waitMaxMs: number, insert: () => Promise<void>) =>
    withInsertLock(pool, { logId: 'ab', alone: true, waitMaxMs }, insert);
  const current = held();
  onTestFinished(current.end);
  const running = enter(20_000, current.insert);
  await expect.poll(current.hasBegun, SOON).toBe(true);
  const patient = held();
  patient.end();
  const waiting = enter(20_000, patient.insert);
  await expect(enter(700, patient.insert)).rejects.toMatchObject({
    name: 'Transient',
    code: 'insert_gate_busy',
  });
  expect(patient.hasBegun()).toBe(false);
  current.end();
  await Promise.all([running, waiting]);
  const limits = await Promise.all([1, 2, 3].map(() => pool.query('SHOW statement_timeout')));
  expect(limits.map(({ rows }) => rows[0].statement_timeout)).toEqual(['300ms', '300ms', '300ms']);
});

// Red when each of them waits with a connection of its own: none is left by which leases are renewed.
it('the inserts of one process wait for the lock with one connection', async () => {
  const pool = await testPool();
  const entering = createMutex();
  const enter = (insert: () => Promise<void>) =>
    withInsertLock(pool, { logId: 'ab', alone: false, entering }, insert);
  const [current, first, second] = [held(), held(), held()];
  onTestFinished(() => {
    for (const one of [current, first, second]) one.end();
  });
  const running = [withInsertLock(pool, { logId: 'ab', alone: true }, current.insert)];
  await expect.poll(current.hasBegun, SOON).toBe(true);
  running.push(enter(first.insert), enter(second.insert));
  await expect.poll(() => pool.totalCount, SOON).toBe(2);
  await delay(300);
  expect([pool.totalCount, pool.waitingCount]).toEqual([2, 0]);
  current.end();
  await expect.poll(() => first.hasBegun() && second.hasBegun(), SOON).toBe(true);
  for (const one of [first, second]) one.end();
  await Promise.all(running);
});

it('an insert that fails releases the lock', async () => {
  const pool = await testPool();
  const enter = (insert: () => Promise<string>) => withInsertLock(pool, { logId: 'ab', alone: true }, insert);
  await expect(enter(() => Promise.reject(new TypeError('x')))).rejects.toThrow('x');
  expect(await enter(async () => 'in')).toBe('in');
});

// Red when a process that hangs in the middle of an insert keeps the lock for as long as it hangs.
it('a session that holds the lock for too long loses it', async () => {
  const pool = await testPool();
  const enter = (alone: boolean, insert: () => Promise<void>) =>
    withInsertLock(pool, { logId: 'ab', alone, heldMaxMs: 300, waitMaxMs: 10_000 }, insert);
  const hanging = held();
  const running = enter(false, hanging.insert);
  onTestFinished(hanging.end);
  await expect.poll(hanging.hasBegun, SOON).toBe(true);
  await enter(true, async () => undefined);
  hanging.end();
  await expect(running).rejects.toMatchObject({ name: 'Transient', code: 'insert_gate_lost' });
});

// Red when an exclusive session never ends by itself: no process loads while that process hangs.
it('an exclusive session that hangs loses the lock, and notices before its next write', async () => {
  const pool = await testPool();
  const hanging = held();
  const running = withInsertLock(pool, { logId: 'ab', alone: true, heldMaxMs: 1_500 }, async (checkLock) => {
    await checkLock();
    await hanging.insert();
    await checkLock();
  });
  onTestFinished(hanging.end);
  await expect.poll(hanging.hasBegun, SOON).toBe(true);
  const next = withInsertLock(pool, { logId: 'ab', alone: false }, async () => 'in');
  await expect(Promise.race([next, delay(5_000)])).resolves.toBe('in');
  hanging.end();
  await expect(running).rejects.toMatchObject({ name: 'Transient', code: 'insert_gate_lost' });
});

it('an exclusive session that checks regularly keeps the lock', async () => {
  const pool = await testPool();
  const enter = (insert: (checkLock: () => Promise<void>) => Promise<void>) =>
    withInsertLock(pool, { logId: 'ab', alone: true, heldMaxMs: 2_000 }, insert);
  await enter(async (checkLock) => {
    for (let at = 0; at < 8; at++) {
      await delay(300);
      await checkLock();
    }
  });
});

// Red when Postgres keeps the session of a machine that is down, for two hours by its defaults.
it('a machine that is down is detected within seconds', async () => {
  const pool = await testPool();
  await withInsertLock(pool, { logId: 'ab', alone: true }, async () => undefined);
  const { rows } = await pool.query(
    `SELECT name, setting FROM pg_settings
     WHERE name IN ('tcp_keepalives_idle', 'tcp_keepalives_interval', 'tcp_keepalives_count') ORDER BY name`,
  );
  expect(rows.map(({ setting }) => Number(setting))).toEqual([3, 5, 5]);
});
