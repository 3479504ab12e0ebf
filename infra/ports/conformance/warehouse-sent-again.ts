import { readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Poison } from '../../../schemas/failures.ts';
import { NUMBER_TAG } from '../../../schemas/stored/event-row.ts';
import { eventLines, TEST_NOW_MS, type TestEvent } from '../../../tests/support/event-line.ts';
import { HOURLY_MERGED, HOURLY_VALUES } from '../../../tests/support/hourly-values.ts';
import { wrongRowsByProperty } from '../../../tests/support/rows-by-property.ts';
import type { EventBlock, Statement, Warehouse } from '../warehouse.ts';

const TIMEOUT_MS = 60_000;
const HOUR_MS = 3_600_000;
/** The block begins with the 41st event; those before it are another's. */
const MONTH = `toYYYYMM(occurred_at) = 202610 AND toUnixTimestamp64Milli(created_at) >= ${TEST_NOW_MS + 40}`;
const TABLES = [
  ...['change_by_property', 'change_events', 'change_hourly'],
  ...['closed_properties', 'event_lines', 'events', 'migrations'],
  ...['usage_by_property', 'usage_hourly', 'voided_events'],
];
const ROLLUP_MONTH = 'toYYYYMM(hour) = 202610';

/**
 * A killed insert leaves some of its parts: those of one month and not of another, of `events` and not of the
 * rollup. ClickHouse records the token of a part before the part is in its place, so one of them may be lost
 * forever while its token shows that it is there. That state is made here by deleting rows, which keeps
 * tokens.
 */
