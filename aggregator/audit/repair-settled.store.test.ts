import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { openLoadStores } from '../../infra/conformance/load-stores.ts';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { start, WAIT } from '../aggregator-under-test.ts';
import { createTenant } from '../settle/settlement-under-test.ts';
import { AUDIT_EXIT, askAudit } from './ask-audit.ts';

/** Settling looks for marks each half second: time enough to meet those of a repair that is under way. */
const HALF_DONE_MS = 1_500;

// Red when a repair leaves no mark, or when its marks are settled while it is half done.
it('usage that was settled by a damaged counter is burned when the counter is repaired', async () => {
  const stores = await openLoadStores();
  const tenant = await createTenant(stores);
  await tenant.rate(1, 0, '2');
  await tenant.grant('1000');
  const warehouse: Warehouse = {
    ...stores.warehouse,
    async query(statement) {
      if (statement.sql.includes('INSERT INTO metergate.usage_hourly')) await delay(HALF_DONE_MS);
      return await stores.warehouse.query(statement);
    },
  };
  start(stores, { warehouse });
  await tenant.use({ value: '10' });
  expect(await tenant.wallet()).toMatchObject({ balance: '980' });

  // What was burned is never given back, and what is used now is less than that.
  await stores.rows('ALTER TABLE metergate.usage_hourly DELETE WHERE true SETTINGS mutations_sync = 1');
  await tenant.use({ value: '5' });
  expect(await tenant.wallet()).toMatchObject({ balance: '980' });

  const asked = { repair: true, beginWithinMs: 10_000, print: () => undefined };
  expect(await askAudit(stores.pool, asked)).toBe(AUDIT_EXIT.same);
  await vi.waitFor(async () => expect(await tenant.wallet()).toMatchObject({ balance: '970' }), WAIT);
  const { rows } = await stores.pool.query('SELECT FROM settlement_marks');
  expect(rows).toEqual([]);
});
