import { crc32 } from 'node:zlib';
import type { Pool } from 'pg';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { Transient } from '../../schemas/failures.ts';
import { encodeKeyTrailer, type KeyExportRequest } from '../../schemas/stored/key-export.ts';
import { RECORD_BYTES } from '../../schemas/stored/record.ts';
import { countAcknowledged } from '../store/acknowledged-events.ts';
import { type KeptLine, keptLinesAfter } from '../store/quarantine.ts';
import type { Queryable } from '../store/queryable.ts';
import { settledUpTo } from '../store/ranges.ts';
import { lineRecord } from './event-record.ts';
import { storedRecords } from './stored-records.ts';

export interface KeyExportDeps {
  pool: Pool;
  warehouse: Warehouse;
  /** Set where stored events are deleted by age: then the expected number of events is unknown. */
  eventsRetentionDays: number | undefined;
}

const PARTITION = 0;
const LINES_MAX = 1_000;

/**
 * Records of every event that was acknowledged before this position of the log, and of later ones, then the
 * trailer (schemas/stored/key-export.ts). What ClickHouse could not read was acknowledged, and is included.
 *
 * Throws Transient `log_not_settled` when not all before the position is stored.
 */
export async function* exportKeys(deps: KeyExportDeps, request: KeyExportRequest): AsyncGenerator<Buffer> {
  const place = { logId: request.logId, partition: PARTITION };
  const settled = await settledUpTo(deps.pool, place);
  if (settled < request.before) {
    throw new Transient(
      'log_not_settled',
      `The log is settled up to ${settled}, not up to ${request.before}.`,
    );
  }
  // Before they are read: what is stored meanwhile may be among them and is not expected.
  const acknowledged = await countAcknowledged(deps.pool);
  let [recordsCrc, recordCount] = [0, 0];
  for await (const records of recordsOf(deps)) {
    recordsCrc = crc32(records, recordsCrc);
    recordCount += records.length / RECORD_BYTES;
    yield records;
  }
  const countMin = deps.eventsRetentionDays === undefined ? Math.max(0, acknowledged) : 0;
  yield encodeKeyTrailer({ recordsCrc, recordCount, countMin });
}

async function* recordsOf({ pool, warehouse }: KeyExportDeps): AsyncGenerator<Buffer> {
  // mutant: keys-rebuilt-without-the-quarantine
  yield* quarantinedRecords(pool);
  // mutant: keys-rebuilt-without-the-warehouse
  yield* storedRecords(warehouse);
}

async function* quarantinedRecords(pool: Queryable): AsyncGenerator<Buffer> {
  let last: KeptLine | undefined;
  do {
    const lines: KeptLine[] = await keptLinesAfter(pool, last, LINES_MAX);
    last = lines.at(-1);
    if (last) yield Buffer.concat(lines.map(({ body }) => lineRecord(body)));
  } while (last);
}
