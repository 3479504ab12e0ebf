import { join } from 'node:path';
import { expect, it } from 'vitest';
import { eventLines, TEST_NOW_MS, type TestEvent } from '../../tests/support/event-line.ts';
import { testFolder } from '../../tests/support/test-folder.ts';
import { migrateWarehouse } from './migrate-warehouse.ts';
import type { Transport } from './transport.ts';
import { openTransport } from './transport-under-test.ts';
import { createWarehouseOver } from './warehouse-over.ts';

const TIMEOUT_MS = 20_000;
const HOUR_MS = 3_600_000;
const STORED = 400_000;
const SENT = 40;

// Red when everything stored since the take-over is queried: after three days of load it fits nowhere.
it('a block with a take-over in it costs what is in it, not what came since then', async () => {
  const directory = join(testFolder(), 'warehouse');
  const unbounded = openTransport(directory, {});
  await migrateWarehouse(unbounded);
  await unbounded.command(
    `INSERT INTO metergate.events (environment, customer_id, meter_key, id, value, occurred_at, created_at)
     SELECT 'ws_a:live', concat('cus_', toString(number % 500)), 'calls', concat('use_', toString(number)), 1,
            toDateTime64(${TEST_NOW_MS / 1_000} - number / 2, 3) AS occurred, occurred
     FROM numbers(${STORED})`,
  );
  const block = { token: 'a', lines: eventLines(sentEvents()), timeoutMs: TIMEOUT_MS };
  await createWarehouseOver(unbounded).insertEvents(block);
  await unbounded.command(
    "ALTER TABLE metergate.events DELETE WHERE id < 'tent' SETTINGS mutations_sync = 1",
  );
  const bounded = openTransport(directory, { max_rows_in_set: SENT, max_rows_to_read: STORED / 4 });
  const warehouse = createWarehouseOver(bounded);
  for (let time = 0; time < 2; time++) {
    await warehouse.insertEvents({ ...block, wasSent: true });
    const sql = "SELECT count() AS stored FROM metergate.events WHERE id < 'tent'";
    expect(await unbounded.rows({ sql, connection: 'load', timeoutMs: TIMEOUT_MS })).toEqual([
      { stored: String(SENT) },
    ]);
  }
});

// Red when the end does not check that the lines are still there: nothing is missing then, nor wrong.
it.each([
  'INSERT INTO metergate.missing',
  'CREATE TABLE metergate.wrong',
  'ALTER TABLE metergate.usage_hourly DELETE',
  'INSERT INTO metergate.usage_hourly',
])('a server that restarts before %s leaves no block half repaired', async (step) => {
  const transport = openTransport(join(testFolder(), 'warehouse'), {});
  await migrateWarehouse(transport);
  const block = { token: 'a', lines: eventLines(sentEvents()), timeoutMs: TIMEOUT_MS };
  await createWarehouseOver(transport).insertEvents(block);
  for (const table of ['events', 'usage_hourly']) {
    await transport.command(
      `ALTER TABLE metergate.${table} DELETE WHERE customer_id = 'cus_1' SETTINGS mutations_sync = 1`,
    );
  }
  const restarted: Transport = {
    ...transport,
    command: async (sql) => {
      if (sql.startsWith(step)) await emptyMemory(transport);
      await transport.command(sql);
    },
  };
  const again = { ...block, wasSent: true };
  await expect(createWarehouseOver(restarted).insertEvents(again)).rejects.toMatchObject({
    code: 'warehouse_unavailable',
  });
  await createWarehouseOver(transport).insertEvents(again);
  const sql = `SELECT (SELECT count() FROM metergate.events) AS stored,
                      (SELECT sum(events) FROM metergate.usage_hourly) AS hourly`;
  expect(await transport.rows({ sql, connection: 'load', timeoutMs: TIMEOUT_MS })).toEqual([
    { stored: String(SENT), hourly: String(SENT) },
  ]);
});

/** As tables of this engine are after a start: there, and empty. */
async function emptyMemory(transport: Transport): Promise<void> {
  const tables = await transport.rows<{ name: string }>({
    sql: "SELECT name FROM system.tables WHERE database = 'metergate' AND engine = 'Memory'",
    connection: 'load',
    timeoutMs: TIMEOUT_MS,
  });
  for (const { name } of tables) await transport.command(`TRUNCATE TABLE metergate.${name}`);
}

/** The first one keeps the time at which it was sent for the first time. */
function sentEvents(): TestEvent[] {
  return Array.from({ length: SENT }, (_, at) => ({
    id: `sent ${at}`,
    customerId: `cus_${at % 5}`,
    occurredAtMs: TEST_NOW_MS - at * HOUR_MS,
    createdAtMs: at === 0 ? TEST_NOW_MS - 72 * HOUR_MS : TEST_NOW_MS,
  }));
}
