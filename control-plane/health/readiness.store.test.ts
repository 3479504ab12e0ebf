import { expect, it } from 'vitest';
import { apiOfThisTest, EMPTY_LOG } from '../api-under-test.ts';

it('readyz names partition alarms, quarantined lines, audit differences and a stuck outbox', async () => {
  const api = await apiOfThisTest();
  // Nothing here loads the other log. Red when readyz does not distinguish logs.
  await api.pool.query(
    `INSERT INTO partition_alarms
     VALUES ('ab', 1, 'frame_damaged', 'old'), ($1, 0, 'frame_damaged', 'position 7')`,
    [Buffer.from(EMPTY_LOG.logId).toString('hex')],
  );
  await api.pool.query(`INSERT INTO quarantine VALUES ('ab', 0, 0, 3, '\\x00', 'no number')`);
  await api.pool.query(
    `INSERT INTO audit_runs (id, repair, state, differences, finished_at)
     VALUES ('1', false, 'done', '[1, 2]', now())`,
  );
  await api.call('POST', '/api/v1/customers', { body: { name: 'a', email: 'a@b.cd', externalId: 'a' } });
  await api.pool.query("UPDATE webhook_events SET created_at = now() - interval '2 minutes'");
  const { body } = await api.call('GET', '/readyz', { key: undefined });
  expect(body.checks.outbox.detail).toMatch(/^webhook events have been waiting since 20/);
  expect(body.checks.partitions).toEqual({ ok: false, detail: 'partition 0: frame_damaged: position 7' });
  expect(body.checks.quarantine.detail).toContain('1 lines');
  expect(body.checks.audit.detail).toContain('2 differences');
});

// Red when the failed repair is forgotten after the next audit, which found its work half done.
it('readyz reports that strong reads are rejected since a repair failed', async () => {
  const api = await apiOfThisTest();
  await api.pool.query(
    `INSERT INTO audit_runs (id, repair, state, differences, finished_at)
     VALUES ('1', true, 'failed', NULL, now()), ('2', false, 'done', '[1]', now() + interval '1 second')`,
  );
  const { status, body } = await api.call('GET', '/readyz', { key: undefined });
  expect(status).toBe(503);
  expect(body.checks.audit.detail).toMatch(/^a repair has failed; strong reads are rejected/);
  await api.pool.query(
    `INSERT INTO audit_runs (id, repair, state, finished_at)
     VALUES ('3', true, 'done', now() + interval '2 seconds')`,
  );
  // The result is cached for a second.
  const isWell = async () => (await api.call('GET', '/readyz', { key: undefined })).body.checks.audit.ok;
  await expect.poll(isWell, { timeout: 30_000, interval: 100 }).toBe(true);
});
