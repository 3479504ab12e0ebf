import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { EVENTS_RETENTION_DAYS_MAX, keptMonthsFromMs } from '../../domain/rules/events-retention.ts';
import { eventLines } from '../../tests/support/event-line.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { testFolder } from '../../tests/support/test-folder.ts';
import type { Warehouse } from '../ports/warehouse.ts';
import { createChdbWarehouse } from './embedded/chdb-warehouse.ts';
import { setEventsRetention } from './events-retention.ts';

const DAYS = 432;
const DAY_MS = 86_400_000;
const WAIT = { timeout: 20_000, interval: 50 };

// Red when the two tables forget by different rules, or when the number of days is another.
it('events and hours are deleted together, by months, and nothing that is kept is touched', async () => {
  const warehouse = await openWarehouse();
  const keptFromMs = keptMonthsFromMs(Date.now(), DAYS);
  const kept = eventsOn([keptFromMs, keptFromMs + 1, Date.now() - DAY_MS, Date.now()]);
  const gone = eventsOn([keptFromMs - 1, keptFromMs - 20 * DAY_MS, keptFromMs - 400 * DAY_MS], 'gone');
  const block = { token: 'a', lines: eventLines([...kept, ...gone]), timeoutMs: 10_000 };
  await warehouse.insertEvents(block);
  expect(await counts(warehouse)).toEqual({ stored: 7, hourly: 7 });
  await setEventsRetention(warehouse, DAYS);
  await vi.waitFor(async () => expect(await counts(warehouse)).toEqual({ stored: 4, hourly: 4 }), WAIT);
  // The tokens are known still, of what is kept and of what is deleted.
  await warehouse.insertEvents(block);
  expect(await counts(warehouse)).toEqual({ stored: 4, hourly: 4 });
  expect(await ids(warehouse)).toEqual(kept.map(({ id }) => id));
});

// Red with 32 bits for the time at which a month is deleted: beyond 2106 it is a time of long ago. The last
// two are more than a configuration may set.
it.each([EVENTS_RETENTION_DAYS_MAX, 30_000, 36_500])('of %i days forgets nothing today', async (days) => {
  const warehouse = await openWarehouse();
  const events = eventsOn([Date.now() - 400 * DAY_MS, Date.now(), Date.now() + 365 * DAY_MS]);
  await warehouse.insertEvents({ token: 'a', lines: eventLines(events), timeoutMs: 10_000 });
  await setEventsRetention(warehouse, days);
  await mergeAll(warehouse);
  expect(await counts(warehouse)).toEqual({ stored: 3, hourly: 3 });
});

it('is set once, changed, and switched off again', async () => {
  const warehouse = await openWarehouse();
  const statements: string[] = [];
  const watched: Warehouse = {
    ...warehouse,
    query: (statement) => {
      if (statement.sql.startsWith('ALTER')) statements.push(statement.sql);
      return warehouse.query(statement);
    },
  };
  const alters = async (days: number | undefined) => {
    statements.length = 0;
    await setEventsRetention(watched, days);
    return statements.length;
  };
  expect([await alters(undefined), await alters(500), await alters(500)]).toEqual([0, 14, 0]);
  // As the release before set it, which counted in 32 bits.
  const former = 'ALTER TABLE metergate.events MODIFY TTL toDateTime(occurred_at) + INTERVAL 500 DAY';
  await warehouse.query({ sql: former, connection: 'load', timeoutMs: 10_000 });
  expect(await alters(500)).toBe(2);
  expect([await alters(600), await alters(undefined), await alters(undefined)]).toEqual([14, 7, 0]);
  const old = eventLines(eventsOn([Date.now() - 3_000 * DAY_MS]));
  await warehouse.insertEvents({ token: 'a', lines: old, timeoutMs: 10_000 });
  await mergeAll(warehouse);
  expect(await counts(warehouse)).toEqual({ stored: 1, hourly: 1 });
});

async function openWarehouse(): Promise<Warehouse> {
  const directory = join(testFolder(), 'warehouse');
  const warehouse = createChdbWarehouse({ directory, log: SILENT });
  onTestFinished(() => warehouse.close());
  await warehouse.migrate();
  return warehouse;
}

/** What is deleted by its age is deleted then. */
async function mergeAll(warehouse: Warehouse): Promise<void> {
  for (const table of ['events', 'usage_hourly', 'usage_by_property']) {
    const sql = `OPTIMIZE TABLE metergate.${table} FINAL`;
    await warehouse.query({ sql, connection: 'load', timeoutMs: 10_000 });
  }
}

function eventsOn(times: number[], name = 'kept') {
  return times.map((occurredAtMs, at) => ({ id: `use_${name}_${at}`, occurredAtMs }));
}

async function counts(warehouse: Warehouse): Promise<{ stored: number; hourly: number }> {
  const [row] = await warehouse.query<{ stored: string; hourly: string }>({
    sql: `SELECT (SELECT count() FROM metergate.events) AS stored,
                 (SELECT sum(events) FROM metergate.usage_hourly) AS hourly`,
    connection: 'counters',
    timeoutMs: 10_000,
  });
  return { stored: Number(row?.stored), hourly: Number(row?.hourly) };
}

async function ids(warehouse: Warehouse): Promise<string[]> {
  const sql = 'SELECT id FROM metergate.events ORDER BY occurred_at';
  const rows = await warehouse.query<{ id: string }>({ sql, connection: 'counters', timeoutMs: 10_000 });
  return rows.map(({ id }) => id);
}
