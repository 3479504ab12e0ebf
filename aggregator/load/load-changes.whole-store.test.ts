import { describe, expect, it, onTestFinished } from 'vitest';
import type { EventBlock } from '../../infra/ports/warehouse.ts';
import type { LoggedEvent } from '../../tests/support/load-frames.ts';
import { type LoadStores, openLoadStores } from '../../tests/support/load-stores.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { appendSettled, createEnd, type End, events, start } from '../aggregator-under-test.ts';
import { rebuildWarehouse } from '../rebuild-warehouse.ts';

/** Of 40 events: those of two changes, and voids of others. */
const [ADDED, VOIDED] = [
  { number: 7, voids: false },
  { number: 8, voids: true },
];

function changedEvents(): LoggedEvent[] {
  return events(0, 40).map((event, at) => {
    if (at % 4 === 1) return { ...event, change: ADDED };
    if (at % 4 === 2) return { ...event, change: VOIDED };
    return at % 4 === 3 ? { ...event, change: { ...VOIDED, of: 7 } } : event;
  });
}

/** Rows, their sum and what the hours say, of each table and change. */
async function stored({ rows }: LoadStores) {
  const of = (table: string, numbers: string) =>
    `SELECT '${table}' AS name, ${numbers} AS numbers, count() AS rows, uniqExact(id) AS ids,
            toString(sum(value)) AS total FROM metergate.${table} FINAL GROUP BY numbers`;
  const sql = [
    of('events', "''"),
    of('change_events', 'toString(change)'),
    of('voided_events', "concat(toString(change), ' ', toString(of_change))"),
    `SELECT 'hours' AS name, concat(toString(change), ' ', toString(of_change)) AS numbers,
            reinterpretAsInt64(sum(h.events)) AS rows, 0 AS ids, toString(sum(h.total)) AS total
       FROM metergate.change_hourly AS h GROUP BY numbers`,
  ].join(' UNION ALL ');
  const found = await rows<Record<'name' | 'numbers' | 'rows' | 'ids' | 'total', string>>(sql);
  return found.map((row) => `${row.name} ${row.numbers}: ${row.rows} ${row.ids} ${row.total}`).sort();
}

const EXPECTED = [
  'change_events 7: 10 10 192.5',
  'events : 10 10 182.5',
  'hours 7 0: 10 0 192.5',
  'hours 8 0: -10 0 -202.5',
  'hours 8 7: -10 0 -212.5',
  'voided_events 8 0: 10 10 202.5',
  'voided_events 8 7: 10 10 212.5',
];

type Insert = (block: EventBlock) => Promise<void>;

/** Where a process ends, of the pieces of its block. */
const points: Array<
  [point: string, (stores: LoadStores, end: End) => (block: EventBlock, at: number) => Promise<void>]
> = [
  ...[0, 1, 2, 3].flatMap((piece): typeof points => [
    [
      `before piece ${piece}`,
      ({ warehouse }, end) =>
        async (block, at) => {
          if (at === piece) await end.here();
          else await warehouse.insertEvents(block);
        },
    ],
    [
      `in piece ${piece}, with its token stored and its part missing`,
      ({ warehouse, rows }, end) =>
        async (block, at) => {
          await warehouse.insertEvents(block);
          if (at !== piece) return;
          const table = block.change?.voids ? 'voided_events' : block.change ? 'change_events' : 'events';
          await rows(`ALTER TABLE metergate.${table} DELETE WHERE true SETTINGS mutations_sync = 1`);
          await end.here();
        },
    ],
  ]),
  [
    'behind all pieces, before the mark',
    ({ warehouse }, end) =>
      async (block, at) => {
        await warehouse.insertEvents(block);
        if (at === 3) await end.here();
      },
  ],
];

describe('a process that ends while it loads changes', () => {
  it.each(points)('%s is followed by one that stores each of their records once', async (_, pointOf) => {
    const stores = await openLoadStores();
    await stores.append(changedEvents());
    const end = createEnd();
    const point = pointOf(stores, end);
    let inserts = 0;
    const insertEvents: Insert = (block) => point(block, inserts++);
    const first = start(stores, { warehouse: { ...stores.warehouse, insertEvents } });
    onTestFinished(end.release);
    await end.reached;
    start(stores);
    // An ordinary one: none of it is part of a change.
    await appendSettled(stores, [{ id: 'plain', value: '0' }]);
    const plain = EXPECTED.map((row) => row.replace('events : 10 10', 'events : 11 11'));
    expect(await stored(stores)).toEqual(plain);
    const closed = first.close();
    end.release();
    await closed;
    expect(await stored(stores)).toEqual(plain);
  });
});

// Red when records of a change are put back as ordinary usage.
it('a warehouse that is built again of the log has the records of changes as before', async () => {
  const stores = await openLoadStores();
  start(stores);
  await appendSettled(stores, changedEvents());
  expect(await stored(stores)).toEqual(EXPECTED);
  for (const table of ['events', 'change_events', 'voided_events', 'change_hourly', 'usage_hourly']) {
    await stores.rows(`ALTER TABLE metergate.${table} DELETE WHERE true SETTINGS mutations_sync = 1`);
  }
  for (let time = 0; time < 2; time++) {
    await rebuildWarehouse({ ...stores, log: SILENT });
    expect(await stored(stores)).toEqual(EXPECTED);
  }
});
