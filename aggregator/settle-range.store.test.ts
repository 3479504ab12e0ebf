import type { Pool, PoolClient } from 'pg';
import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import { createPool } from '../infra/postgres/pool.ts';
import { createTestDatabase } from '../infra/postgres/test-database.ts';
import { settleRange } from './settle-range.ts';
import { acquireLease, type Place } from './store/leases.ts';
import { freezeRange, markLoaded, type Range, takeOverRanges } from './store/ranges.ts';

const PLACE: Place = { logId: 'aa', partition: 0 };
const RANGE: Range = {
  ...PLACE,
  ...{ lo: 0, hi: 10, epoch: 1, eventCount: 1, dropped: [], checksum: 1, throughMs: 1 },
};

let pool: Pool;

beforeEach(async () => {
  const database = await createTestDatabase();
  pool = createPool({ url: database.url, name: 'test', log: pino({ level: 'silent' }) });
  await acquireLease(pool, PLACE, 'a', 60_000);
  await freezeRange(pool, RANGE);
  await markLoaded(pool, RANGE);
  return async () => {
    await pool.end();
    await database.drop();
  };
});

describe('a settlement', () => {
  // Break it catches: the mark outside the transaction that holds what follows from the range.
  it('that is not committed leaves the range loaded, to be settled by the next start', async () => {
    await expect(settleRange(endingBeforeCommit(pool), RANGE)).rejects.toThrow('the process ends here');
    expect(await unsettled()).toEqual(['loaded']);
    await settleRange(pool, RANGE);
    expect(await unsettled()).toEqual([]);
  });
});

async function unsettled(): Promise<string[]> {
  const ranges = await takeOverRanges(pool, PLACE, 1);
  return ranges.map(({ state }) => state);
}

/** Its connections break instead of committing. */
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
