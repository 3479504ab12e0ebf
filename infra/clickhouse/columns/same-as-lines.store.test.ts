import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { EVENT_COLUMNS } from '../../../schemas/stored/event-row.ts';
import { eventLines } from '../../../tests/support/event-line.ts';
import { folderOfThisFile } from '../../../tests/support/test-folder.ts';
import { type BothInserts, openBothInserts } from './both-inserts-under-test.ts';
import { createEventColumns } from './event-columns.ts';
import { randomLines, storableLines } from './random-lines-under-test.ts';

const folder = folderOfThisFile();
const columns = createEventColumns();
let both: BothInserts;

beforeAll(async () => {
  both = await openBothInserts(folder);
});
afterAll(() => both.close());

// `npm run torture -- --only columns` does it with 10,000.
it('columns store what lines of JSON store, in every column and every hour', async () => {
  await fc.assert(fc.asyncProperty(storableLines, both.compare), { numRuns: 15 });
});

// Red when a log of an early release, loaded again, loses what came last, or when all other hours keep it.
it('an hour says what came last of `latest` meters, and of events of early releases', async () => {
  const [nowMs, dayMs] = [Date.now() + 1_000, 86_400_000];
  const lines = eventLines([
    { id: 'use_1', meterKey: 'gauge', value: '5', uniqueValue: '#000000', createdAtMs: nowMs },
    { id: 'use_2', meterKey: 'sum', value: '6', createdAtMs: nowMs },
    { id: 'use_3', meterKey: 'early gauge', value: '7', createdAtMs: nowMs - dayMs },
  ]);
  await both.store(lines);
  const sql = `SELECT meter_key AS meter, toString(argMaxMerge(latest)) AS last FROM metergate.usage_hourly
    GROUP BY meter ORDER BY meter`;
  expect(await both.rows(sql)).toEqual([
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
  const described = await both.rows<{ name: string; type: string }>(`DESCRIBE ${await fileOf(lines)}`);
  const table = await both.rows<{ name: string; type: string }>(
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
      const [found] = await both.rows<{ keys: unknown[]; sorted: unknown[] }>(
        `SELECT groupArray(key) AS keys, arraySort(keys) AS sorted FROM (${sql})`,
      );
      expect(found?.keys).toEqual(found?.sorted);
    }),
    { numRuns: 15 },
  );
});
