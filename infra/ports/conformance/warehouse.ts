import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Fatal, Poison, Transient } from '../../../schemas/failures.ts';
import { decimalUnits, unitsText } from '../../../schemas/primitives/decimal.ts';
import { NUMBER_TAG } from '../../../schemas/stored/event-row.ts';
import { HOURLY_STATES } from '../../../schemas/stored/usage-hourly.ts';
import { CODE_POINT } from '../../../tests/support/code-point.ts';
import { eventLine, eventLines, TEST_NOW_MS, type TestEvent } from '../../../tests/support/event-line.ts';
import type { Statement, Warehouse } from '../warehouse.ts';
import { changeTests } from './warehouse-changes.ts';
import { latestTests } from './warehouse-latest.ts';
import { sentAgainTests } from './warehouse-sent-again.ts';

/** One warehouse. Each call opens it again, after the previous one was closed; the first finds no row. */
export interface WarehouseHarness {
  open(): Promise<Warehouse>;
}

/** What every Warehouse does. An adapter's test is one call of this. */
export function warehouseConformance(
  name: string,
  createHarness: () => Promise<WarehouseHarness>,
  { damageIsRepaired = false }: { damageIsRepaired?: boolean } = {},
): void {
  describe(`${name} as a Warehouse`, () => {
    describe('a block', () => blockTests(createHarness));
    describe('the latest at a time', () => latestTests(() => openMigrated(createHarness)));
    describe('a block of a killed insert', () =>
      sentAgainTests(() => openMigrated(createHarness), damageIsRepaired));
    describe('a block of a change of usage', () => changeTests(() => openMigrated(createHarness)));
    describe('a rejected block', () => rejectionTests(createHarness));
    describe('a query', () => queryTests(createHarness));
    describe('migrate', () => migrationTests(createHarness));
  });
}

type CreateHarness = () => Promise<WarehouseHarness>;

const TIMEOUT_MS = 60_000;

/** Red without a window of tokens on the table of the hours: base 1, rollup 2. */
function blockTests(createHarness: CreateHarness): void {
  it('is counted once per token, in the events and in the hours', async () => {
    const warehouse = await openMigrated(createHarness);
    const block = { token: 'a', lines: eventLines(events(10)), timeoutMs: TIMEOUT_MS };
    for (let attempt = 0; attempt < 3; attempt++) await warehouse.insertEvents(block);
    expect(await counts(warehouse)).toEqual({ stored: 10, hourly: 10 });
    await warehouse.insertEvents({ ...block, token: 'b' });
    expect(await counts(warehouse)).toEqual({ stored: 20, hourly: 20 });
  });

  it('is still known by its token after everything was closed and opened again', async () => {
    const harness = await createHarness();
    const block = { token: 'a', lines: eventLines(events(10)), timeoutMs: TIMEOUT_MS };
    const before = await harness.open();
    await before.migrate();
    await before.insertEvents(block);
    await before.close();
    const after = await openIn(harness);
    await after.insertEvents(block);
    expect(await counts(after)).toEqual({ stored: 10, hourly: 10 });
  });

  // Red when a block is cut: with max_insert_block_size 10,000 and no minimum there are 98 parts.
  it('becomes one part per month, whatever its size, and once per token over 14 months too', async () => {
    const warehouse = await openMigrated(createHarness);
    const many = Array.from({ length: 70_000 }, (_, at) => ({
      // As long as real ones, which are read ten times as fast as others.
      id: `use_${at.toString(2).replace(/0/g, 'a').replace(/1/g, 'b').padStart(26, 'a')}`,
      occurredAtMs: Date.UTC(2026, 10 - (at % 14), 1 + (at % 28)),
    }));
    const block = { token: 'a', lines: eventLines(many), timeoutMs: TIMEOUT_MS };
    await warehouse.insertEvents(block);
    expect(await parts(warehouse)).toEqual({ events: 14, usage_by_property: 14, usage_hourly: 14 });
    await warehouse.insertEvents(block);
    expect(await counts(warehouse)).toEqual({ stored: 70_000, hourly: 70_000 });
  });

  it('keeps every digit of a value, in sums too', async () => {
    const warehouse = await openMigrated(createHarness);
    const values = ['123456789012345.000000000001', '-0.000000000001', '0.1', '0.2', '-7', '999999999999999'];
    const sum = unitsText(values.reduce((total, value) => total + decimalUnits(value), 0n));
    await insert(
      warehouse,
      values.map((value, at) => ({ id: `use_${at}`, value })),
    );
    const stored = 'SELECT id, value FROM metergate.events ORDER BY id';
    expect((await rows<{ value: string }>(warehouse, stored)).map(({ value }) => value)).toEqual(values);
    const [raw, rollup] = [
      'SELECT sum(value) AS total FROM metergate.events FINAL',
      'SELECT sum(total) AS total FROM metergate.usage_hourly',
    ];
    expect(await rows(warehouse, raw)).toEqual([{ total: sum }]);
    expect(await rows(warehouse, rollup)).toEqual([{ total: sum }]);
  });

  it('fills every state of the hours', async () => {
    const warehouse = await openMigrated(createHarness);
    await insert(warehouse, [
      { id: 'use_a', value: '5', uniqueValue: '=x', occurredAtMs: TEST_NOW_MS },
      { id: 'use_b', value: '2', uniqueValue: '=', occurredAtMs: TEST_NOW_MS + 1 },
      { id: 'use_c', value: '3', uniqueValue: '', occurredAtMs: TEST_NOW_MS - 1 },
    ]);
    const values = Object.values(HOURLY_STATES).map(({ column, merged }) => `${merged} AS ${column}_value`);
    const valuesOf = async (hours: string) => {
      const sql = `SELECT toUnixTimestamp(hour) AS begin, ${values} FROM (${hours}) GROUP BY hour`;
      return (await rows<Record<string, unknown>>(warehouse, sql))[0];
    };
    const ofEvents = Object.values(HOURLY_STATES).map(({ column, ofEvents }) => `${ofEvents} AS ${column}`);
    const filled = await valuesOf('SELECT * FROM metergate.usage_hourly');
    // Those of the first release. Any other is compared with the events below.
    expect(filled).toMatchObject({
      ...{ begin: TEST_NOW_MS / 1000 - 1800, total_value: '10', events_value: '3' },
      ...{ largest_value: '5', latest_value: '2', uniques_value: '2' },
    });
    const begin = 'toStartOfHour(occurred_at)';
    const hours = `SELECT ${begin} AS hour, ${ofEvents} FROM metergate.events GROUP BY hour`;
    expect(filled).toEqual(await valuesOf(hours));
  });

  it('gives the earliest of two rows with one id', async () => {
    const warehouse = await openMigrated(createHarness);
    await insert(warehouse, [
      { id: 'use_a', value: '2', createdAtMs: 2_000 },
      { id: 'use_a', value: '1', createdAtMs: 1_000 },
    ]);
    await insert(warehouse, [{ id: 'use_a', value: '3', createdAtMs: 3_000 }]);
    expect(await rows(warehouse, 'SELECT value FROM metergate.events FINAL')).toEqual([{ value: '1' }]);
  });

  it('keeps the text of tagged properties', async () => {
    const warehouse = await openMigrated(createHarness);
    const properties = { n: `${NUMBER_TAG}12`, text: '12', odd: 'a"b\\c\n☃😀' };
    await insert(warehouse, [{ id: 'use_a', properties }]);
    expect(await rows(warehouse, 'SELECT properties FROM metergate.events')).toEqual([{ properties }]);
  });
}

