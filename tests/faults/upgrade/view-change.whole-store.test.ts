import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AGGREGATE_SQL } from '../../../domain/store/aggregate-sql.ts';
import { createClickHouseWarehouse } from '../../../infra/clickhouse/clickhouse-warehouse.ts';
import { createChdbWarehouse } from '../../../infra/clickhouse/embedded/chdb-warehouse.ts';
import type { Pause, Warehouse } from '../../../infra/ports/warehouse.ts';
import { arrivalText } from '../../../schemas/stored/event-row.ts';
import { HOURLY_STATES } from '../../../schemas/stored/usage-hourly.ts';
import { startChdbHttpServer } from '../../servers/chdb-http-server.ts';
import { eventLines, type TestEvent } from '../../support/event-line.ts';
import { testFolder } from '../../support/test-folder.ts';
import { changedView } from './changed-view.ts';
import { warehouseMigrations } from './stored-sums.ts';

const log = pino({ level: 'silent' });
const SHIPPED = join('infra', 'migrations', 'clickhouse');
const FIRST = '0001_usage.sql';
/** What the hours of the first migration have. */
const { total, events, largest, latest: last, uniques } = HOURLY_STATES;
const CHANGED_VIEW = changedView([total, events, largest, last, uniques]);
const TIMEOUT_MS = 10_000;

const WAREHOUSES: Array<[name: string, open: () => Promise<Warehouse>]> = [
  ['chdb', async () => createChdbWarehouse({ directory: testFolder(), log })],
  [
    'a ClickHouse server',
    async () => {
      const server = await startChdbHttpServer(testFolder());
      onTestFinished(() => server.close());
      return createClickHouseWarehouse({ url: server.url, log });
    },
  ],
];

const VIEW = `SELECT environment, customer_id, meter_key, toStartOfHour(occurred_at) AS hour,
    sum(value) AS total, count() AS events, max(value) AS largest,
    argMaxState(value, (occurred_at, created_at, id)) AS latest,
    uniqExactStateIf(unique_value, unique_value != '') AS uniques
  FROM metergate.events WHERE id != '' GROUP BY environment, customer_id, meter_key, hour`;
const DROP = 'DROP VIEW metergate.usage_hourly_view SYNC';
const CREATE = `CREATE MATERIALIZED VIEW metergate.usage_hourly_view TO metergate.usage_hourly AS ${VIEW}`;
const INDEX = [
  'ALTER TABLE metergate.events ADD INDEX id_filter id TYPE bloom_filter(0.01) GRANULARITY 1',
  'ALTER TABLE metergate.events MATERIALIZE INDEX id_filter SETTINGS mutations_sync = 1',
];
const MODIFY = `ALTER TABLE metergate.usage_hourly_view MODIFY QUERY ${VIEW}`;

/**
 * Why a view is changed by DROP and CREATE, and with nothing pending: what
 * infra/migrations/clickhouse/README.md says. A release of ClickHouse that does otherwise shows here.
 */
describe.each(WAREHOUSES)('a block of 10 sent twice under one token to %s', (_, open) => {
  const between: Array<[what: string, act: (warehouse: Warehouse) => Promise<void>, hourly: number]> = [
    ['the view is left alone', async () => undefined, 10],
    ['the view is dropped and created over the same hours', (warehouse) => run(warehouse, DROP, CREATE), 10],
    ['the view is changed by MODIFY QUERY', (warehouse) => run(warehouse, MODIFY), 20],
    ['an index is added and made of what is stored', (warehouse) => run(warehouse, ...INDEX), 10],
    ['the hours are rebuilt from the events', (warehouse) => migrateTo(warehouse, CHANGED_VIEW), 20],
  ];

  it.each(between)('and meanwhile %s', async (_what, act, hourly) => {
    const warehouse = await openMigrated(open);
    await insert(warehouse);
    await act(warehouse);
    await insert(warehouse);
    expect(await counts(warehouse)).toEqual({ stored: 10, hourly });
  });
});

describe.each(WAREHOUSES)('the order of arrival, which 0002 brings to %s', (_, open) => {
  // Red when old rows are read by anything but their ids, or the hours that had them are not those of before.
  it('leaves what was stored before as it was, and orders what comes from then on', async () => {
    const warehouse = await openMigrated(open);
    const send = (token: string, events: TestEvent[]) =>
      warehouse.insertEvents({ token, lines: eventLines(events), timeoutMs: TIMEOUT_MS });
    const before = [1, 2, 3].map((value) => ({ id: `use_${'bca'[value - 1]}`, value: String(value) }));
    const behind = before.map(({ id, value }, at) => {
      const ordered = { uniqueValue: arrivalText(at), customerId: 'cus_b' };
      return { id: `${id}_`, value: String(7 + Number(value)), ...ordered };
    });
    await send('one', before);
    expect(await latest(warehouse)).toEqual({ cus_a: ['2', '2'] });
    await warehouse.migrate();
    await send('two', behind);
    expect(await latest(warehouse)).toEqual({ cus_a: ['2', '2'], cus_b: ['10', '10'] });
    expect(await counts(warehouse)).toEqual({ stored: 6, hourly: 6 });
  });
});

describe.each(WAREHOUSES)('the index of ids, which 0003 brings to %s', (_, open) => {
  /** Red when events of earlier releases are left without it: each search would read all of them. */
  it('covers the events that were stored before', async () => {
    const warehouse = await openMigrated(open);
    await insert(warehouse);
    await warehouse.migrate();
    const partsRead = async () => {
      const sql = "EXPLAIN indexes = 1 SELECT id FROM metergate.events WHERE id = 'use_5a'";
      const lines = await query<{ explain: string }>(warehouse, sql);
      const text = lines.map(({ explain }) => explain.trim()).join(' ');
      return /Name: id_filter .*?Parts: (\d+\/\d+)/.exec(text)?.[1];
    };
    await expect.poll(partsRead, { timeout: 30_000, interval: 100 }).toBe('0/1');
    expect(await counts(warehouse)).toEqual({ stored: 10, hourly: 10 });
  });
});

