import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { EVENT_COLUMNS } from '../../../schemas/stored/event-row.ts';
import { ORDER_OF_ARRIVAL } from '../../../schemas/stored/usage-hourly.ts';
import { eventLines } from '../../../tests/support/event-line.ts';
import { HOURLY_MERGED, HOURLY_VALUES } from '../../../tests/support/hourly-values.ts';
import { wrongRowsByProperty } from '../../../tests/support/rows-by-property.ts';
import { SILENT } from '../../../tests/support/silent-log.ts';
import { folderOfThisFile } from '../../../tests/support/test-folder.ts';
import type { Warehouse } from '../../ports/warehouse.ts';
import { SETTINGS_BY_CONNECTION } from '../connection-settings.ts';
import { type ChdbConnectionHandle, openChdbConnection } from '../embedded/chdb-connection.ts';
import { createChdbWarehouse } from '../embedded/chdb-warehouse.ts';
import { createEventColumns } from './event-columns.ts';
import { randomLines } from './random-lines-under-test.ts';

const TIMEOUT_MS = 30_000;
const folder = folderOfThisFile();
const columns = createEventColumns();
let warehouse: Warehouse;
let connection: ChdbConnectionHandle;
let tokens = 0;

beforeAll(async () => {
  warehouse = createChdbWarehouse({ directory: folder, log: SILENT });
  await warehouse.migrate();
  connection = openChdbConnection({ directory: folder, settings: SETTINGS_BY_CONNECTION.load, log: SILENT });
});
afterAll(async () => {
  await connection.close();
  await warehouse.close();
});

/** ClickHouse reads the lines itself. */
async function insertAsJson(lines: Buffer): Promise<void> {
  await connection.run(TIMEOUT_MS, ({ connection: { chdb } }) =>
    chdb.rawInsert({
      table: 'metergate.events',
      values: lines,
      format: 'JSONCompactEachRow',
      columns: [...EVENT_COLUMNS],
      settings: { insert_deduplication_token: `json ${++tokens}` },
    }),
  );
}

const rows = <Row>(sql: string) => warehouse.query<Row>({ sql, connection: 'long', timeoutMs: TIMEOUT_MS });
const ALL = 'SELECT *, version FROM metergate.events ORDER BY ALL';
const HOUR = 'environment, customer_id, meter_key, hour';
const hours = (values: string[], from: string) =>
  `SELECT ${HOUR}, ${values.map((value, at) => `${value} AS value_${at}`).join(', ')} FROM ${from}
   GROUP BY ${HOUR} ORDER BY ${HOUR}`;
const HOURS = hours(HOURLY_MERGED, 'metergate.usage_hourly');
/** What hours keep of the latest: none of a row that shows that its meter is of another aggregation. */
const KEPT_LATEST = `argMax(if(startsWith(unique_value, '#') OR created_at < (
    SELECT min(applied_at) FROM metergate.migrations WHERE number = 7 AND state = 'applied'), value, 0),
  ${ORDER_OF_ARRIVAL})`;
const HOURS_OF_EVENTS = hours(
  HOURLY_VALUES.map((value) => (value.includes('argMax') ? KEPT_LATEST : value)),
  '(SELECT *, toStartOfHour(occurred_at) AS hour FROM metergate.events)',
);

async function storedEvents(insert: () => Promise<void>): Promise<unknown[]> {
  for (const table of ['events', 'usage_hourly', 'usage_by_property'])
    await rows(`TRUNCATE TABLE metergate.${table}`);
  await insert();
  return await rows(ALL);
}

it('columns store what lines of JSON store, in every column and every hour', async () => {
  await fc.assert(
    fc.asyncProperty(randomLines, async (lines) => {
      const ofJson = await storedEvents(() => insertAsJson(lines));
      const ofColumns = await storedEvents(() =>
        warehouse.insertEvents({ token: `columns ${++tokens}`, lines, timeoutMs: TIMEOUT_MS }),
      );
      expect(ofColumns).toEqual(ofJson);
      expect(ofColumns).not.toEqual([]);
      expect(await rows(HOURS)).toEqual(await rows(HOURS_OF_EVENTS));
      expect(await wrongRowsByProperty(warehouse, 'metergate.events')).toEqual([]);
    }),
    { numRuns: 15 },
  );
});

// Red when a log of an early release, loaded again, loses what came last, or when all other hours keep it.
it('an hour says what came last of `latest` meters, and of events of early releases', async () => {
  const [nowMs, dayMs] = [Date.now() + 1_000, 86_400_000];
  const lines = eventLines([
    { id: 'use_1', meterKey: 'gauge', value: '5', uniqueValue: '#000000', createdAtMs: nowMs },
    { id: 'use_2', meterKey: 'sum', value: '6', createdAtMs: nowMs },
    { id: 'use_3', meterKey: 'early gauge', value: '7', createdAtMs: nowMs - dayMs },
  ]);
  await storedEvents(() =>
    warehouse.insertEvents({ token: `last ${++tokens}`, lines, timeoutMs: TIMEOUT_MS }),
  );
  const sql = `SELECT meter_key AS meter, toString(argMaxMerge(latest)) AS last FROM metergate.usage_hourly
    GROUP BY meter ORDER BY meter`;
  expect(await rows(sql)).toEqual([
    { meter: 'early gauge', last: '7' },
    { meter: 'gauge', last: '5' },
    { meter: 'sum', last: '0' },
  ]);
});

async function fileOf(lines: Buffer): Promise<string> {
  const made = await columns(lines, (bytes) => Buffer.alloc(bytes));
  const file = join(folder, 'block.native');
  writeFileSync(file, made?.block.bytes ?? Buffer.alloc(0));
  return `file('${file}', 'Native')`;
}

// Red when a column is missing: the table's column would have its default in all rows.
it('the block has the columns of the table, by the same names and types', async () => {
  const [lines = Buffer.alloc(0)] = fc.sample(randomLines, 1);
  const described = await rows<{ name: string; type: string }>(`DESCRIBE ${await fileOf(lines)}`);
  const table = await rows<{ name: string; type: string }>(
    `SELECT name, type FROM system.columns WHERE database = 'metergate' AND table = 'events'
     AND default_kind = '' ORDER BY position`,
  );
  expect(described.map(({ name, type }) => ({ name, type }))).toEqual(table);
  expect(table.map(({ name }) => name)).toEqual(EVENT_COLUMNS);
});

// Red when the rows are in another order: ClickHouse sorts them again, for a part of what an insert costs.
it('the rows are in the order in which the table keeps them', async () => {
  const key = '(environment, customer_id, meter_key, toStartOfHour(occurred_at), id)';
  await fc.assert(
    fc.asyncProperty(randomLines, async (lines) => {
      const sql = `SELECT ${key} AS key FROM ${await fileOf(lines)}`;
      const [found] = await rows<{ keys: unknown[]; sorted: unknown[] }>(
        `SELECT groupArray(key) AS keys, arraySort(keys) AS sorted FROM (${sql})`,
      );
      expect(found?.keys).toEqual(found?.sorted);
    }),
    { numRuns: 15 },
  );
});