function rejectionTests(createHarness: CreateHarness): void {
  const unreadable: Array<[what: string, line: string]> = [
    ['a lone surrogate', eventLine({ id: 'use_bad' }).replace('use_bad', '\\ud800')],
    ['a value with too many digits', eventLine({ id: 'use_bad', value: '1e30' })],
    ['a value that is a word', eventLine({ id: 'use_bad', value: '"many"' })],
    ['a time that is a word', eventLine({ id: 'use_bad' }).replace(/\d+]/, '"noon"]')],
    ['a column too few', '["ws_a:live"]\n'],
    ['no JSON', 'garbage\n'],
    ['half a line', '["ws_a:live","cus'],
  ];

  it.each(unreadable)('with %s is Poison and stores nothing', async (_, line) => {
    const warehouse = await openMigrated(createHarness);
    const lines = Buffer.concat([eventLines(events(3)), Buffer.from(line)]);
    expect(await warehouse.accepts(lines)).toBe(false);
    const inserted = warehouse.insertEvents({ token: 'a', lines, timeoutMs: TIMEOUT_MS });
    await expect(inserted).rejects.toThrow(Poison);
    expect(await counts(warehouse)).toEqual({ stored: 0, hourly: 0 });
    // What is left of it may come under the same token.
    await warehouse.insertEvents({ token: 'a', lines: eventLines(events(3)), timeoutMs: TIMEOUT_MS });
    expect(await counts(warehouse)).toEqual({ stored: 3, hourly: 3 });
  });

  it('is distinguished from a readable one without storing either', async () => {
    const warehouse = await openMigrated(createHarness);
    expect(await warehouse.accepts(eventLines(events(3)))).toBe(true);
    expect(await counts(warehouse)).toEqual({ stored: 0, hourly: 0 });
  });
}

