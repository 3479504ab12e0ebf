import { expect, it, onTestFinished, vi } from 'vitest';
import { SILENT } from '../tests/support/silent-log.ts';
import { testPool } from '../tests/support/test-pool.ts';
import { inJobTransaction, type JobTurn, startLeasedJob } from './leased-job.ts';
import { holdJob, readJobRuns } from './store/job-leases.ts';

/*
 * Runs of a job, over a real Postgres; leases are shown with the subscription clock.
 *
 * Mutants that turn it red: a wake-up during a run is forgotten; a run that fails ends the job; the pause at
 * the time of the wake-up is slept to its end; the epoch is not checked.
 */
const WAIT = { timeout: 20_000, interval: 10 };

async function jobUnderTest(
  look: (turn: JobTurn) => Promise<number | undefined>,
  { everyMs = 60_000, leaseMs = 6_000, before = 'SELECT' } = {},
) {
  const pool = await testPool();
  await pool.query(before);
  const job = startLeasedJob({ pool, log: SILENT }, { job: 'job', owner: 'owner', everyMs, leaseMs, look });
  onTestFinished(() => job.close());
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
  await jobUnderTest(
    () => {
      looks += 1;
      return looks < 3 ? Promise.reject(new TypeError('no')) : Promise.resolve(0);
    },
    { everyMs: 20 },
  );
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

/** What a process leaves that was killed while the clock was ahead, once that has been put right. */
const LEFT_AHEAD = "INSERT INTO job_leases VALUES ('job', 'killed', 3, now() + interval '40 days')";

// Red when a lease is trusted that no correct clock has given: nothing is done for 40 days.
it('a job is done within a lease where its owner was killed while the clock was ahead', async () => {
  const epochs: Array<number | undefined> = [];
  const look = async ({ hold }: JobTurn) => {
    epochs.push(await hold());
    return undefined;
  };
  await jobUnderTest(look, { everyMs: 20, leaseMs: 500, before: LEFT_AHEAD });
  await vi.waitFor(() => expect(epochs).toContain(4), WAIT);
  // The new owner waited for it, as for any owner that may be alive.
  expect(epochs[0]).toBeUndefined();
});

// Red when such a lease is taken at once: two would hold it each time a clock is put right.
it('an owner that is alive when the clock is corrected keeps its job', async () => {
  const { pool } = await jobUnderTest(async () => undefined, { before: LEFT_AHEAD });
  expect(await holdJob(pool, 'job', 'other', 60_000)).toBeUndefined();
  expect(await holdJob(pool, 'job', 'killed', 60_000)).toBe(3);
  expect(await holdJob(pool, 'job', 'other', 60_000)).toBeUndefined();
});

// Red when a look is not counted, or one that failed is: readyz would name a job that proceeds, or none.
it('what comes to its end is counted, a look and each piece of one, and nothing that fails', async () => {
  let looks = 0;
  const look = async ({ hold }: JobTurn) => {
    await hold();
    looks += 1;
    if (looks > 2) throw new TypeError('no');
    return undefined;
  };
  const { pool, job } = await jobUnderTest(look, { everyMs: 20 });
  await vi.waitFor(() => expect(looks).toBeGreaterThan(4), WAIT);
  // Its two good looks, or one of them: no more often than once a second.
  expect([1, 2]).toContain((await readJobRuns(pool)).get('job'));
  await job.close();
});
