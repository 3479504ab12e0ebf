import { expect, it } from 'vitest';
import type { ChangeRows } from '../../../schemas/stored/change-rows.ts';
import { differentProperties } from '../../../schemas/stored/usage-by-property.ts';
import { eventLines, TEST_NOW_MS, type TestEvent } from '../../../tests/support/event-line.ts';
import type { EventBlock, Statement, Warehouse } from '../warehouse.ts';

const TIMEOUT_MS = 60_000;
const HOUR_MS = 3_600_000;
const ADDED: ChangeRows = { number: 7, voids: false };
/** Of ordinary usage. */
const VOIDED: ChangeRows = { number: 7, voids: true };
const OF_ANOTHER: ChangeRows = { number: 9, voids: true, of: 7 };

/** Blocks of changes of usage: a backfill that replaces usage, and another change that voids some of it. */
export function changeTests(open: () => Promise<Warehouse>): void {
  it('is in no table of ordinary usage, and takes voided events away from its own hours', async () => {
    const warehouse = await open();
    await insertAll(warehouse);
    const ordinary = `SELECT (SELECT count() FROM metergate.events) AS stored,
                             (SELECT sum(events) FROM metergate.usage_hourly) AS hourly,
                             (SELECT sum(events) FROM metergate.usage_by_property
                               WHERE property = '') AS rows`;
    expect(await query(warehouse, ordinary)).toEqual([{ stored: '40', hourly: '40', rows: '40' }]);
    expect(await sums(warehouse)).toEqual(WHOLE);
    expect(await wrongRows(warehouse)).toEqual([]);
  });

  it('is counted once per token, whatever else has the same', async () => {
    const warehouse = await open();
    for (let time = 0; time < 2; time++) await insertAll(warehouse);
    const [first] = blocks();
    // Red where the tables of changes are those of ordinary usage.
    await warehouse.insertEvents({ ...first, token: 'added' } as EventBlock);
    expect(await sums(warehouse)).toEqual(WHOLE);
  });

  it.each<[string, string[]]>([
    [
      'a month of neither events nor voids',
      ['change_events', 'voided_events'].map(
        (table) => `ALTER TABLE metergate.${table} DELETE WHERE toMonth(occurred_at) = 10`,
      ),
    ],
    [
      'the hours twice and a property less',
      [
        `INSERT INTO metergate.change_hourly SETTINGS insert_deduplicate = 0
         SELECT * FROM metergate.change_hourly`,
        "ALTER TABLE metergate.change_by_property DELETE WHERE property = 'region'",
      ],
    ],
    [
      'nothing',
      ['change_events', 'voided_events', 'change_hourly', 'change_by_property'].map(
        (table) => `ALTER TABLE metergate.${table} DELETE WHERE true`,
      ),
    ],
  ])('of a killed insert that left %s is whole when all are sent again', async (_, faults) => {
    const warehouse = await open();
    await insertAll(warehouse);
    for (const sql of faults) {
      await query(warehouse, sql.startsWith('ALTER') ? `${sql} SETTINGS mutations_sync = 1` : sql, 'load');
    }
    const [, ...ofChanges] = blocks();
    for (const block of ofChanges) await warehouse.insertEvents({ ...block, wasSent: true });
    expect(await sums(warehouse)).toEqual(WHOLE);
    expect(await wrongRows(warehouse)).toEqual([]);
    const left = `SELECT name FROM system.tables WHERE database = 'metergate' AND engine = 'Memory'`;
    expect(await query(warehouse, left)).toEqual([]);
  });

  it('that only ClickHouse can read is counted once', async () => {
    const warehouse = await open();
    for (const block of blocks()) {
      const lines = Buffer.from(String(block.lines).replace(/,/g, ' , '));
      await warehouse.insertEvents({ ...block, lines });
    }
    expect(await sums(warehouse)).toEqual(WHOLE);
    expect(await wrongRows(warehouse)).toEqual([]);
  });
}

async function insertAll(warehouse: Warehouse): Promise<void> {
  for (const block of blocks()) await warehouse.insertEvents(block);
}

/** 40 ordinary events; 20 of a backfill that voids 10 of them; and 5 of the 20, voided by another change. */
function blocks(): EventBlock[] {
  const block = (token: string, some: TestEvent[], change?: ChangeRows): EventBlock => {
    const own = change ? { change } : {};
    return { token, lines: eventLines(some), timeoutMs: TIMEOUT_MS, ...own };
  };
  return [
    block('ordinary', events(0, 40)),
    block('added', events(40, 60), ADDED),
    block('voided', events(0, 10), VOIDED),
    block('of another', events(40, 45), OF_ANOTHER),
  ];
}

/** 40.5 + … + 59.5, less 0.5 + … + 9.5, and 40.5 + … + 44.5 by the other change. */
const WHOLE = [
  { change: '7', of: '0', total: '950', events: '10', rows: '10' },
  { change: '9', of: '7', total: '-212.5', events: '-5', rows: '-5' },
];

/** Over two months and two customers, several in an hour. */
function events(from: number, to: number): TestEvent[] {
  return Array.from({ length: to - from }, (_, index) => {
    const at = from + index;
    return {
      id: `use_${String(at).padStart(26, 'a')}`,
      customerId: `cus_${at % 2}`,
      value: `${at}.5`,
      uniqueValue: `=user ${at % 7}`,
      properties: { region: `eu ${at % 3}` },
      occurredAtMs: TEST_NOW_MS - (at % 20) * 47 * HOUR_MS,
      createdAtMs: TEST_NOW_MS + at,
    };
  });
}

function query<Row>(
  warehouse: Warehouse,
  sql: string,
  connection: Statement['connection'] = 'counters',
): Promise<Row[]> {
  return warehouse.query<Row>({ sql, connection, timeoutMs: TIMEOUT_MS });
}

function sums(warehouse: Warehouse): Promise<unknown[]> {
  return query(
    warehouse,
    `SELECT toString(change) AS change, toString(of_change) AS of, toString(sum(total)) AS total,
            toString(toInt64(sum(events))) AS events, toString(toInt64(sum(rows))) AS rows
       FROM (SELECT change, of_change, h.total AS total, h.events AS events, toUInt64(0) AS rows
               FROM metergate.change_hourly AS h
              UNION ALL
             SELECT change, of_change, 0 AS total, toUInt64(0) AS events, r.events AS rows
               FROM metergate.change_by_property AS r WHERE property = '')
      GROUP BY change, of_change ORDER BY change`,
  );
}

/** Hours of which a property differs from the events of the changes. */
function wrongRows(warehouse: Warehouse): Promise<unknown[]> {
  return query(
    warehouse,
    differentProperties({
      events: 'metergate.change_events FINAL WHERE true',
      voided: 'metergate.voided_events FINAL WHERE true',
      rows: 'metergate.change_by_property WHERE true',
    }),
  );
}