function queryTests(createHarness: CreateHarness): void {
  it('takes parameters of any text', async () => {
    const warehouse = await openMigrated(createHarness);
    const sql = 'SELECT {text:String} AS text, {texts:Array(String)} AS texts, {count:Int64} AS count';
    const text = fc.string({ unit: CODE_POINT, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(
        text,
        fc.array(text, { maxLength: 3 }),
        fc.maxSafeInteger(),
        async (one, more, count) => {
          const params = { text: one, texts: more, count };
          const found = await warehouse.query({ sql, params, connection: 'counters', timeoutMs: TIMEOUT_MS });
          expect(found).toEqual([{ text: one, texts: more, count: String(count) }]);
        },
      ),
      { numRuns: 25, examples: [["'\\' OR 1=1 --\0", ["','", '\\', "\n\t'"], -1]] },
    );
  });

  // Red with one connection for all statements, and with chdb's own parameters, which wait for each other.
  it('on the long connection delays neither the load nor a counter', async () => {
    const warehouse = await openMigrated(createHarness);
    let longEnded = false;
    const requested = { ...sleeping({ seconds: 20, connection: 'long' }), timeoutMs: 5_000 };
    const end = () => {
      longEnded = true;
    };
    const long = warehouse.query(requested).then(end, end);
    await insert(warehouse, events(100));
    await warehouse.query({
      sql: 'SELECT {one:Int64}',
      params: { one: 1 },
      connection: 'counters',
      timeoutMs: TIMEOUT_MS,
    });
    expect(longEnded).toBe(false);
    await long;
  });

  // Red when chdb's connection is kept after an error: rows made before it come with the next result.
  it.each(['counters', 'long'] as const)(
    'that takes too long on the %s connection is Transient and leaves nothing behind',
    async (connection) => {
      const warehouse = await openMigrated(createHarness);
      await expect(
        warehouse.query({ ...sleeping({ seconds: 5, connection }), timeoutMs: 250 }),
      ).rejects.toThrow(Transient);
      const found = await warehouse.query({ sql: 'SELECT 1 AS one', connection, timeoutMs: TIMEOUT_MS });
      expect(found).toEqual([{ one: 1 }]);
    },
  );

  it('that is wrong is no reason to try again', async () => {
    const warehouse = await openMigrated(createHarness);
    const wrong = warehouse.query({ sql: 'SELECT nothing', connection: 'counters', timeoutMs: TIMEOUT_MS });
    await expect(wrong).rejects.not.toBeInstanceOf(Transient);
  });
}

function migrationTests(createHarness: CreateHarness): void {
  it('runs twice without harm', async () => {
    const warehouse = await openMigrated(createHarness);
    await insert(warehouse, events(3));
    await warehouse.migrate();
    expect(await counts(warehouse)).toEqual({ stored: 3, hourly: 3 });
  });

  it('rejects a warehouse that a later release was in', async () => {
    const warehouse = await openMigrated(createHarness);
    await rows(warehouse, 'INSERT INTO metergate.migrations (number) SELECT 9999');
    const rejected = await warehouse.migrate().catch((error: unknown) => error);
    expect(rejected).toBeInstanceOf(Fatal);
    expect(rejected).toMatchObject({ code: 'warehouse_newer' });
  });
}

async function openMigrated(createHarness: CreateHarness): Promise<Warehouse> {
  const warehouse = await openIn(await createHarness());
  await warehouse.migrate();
  return warehouse;
}

async function openIn(harness: WarehouseHarness): Promise<Warehouse> {
  const warehouse = await harness.open();
  onTestFinished(() => warehouse.close());
  return warehouse;
}

function events(count: number): TestEvent[] {
  return Array.from({ length: count }, (_, at) => ({ id: `use_${at}` }));
}

let tokens = 0;

async function insert(warehouse: Warehouse, some: TestEvent[]): Promise<void> {
  tokens += 1;
  await warehouse.insertEvents({ token: `some-${tokens}`, lines: eventLines(some), timeoutMs: TIMEOUT_MS });
}

function rows<Row>(warehouse: Warehouse, sql: string): Promise<Row[]> {
  return warehouse.query<Row>({ sql, connection: 'counters', timeoutMs: TIMEOUT_MS });
}

async function counts(warehouse: Warehouse): Promise<{ stored: number; hourly: number }> {
  const sql = `SELECT (SELECT count() FROM metergate.events) AS stored,
                 (SELECT sum(events) FROM metergate.usage_hourly) AS hourly`;
  const [row] = await rows<{ stored: string; hourly: string }>(warehouse, sql);
  return { stored: Number(row?.stored), hourly: Number(row?.hourly) };
}

async function parts(warehouse: Warehouse): Promise<Record<string, number>> {
  const sql = `SELECT table, count() AS parts FROM system.parts
               WHERE active AND database = 'metergate'
                 AND table IN ('events', 'usage_hourly', 'usage_by_property')
               GROUP BY table`;
  const found = await rows<{ table: string; parts: string }>(warehouse, sql);
  return Object.fromEntries(found.map((row) => [row.table, Number(row.parts)]));
}

/** Gives a row each 100 ms. */
function sleeping({
  seconds,
  connection,
}: {
  seconds: number;
  connection: Statement['connection'];
}): Statement {
  const sql = 'SELECT sleepEachRow(0.1) AS slept FROM numbers({rows:UInt64}) SETTINGS max_block_size = 1';
  return { sql, params: { rows: seconds * 10 }, connection, timeoutMs: TIMEOUT_MS };
}