export function sentAgainTests(open: () => Promise<Warehouse>, damageIsRepaired: boolean): void {
  it.each<[string, string[]]>([
    ['all of it', []],
    ['all but a month of the events', [`ALTER TABLE metergate.events DELETE WHERE ${MONTH}`]],
    ['all but a month of the hours', [`ALTER TABLE metergate.usage_hourly DELETE WHERE ${ROLLUP_MONTH}`]],
    ['all but a month by property', [`ALTER TABLE metergate.usage_by_property DELETE WHERE ${ROLLUP_MONTH}`]],
    [
      'all but a value of a property',
      ["ALTER TABLE metergate.usage_by_property DELETE WHERE property = 'region' AND value = 'eu 1'"],
    ],
    [
      'nothing of a month',
      [
        `ALTER TABLE metergate.events DELETE WHERE ${MONTH}`,
        `ALTER TABLE metergate.usage_hourly DELETE WHERE ${ROLLUP_MONTH}`,
        `ALTER TABLE metergate.usage_by_property DELETE WHERE ${ROLLUP_MONTH}`,
      ],
    ],
    [
      'a month of the hours twice',
      [
        `INSERT INTO metergate.usage_hourly SETTINGS insert_deduplicate = 0
         SELECT * FROM metergate.usage_hourly WHERE ${ROLLUP_MONTH}`,
      ],
    ],
  ])('that left %s behind is whole when it is sent again', async (_, faults) => {
    const warehouse = await open();
    const block = await insertBehindAnother(warehouse);
    await spoil(warehouse, faults);
    await warehouse.insertEvents({ ...block, wasSent: true });
    await warehouse.insertEvents({ ...block, wasSent: true });
    expect(await sums(warehouse)).toEqual(OF_90_EVENTS);
    expect(await wrongHours(warehouse)).toEqual([]);
    expect(await wrongRowsByProperty(warehouse)).toEqual([]);
    expect(await tables(warehouse)).toEqual(TABLES);
  });

  const named = damageIsRepaired
    ? 'leaves hours to the audit, which repairs them'
    : 'computes hours again from what is left';
  it(`${named} when events were lost with a damaged part`, async () => {
    const warehouse = await open();
    const block = await insertBehindAnother(warehouse);
    await detachPart(warehouse, '202610');
    await warehouse.insertEvents({ ...block, wasSent: true });
    const left = await sums(warehouse);
    expect(Number(left.stored)).toBeLessThan(90);
    if (damageIsRepaired) expect(left).toMatchObject({ hourly: '90', hourlyTotal: '4050' });
    else expect(left).toMatchObject({ hourly: left.stored, hourlyTotal: left.total });
  });

  // Red where it is inserted all the same: what a view has twice is left to the audit then.
  it('is in no hour twice when its token was lost with a damaged part', async () => {
    const warehouse = await open();
    const block = await insertBehindAnother(warehouse);
    await detachPart(warehouse, '202610');
    await warehouse.insertEvents({ ...block, token: 'unknown', wasSent: true });
    const { hourly, distinct } = await sums(warehouse);
    expect(hourly).toBe(damageIsRepaired ? '90' : distinct);
  });

  // Red where it is inserted because nothing of it is stored: the view has counted it.
  it('is in no hour twice when all of it was lost with a damaged part, and its token', async () => {
    const warehouse = await open();
    const block = { ...blocks().block, lines: eventLines(events(40, 90).filter(isOfOctober)) };
    await warehouse.insertEvents(blocks().before);
    await warehouse.insertEvents(block);
    await detachPart(warehouse, '202610');
    for (const token of ['unknown', 'unknown', 'another']) {
      await warehouse.insertEvents({ ...block, token, wasSent: true });
    }
    const { hourly, distinct } = await sums(warehouse);
    const counted = 40 + events(40, 90).filter(isOfOctober).length;
    expect(hourly).toBe(damageIsRepaired ? String(counted) : distinct);
  });

  // Red where hours stay unchanged although parts are damaged.
  it('that never arrived is counted where events of others were lost with a damaged part', async () => {
    const warehouse = await open();
    const { before, block } = blocks();
    await warehouse.insertEvents(before);
    await detachPart(warehouse, '202610');
    for (let time = 0; time < 2; time++) await warehouse.insertEvents({ ...block, wasSent: true });
    // Of no hour less was stored before than the block has there.
    const { hourly, hourlyTotal, distinct, total } = await sums(warehouse);
    expect({ hourly, hourlyTotal }).toEqual({ hourly: distinct, hourlyTotal: total });
  });

  it('that is rejected leaves no table behind, with a damaged part either', async () => {
    const warehouse = await open();
    const { before } = blocks();
    await warehouse.insertEvents(before);
    const lines = Buffer.from('{"id":"no more of it');
    const rejected: EventBlock = { token: 'rejected', lines, timeoutMs: TIMEOUT_MS, wasSent: true };
    await expect(warehouse.insertEvents(rejected)).rejects.toBeInstanceOf(Poison);
    await detachPart(warehouse, '202610');
    await expect(warehouse.insertEvents(rejected)).rejects.toBeInstanceOf(Poison);
    expect(await tables(warehouse)).toEqual(TABLES);
  });

  /** Red when it is inserted without the rows that the load makes of it. */
  it('that only ClickHouse can read is in the hours as well, once', async () => {
    const warehouse = await open();
    const lines = Buffer.from(eventLines(events(0, 10)).toString().replace(/,/g, ' , '));
    const block = { token: 'a', lines, timeoutMs: TIMEOUT_MS };
    await warehouse.insertEvents(block);
    expect(await sums(warehouse)).toMatchObject({ stored: '10', hourly: '10' });
    await warehouse.insertEvents({ ...block, wasSent: true });
    expect(await sums(warehouse)).toMatchObject({ stored: '10', hourly: '10' });
  });

  it('that never arrived is stored', async () => {
    const warehouse = await open();
    const block = { token: 'a', lines: eventLines(events(0, 20)), timeoutMs: TIMEOUT_MS, wasSent: true };
    await warehouse.insertEvents(block);
    expect(await sums(warehouse)).toMatchObject({ stored: '20', distinct: '20', hourly: '20' });
  });
}

/** Returns the block that follows another one. */
async function insertBehindAnother(warehouse: Warehouse): Promise<EventBlock> {
  const { before, block } = blocks();
  await warehouse.insertEvents(before);
  await warehouse.insertEvents(block);
  return block;
}

function blocks(): Record<'before' | 'block', EventBlock> {
  return {
    before: { token: 'before', lines: eventLines(events(0, 40)), timeoutMs: TIMEOUT_MS },
    block: { token: 'a', lines: eventLines(events(40, 90)), timeoutMs: TIMEOUT_MS },
  };
}

