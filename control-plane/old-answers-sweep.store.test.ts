import { pino } from 'pino';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createPool } from '../infra/postgres/pool.ts';
import { createTestDatabase } from '../infra/postgres/test-database.ts';
import { startSweep } from './old-answers-sweep.ts';
import { forgetOldAnswers } from './store/forget-old-answers.ts';

const WAIT = { timeout: 10_000, interval: 20 };
const log = pino({ level: 'silent' });

it('answers older than a day go in bounded batches, from the start on, and younger ones stay', async () => {
  const database = await createTestDatabase();
  const pool = createPool({ url: database.url, name: 'sweep', log });
  onTestFinished(async () => {
    await pool.end();
    await database.drop();
  });
  const add = (count: number, age: string) =>
    pool.query(
      `INSERT INTO idempotent_answers (environment, method, path, key, request_hash, status, body, created_at)
       SELECT 'ws_a:live', 'POST', '/', $2 || ' ' || number, '', 201, '', now() - $2::interval
       FROM generate_series(1, $1) AS number`,
      [count, age],
    );
  await add(2_500, '25 hours');
  await add(3, '23 hours');
  expect([await forgetOldAnswers(pool, 400), await left()]).toEqual([400, 2_103]);
  const sweep = startSweep(pool, log);
  await vi.waitFor(async () => expect(await left()).toBe(3), WAIT);
  await sweep.close();

  async function left(): Promise<number> {
    return (await pool.query('SELECT count(*) FROM idempotent_answers')).rows[0].count;
  }
});
