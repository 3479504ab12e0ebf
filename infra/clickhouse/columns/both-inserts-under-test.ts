import { deepStrictEqual, notDeepStrictEqual } from 'node:assert';
import { EVENT_COLUMNS } from '../../../schemas/stored/event-row.ts';
import { ORDER_OF_ARRIVAL } from '../../../schemas/stored/usage-hourly.ts';
import { HOURLY_MERGED, HOURLY_VALUES } from '../../../tests/support/hourly-values.ts';
import { wrongRowsByProperty } from '../../../tests/support/rows-by-property.ts';
import { SILENT } from '../../../tests/support/silent-log.ts';
import type { Warehouse } from '../../ports/warehouse.ts';
import { SETTINGS_BY_CONNECTION } from '../connection-settings.ts';
import { openChdbConnection } from '../embedded/chdb-connection.ts';
import { createChdbWarehouse } from '../embedded/chdb-warehouse.ts';

/** A warehouse that is filled from columns, and a connection on which ClickHouse reads the lines itself. */
export interface BothInserts {
  warehouse: Warehouse;
  /** Nothing but these lines, inserted as columns. */
  store(lines: Buffer): Promise<void>;
  /** Throws where events inserted as columns are not those inserted as JSON, or are not what rollups say. */
  compare(lines: Buffer): Promise<void>;
  rows<Row>(sql: string): Promise<Row[]>;
  close(): Promise<void>;
}

const TIMEOUT_MS = 30_000;
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

export async function openBothInserts(directory: string): Promise<BothInserts> {
  const warehouse = createChdbWarehouse({ directory, log: SILENT });
  await warehouse.migrate();
  const connection = openChdbConnection({ directory, settings: SETTINGS_BY_CONNECTION.load, log: SILENT });
  let tokens = 0;

  const rows = <Row>(sql: string) => warehouse.query<Row>({ sql, connection: 'long', timeoutMs: TIMEOUT_MS });

  async function empty(): Promise<void> {
    for (const table of ['events', 'usage_hourly', 'usage_by_property'])
      await rows(`TRUNCATE TABLE metergate.${table}`);
  }

  async function storeAsJson(lines: Buffer): Promise<void> {
    await empty();
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

  async function store(lines: Buffer): Promise<void> {
    await empty();
    await warehouse.insertEvents({ token: `columns ${++tokens}`, lines, timeoutMs: TIMEOUT_MS });
  }

  return {
    warehouse,
    store,
    rows,
    async compare(lines) {
      await storeAsJson(lines);
      const ofJson = await rows(ALL);
      await store(lines);
      deepStrictEqual(await rows(ALL), ofJson);
      notDeepStrictEqual(ofJson, []);
      deepStrictEqual(await rows(HOURS), await rows(HOURS_OF_EVENTS));
      deepStrictEqual(await wrongRowsByProperty(warehouse, 'metergate.events'), []);
    },
    async close() {
      await connection.close();
      await warehouse.close();
    },
  };
}