/** Over two months and two customers, several in an hour, times going back. */
function events(from: number, to: number): TestEvent[] {
  return Array.from({ length: to - from }, (_, index) => {
    const at = from + index;
    return {
      id: `use_${at}`,
      customerId: `cus_${at % 2}`,
      value: `${at}.5`,
      uniqueValue: `=user ${at % 7}`,
      properties: { region: `eu ${at % 3}`, ...(at % 2 === 0 ? { plan: `${NUMBER_TAG}${at % 4}` } : {}) },
      occurredAtMs: TEST_NOW_MS - (at % 20) * 47 * HOUR_MS,
      createdAtMs: TEST_NOW_MS + at,
    };
  });
}

function isOfOctober({ occurredAtMs }: TestEvent): boolean {
  return new Date(occurredAtMs ?? 0).getUTCMonth() === 9;
}

/** Deletes and doubles as they are; each ends when it is done. */
async function spoil(warehouse: Warehouse, statements: string[]): Promise<void> {
  for (const statement of statements) {
    const sql = statement.startsWith('ALTER') ? `${statement} SETTINGS mutations_sync = 1` : statement;
    await query(warehouse, sql, 'load');
  }
}

function query<Row>(
  warehouse: Warehouse,
  sql: string,
  connection: Statement['connection'] = 'counters',
): Promise<Row[]> {
  return warehouse.query<Row>({ sql, connection, timeoutMs: TIMEOUT_MS });
}

/**
 * As a start does with damaged parts: their folders lie next to the others, under a name that gives the
 * reason.
 */
async function detachPart(warehouse: Warehouse, partition: string): Promise<void> {
  const [table] = await query<{ path: string }>(
    warehouse,
    `SELECT data_paths[1] AS path FROM system.tables WHERE database = 'metergate' AND name = 'events'`,
    'load',
  );
  if (!table) throw new Error('there is no table of events');
  await query(warehouse, `ALTER TABLE metergate.events DETACH PARTITION ID '${partition}'`, 'load');
  const detached = join(table.path, 'detached');
  const parts = readdirSync(detached).filter((name) => name.startsWith(partition));
  for (const name of parts) renameSync(join(detached, name), join(detached, `broken-on-start_${name}`));
}

type Sums = Record<'stored' | 'distinct' | 'total' | 'hourly' | 'hourlyTotal' | 'uniques', string>;

/** 0.5 + 1.5 + … + 89.5. */
const OF_90_EVENTS: Sums = {
  stored: '90',
  distinct: '90',
  total: '4050',
  hourly: '90',
  hourlyTotal: '4050',
  uniques: '7',
};

async function sums(warehouse: Warehouse): Promise<Sums> {
  const sql = `SELECT toString((SELECT count() FROM metergate.events)) AS stored,
                 toString((SELECT uniqExact(id) FROM metergate.events)) AS distinct,
                 toString((SELECT sum(value) FROM metergate.events FINAL)) AS total,
                 toString(sum(h.events)) AS hourly, toString(sum(h.total)) AS hourlyTotal,
                 toString(uniqExactMerge(h.uniques)) AS uniques
               FROM metergate.usage_hourly AS h`;
  const [row] = await query<Sums>(warehouse, sql);
  if (!row) throw new Error('an aggregate without a row');
  return row;
}

/** Hours that differ from their events, in sums or in states. */
function wrongHours(warehouse: Warehouse): Promise<unknown[]> {
  const sql = `
    SELECT * FROM (
      SELECT customer_id, toStartOfHour(occurred_at) AS hour, tuple(${HOURLY_VALUES.join(', ')}) AS expected
      FROM metergate.events FINAL GROUP BY customer_id, hour
    ) AS e FULL JOIN (
      SELECT customer_id, hour, tuple(${HOURLY_MERGED.join(', ')}) AS found
      FROM metergate.usage_hourly GROUP BY customer_id, hour
    ) AS h USING (customer_id, hour)
    WHERE e.expected != h.found`;
  return query(warehouse, sql);
}

async function tables(warehouse: Warehouse): Promise<string[]> {
  const sql = `SELECT name FROM system.tables
               WHERE database = 'metergate' AND engine != 'MaterializedView' ORDER BY name`;
  const found = await query<{ name: string }>(warehouse, sql);
  return found.map(({ name }) => name);
}
