import { beforeEach, describe, expect, it } from 'vitest';
import { Transient } from '../../schemas/failures.ts';
import { poolOfThisFile, unavailablePool } from '../../tests/support/test-pool.ts';
import { raiseKeptFrom } from './raise-kept-from.ts';

const LOG_ID = 'a'.repeat(32);

const pool = await poolOfThisFile();

beforeEach(() => pool.query('TRUNCATE log_ranges, log_trims'));

describe('the log is kept from', () => {
  // Red when the state is not checked, or the first unsettled range is not searched for.
  it('where it is settled without a gap, and from no position beyond the requested one', async () => {
    expect(await raise(500)).toBe(0);
    await addRanges(['settled', 'settled', 'loaded', 'settled', 'pending']);
    expect(await raise(50)).toBe(50);
    expect(await raise(1_000)).toBe(200);
    await pool.query("UPDATE log_ranges SET state = 'settled' WHERE lo < 400");
    expect(await raise(1_000)).toBe(400);
    await pool.query("UPDATE log_ranges SET state = 'settled'");
    expect(await raise(1_000)).toBe(500);
    expect(await raise(100)).toBe(500);
  });

  it('of its own ranges alone', async () => {
    await addRanges(['pending']);
    await addRanges(['settled', 'settled'], 'b'.repeat(32));
    expect(await raise(1_000)).toBe(0);
  });

  // Red when a range that ends behind the position is counted, now or twice.
  it('a position before which so many events were stored, and none committed later', async () => {
    await addRanges(['settled', 'settled', 'settled']);
    await pool.query("UPDATE log_ranges SET dropped = '{3,4}' WHERE lo = 100");
    expect([await raise(150), await recorded()]).toEqual([150, { events: 10, through_ms: 1_100 }]);
    expect([await raise(160), await recorded()]).toEqual([160, { events: 10, through_ms: 1_100 }]);
    expect([await raise(300), await recorded()]).toEqual([300, { events: 28, through_ms: 1_200 }]);
    expect([await raise(300), await recorded()]).toEqual([300, { events: 28, through_ms: 1_200 }]);
  });

  // Red when the hold is not looked at: what a repair has deleted would be nowhere.
  it('nowhere else while a repair holds it', async () => {
    await addRanges(['settled', 'settled']);
    await raise(50);
    await pool.query("UPDATE log_trims SET held_by = 'run'");
    expect(await raise(100)).toBeUndefined();
    expect((await pool.query('SELECT kept_from FROM log_trims')).rows).toEqual([{ kept_from: 50 }]);
    await pool.query('UPDATE log_trims SET held_by = NULL');
    expect(await raise(100)).toBe(100);
  });
});

it('while Postgres is unavailable the query is Transient', async () => {
  const raising = raiseKeptFrom(unavailablePool(), { logId: LOG_ID, before: 1 });
  await expect(raising).rejects.toBeInstanceOf(Transient);
});

function raise(before: number): Promise<number | undefined> {
  return raiseKeptFrom(pool, { logId: LOG_ID, before });
}

async function recorded(): Promise<unknown> {
  return (await pool.query('SELECT events, through_ms FROM log_trims')).rows[0];
}

/** Each 100 long, with ten events, the nth committed up to 1,000 + 100 n. */
async function addRanges(states: string[], logId = LOG_ID): Promise<void> {
  for (const [at, state] of states.entries()) {
    await pool.query(
      `INSERT INTO log_ranges (log_id, partition, lo, hi, epoch, state, event_count, checksum, through_ms,
         filled_to)
       VALUES ($1, 0, $2, $3, 1, $4, 10, 0, $5, 4)`,
      [logId, at * 100, at * 100 + 100, state, 1_000 + at * 100],
    );
  }
}
