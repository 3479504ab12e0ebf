import { expect, it } from 'vitest';
import { addTestWorkspace, testPool } from '../../tests/support/test-pool.ts';
import { listAuditEntries } from './audit-log.ts';
import { rowsRead } from './rows-read-under-test.ts';

const OTHERS = 5_000;
const SPAN = { fromMs: Date.UTC(2026, 0), toMs: Date.UTC(2027, 0) };

/*
 * Red without the index of objects: then all changes of the environment are read, twice for a page with its
 * total. With statistics and, as after an import, without.
 */
it.each(['without', 'with'])('changes of one object are read alone, %s statistics', async (state) => {
  const pool = await testPool();
  const { environment } = await addTestWorkspace(pool);
  await pool.query(
    `INSERT INTO audit_log (environment, actor, action, object_id, created_at)
     SELECT $1, 'key_a', 'customers.create', 'cus_' || n % ($2 / 2),
            timestamptz '2026-11-01' + n * interval '1 s'
       FROM generate_series(1, $2::int) AS n`,
    [environment, OTHERS],
  );
  if (state === 'with') await pool.query('ANALYZE audit_log');
  const read = await rowsRead(pool, 'audit_log', async (db) => {
    const query = { page: 1, pageSize: 20, objectId: 'cus_77', span: SPAN };
    const { rows, total } = await listAuditEntries(db, environment, query);
    expect([rows.map(({ objectId }) => objectId), total]).toEqual([['cus_77', 'cus_77'], 2]);
  });
  expect(read).toBeLessThan(20);
});
