import { pino } from 'pino';
import { expect, it, onTestFinished, vi } from 'vitest';
import { inJobTransaction, type JobTurn, startLeasedJob } from './leased-job.ts';
import { createPool } from './postgres/pool.ts';
import { createTestDatabase } from './postgres/test-database.ts';

/*
 * Looks of a job, over a real Postgres; leases are shown with the subscription clock.
 *
 * Breaks that turn it red: a wake during a look that is forgotten; a look that fails ends the job; the pause
 * at the time of the wake slept out; the epoch not asked for.
 */
const WAIT = { timeout: 20_000, interval: 10 };
const log = pino({ level: 'silent' });

async function jobUnderTest(look: (turn: JobTurn) => Promise<number | undefined>, everyMs = 60_000) {
  const database = await createTestDatabase();
  const pool = createPool({ url: database.url, name: 'test', log });
  const job = startLeasedJob({ pool, log }, { job: 'job', owner: 'owner', everyMs, look });
  onTestFinished(async () => {
    await job.close();
    await pool.end();
    await database.drop();
  });
  return { job, pool };
}

it('a job that pauses looks at once when it is woken, and again when that was while it looked', async () => {
  let looks = 0;
  const ends: Array<() => void> = [];
  const { job } = await jobUnderTest(() => {
    looks += 1;
    return new Promise((resolve) => ends.push(() => resolve(undefined)));
  });
  const look = async (nth: number) => vi.waitFor(() => expect(looks).toBe(nth), WAIT);
  await look(1);
  job.wake();
  ends[0]?.();
  await look(2);
  ends[1]?.();
  job.wake();
  await look(3);
  ends[2]?.();
});

it('a look that fails is followed by the next', async () => {
  let looks = 0;
  await jobUnderTest(() => {
    looks += 1;
    return looks < 3 ? Promise.reject(new TypeError('no')) : Promise.resolve(0);
  }, 20);
  await vi.waitFor(() => expect(looks).toBeGreaterThan(4), WAIT);
});

it('a piece of a job is done under the epoch of its lease alone', async () => {
  const epochs: Array<number | undefined> = [];
  const { pool } = await jobUnderTest(async ({ hold }) => {
    epochs.push(await hold());
    return undefined;
  });
  await vi.waitFor(() => expect(epochs).toEqual([1]), WAIT);
  expect(await inJobTransaction({ pool, job: 'job', epoch: 1 }, async () => 'done')).toBe('done');
  const late = inJobTransaction({ pool, job: 'job', epoch: 0 }, async () => 'done');
  await expect(late).rejects.toMatchObject({ code: 'lease_lost' });
});