/** By customer: of the hours, and of the events. */
async function latest(warehouse: Warehouse): Promise<Record<string, string[]>> {
  const { ofEvents, ofHours, merged } = AGGREGATE_SQL.latest;
  const of = (state: string, table: string) =>
    `SELECT customer_id, ${state} AS state FROM metergate.${table} GROUP BY customer_id`;
  const sql = `
    SELECT customer_id, ${merged} AS value FROM (${of(ofHours, 'usage_hourly')}) GROUP BY customer_id
    UNION ALL
    SELECT customer_id, ${merged} AS value FROM (${of(ofEvents, 'events')}) GROUP BY customer_id`;
  const rows = await query<{ customer_id: string; value: string }>(warehouse, sql);
  const found: Record<string, string[]> = {};
  for (const { customer_id, value } of rows) found[customer_id] = [...(found[customer_id] ?? []), value];
  return found;
}

describe.each(WAREHOUSES)('a migration of %s', (_, open) => {
  // Red when the first line of the file is not looked at.
  it('that changes a view waits until the load is paused, and no other does', async () => {
    const warehouse = await openOne(open);
    const directory = migrations(CHANGED_VIEW);
    const applied: number[] = [];
    const atPause: Pause = async (work) => {
      applied.push(...(await numbers(warehouse)));
      await work(async () => {});
    };
    await warehouse.migrate({ atPause, directory });
    expect(applied).toEqual([1]);
    expect(await numbers(warehouse)).toEqual([1, 2]);
  });

  // Red when it does not look again: the rival's hours, and what was loaded into them, are dropped.
  it('that a rival applied while this one waited is not applied again', async () => {
    const warehouse = await openMigrated(open);
    const atPause: Pause = async (work) => {
      await migrateTo(warehouse, CHANGED_VIEW);
      await run(warehouse, 'TRUNCATE TABLE metergate.usage_hourly');
      await work(async () => {});
    };
    await insert(warehouse);
    await warehouse.migrate({ atPause, directory: migrations(CHANGED_VIEW) });
    expect(await counts(warehouse)).toEqual({ stored: 10, hourly: 0 });
  });

  // Red when a number is recorded after its statements only: the former release starts without a view.
  it('that was cut off is rejected by the former release and done again by its own', async () => {
    const warehouse = await openMigrated(open);
    await insert(warehouse);
    const cutOff = `-- standstill\n${DROP};\n\nSELECT throwIf(1);\n`;
    await expect(migrateTo(warehouse, cutOff)).rejects.toThrow();
    await expect(warehouse.migrate({ directory: migrations() })).rejects.toMatchObject({
      code: 'warehouse_newer',
    });
    await migrateTo(warehouse, CHANGED_VIEW);
    expect(await counts(warehouse)).toEqual({ stored: 10, hourly: 10 });
  });

  it('by six at once leaves one of everything', async () => {
    const warehouse = await openOne(open);
    await Promise.all(Array.from({ length: 6 }, () => warehouse.migrate()));
    await insert(warehouse);
    expect(await counts(warehouse)).toEqual({ stored: 10, hourly: 10 });
    expect(await numbers(warehouse)).toEqual(warehouseMigrations());
  });
});

async function openOne(open: () => Promise<Warehouse>): Promise<Warehouse> {
  const warehouse = await open();
  onTestFinished(() => warehouse.close());
  return warehouse;
}

/** As this release has it. */
async function openMigrated(open: () => Promise<Warehouse>): Promise<Warehouse> {
  const warehouse = await openOne(open);
  await warehouse.migrate({ directory: migrations() });
  return warehouse;
}

function migrateTo(warehouse: Warehouse, second: string): Promise<void> {
  return warehouse.migrate({ directory: migrations(second) });
}

/** The first migration, and perhaps this SQL behind it. */
function migrations(second?: string): URL {
  const folder = testFolder();
  copyFileSync(join(SHIPPED, FIRST), join(folder, FIRST));
  if (second !== undefined) writeFileSync(join(folder, '0002_second.sql'), second);
  return pathToFileURL(`${folder}/`);
}

async function run(warehouse: Warehouse, ...statements: string[]): Promise<void> {
  for (const sql of statements) await query(warehouse, sql);
}

function query<Row extends object>(warehouse: Warehouse, sql: string): Promise<Row[]> {
  return warehouse.query<Row>({ sql, connection: 'load', timeoutMs: TIMEOUT_MS });
}

async function insert(warehouse: Warehouse): Promise<void> {
  const lines = eventLines(Array.from({ length: 10 }, (_, at) => ({ id: `use_${at}` })));
  await warehouse.insertEvents({ token: 'one', lines, timeoutMs: TIMEOUT_MS });
}

async function counts(warehouse: Warehouse): Promise<{ stored: number; hourly: number }> {
  const sql = `SELECT (SELECT count() FROM metergate.events) AS stored,
                 (SELECT sum(events) FROM metergate.usage_hourly) AS hourly`;
  const [row] = await query<{ stored: string; hourly: string }>(warehouse, sql);
  return { stored: Number(row?.stored), hourly: Number(row?.hourly) };
}

async function numbers(warehouse: Warehouse): Promise<number[]> {
  const sql = "SELECT DISTINCT number FROM metergate.migrations WHERE state = 'applied' ORDER BY number";
  const rows = await query<{ number: number }>(warehouse, sql);
  return rows.map(({ number }) => number);
}
