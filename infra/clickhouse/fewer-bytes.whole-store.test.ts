import { copyFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { base32 } from '../../schemas/primitives/ids.ts';
import { eventLines, TEST_NOW_MS } from '../../tests/support/event-line.ts';
import { createRandom } from '../../tests/support/random.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { testFolder } from '../../tests/support/test-folder.ts';
import type { Warehouse } from '../ports/warehouse.ts';
import { createChdbWarehouse } from './embedded/chdb-warehouse.ts';

const SHIPPED = join('infra', 'migrations', 'clickhouse');
const EVENTS = 10_000;
const HOUR_MS = 3_600_000;
const BYTES_PER_EVENT_MAX = { before: 80, after: 54 };
/** Of the first events: where codecs had faults. */
const SPECIAL_VALUES = ['0', '-1', '-0.000000000001', `${'9'.repeat(26)}.999999999999`, '0'];

// Red without the codecs, and when they change what is stored or make ClickHouse forget a token.
it('events of the release before stay, keep their tokens, and take fewer bytes once merged', async () => {
  const warehouse = createChdbWarehouse({ directory: testFolder(), log: SILENT });
  onTestFinished(() => warehouse.close());
  await warehouse.migrate({ directory: migrationsBefore('0006') });
  const [earlier, later] = [eventsFrom(1), eventsFrom(2)];
  const insert = (token: string, lines: Buffer) =>
    warehouse.insertEvents({ token, lines, timeoutMs: 30_000 });
  await insert('earlier', earlier);
  const before = await stored(warehouse);
  expect(before.bytesPerEvent).toBeGreaterThan(BYTES_PER_EVENT_MAX.after);
  expect(before.bytesPerEvent).toBeLessThan(BYTES_PER_EVENT_MAX.before);

  await warehouse.migrate();
  await insert('earlier', earlier);
  expect(await stored(warehouse)).toEqual(before);
  await insert('later', later);
  const both = await stored(warehouse);
  expect(both).toMatchObject({ rows: 2 * EVENTS, counted: 2 * EVENTS });
  for (const table of ['events', 'usage_hourly']) {
    await rows(warehouse, `OPTIMIZE TABLE metergate.${table} FINAL`);
  }
  const merged = await stored(warehouse);
  expect({ ...merged, bytesPerEvent: both.bytesPerEvent }).toEqual(both);
  expect(merged.bytesPerEvent).toBeLessThan(BYTES_PER_EVENT_MAX.after);
});

function migrationsBefore(number: string): URL {
  const folder = testFolder();
  const names = readdirSync(SHIPPED).filter((name) => name.endsWith('.sql') && name < number);
  for (const name of names) copyFileSync(join(SHIPPED, name), join(folder, name));
  return pathToFileURL(`${folder}/`);
}

/** No two are alike: repeated content would be compressed to nothing. */
function eventsFrom(seed: number): Buffer {
  const random = createRandom(seed);
  const events = Array.from({ length: EVENTS }, (_, at) => ({
    id: `use_${base32(Buffer.from(Array.from({ length: 16 }, () => random.below(256))))}`,
    customerId: `cus_${random.below(30)}`,
    meterKey: `meter_${random.below(10)}`,
    value: SPECIAL_VALUES[at] ?? `${random.below(1_000)}.${random.below(100)}1`,
    properties: {
      cached: String(random.chance(0.5)),
      size: String(random.below(64)),
      user: `user-${at % 997}`,
    },
    occurredAtMs: TEST_NOW_MS - random.below(3 * HOUR_MS),
    createdAtMs: TEST_NOW_MS + Math.floor(at / 200),
  }));
  return eventLines(events);
}

interface Stored {
  rows: number;
  /** By the hours. */
  counted: number;
  /** Of all columns of all rows, in any order. */
  content: string;
  bytesPerEvent: number;
}

async function stored(warehouse: Warehouse): Promise<Stored> {
  const [found] = await rows<Record<keyof Stored, string>>(
    warehouse,
    `SELECT (SELECT count() FROM metergate.events FINAL) AS rows,
            (SELECT sum(events) FROM metergate.usage_hourly) AS counted,
            (SELECT sum(cityHash64(*, version)) FROM metergate.events FINAL) AS content,
            (SELECT sum(bytes_on_disk) FROM system.parts
             WHERE database = 'metergate' AND table = 'events' AND active) AS bytesPerEvent`,
  );
  const count = Number(found?.rows);
  return {
    rows: count,
    counted: Number(found?.counted),
    content: String(found?.content),
    bytesPerEvent: Math.round(Number(found?.bytesPerEvent) / count),
  };
}

function rows<Row>(warehouse: Warehouse, sql: string): Promise<Row[]> {
  return warehouse.query<Row>({ sql, connection: 'long', timeoutMs: 30_000 });
}
