import type { Logger } from 'pino';
import { Transient } from '../../schemas/failures.ts';
import { CHANGE_TABLES } from '../../schemas/stored/change-rollups.ts';
import type { EventBlock, Statement, Warehouse } from '../ports/warehouse.ts';
import { type LineTransport, withColumns } from './columns/with-columns.ts';
import { insertFailure, isUnreadable, readFailure } from './driver-errors.ts';
import { createEventInsert } from './insert-events.ts';
import { migrateWarehouse } from './migrate-warehouse.ts';
import { hasDetachedParts, repairBlock } from './repair-block.ts';
import { repairChange } from './repair-change.ts';
import type { Transport } from './transport.ts';

const ACCEPTS_TIMEOUT_MS = 30_000;

export interface WarehouseKind {
  cluster?: string | undefined;
  /** After each start an audit puts back what damaged parts held (aggregator/audit/repair-damage.ts). */
  damageIsRepaired?: boolean;
  log?: Pick<Logger, 'warn'>;
}

/** The port over either way of reaching ClickHouse, or a cluster: the parts that all share. */
export function createWarehouseOver(given: Transport, kind: WarehouseKind = {}): Warehouse {
  const transport = withColumns(given);
  const { cluster, damageIsRepaired = false, log } = kind;
  const insert = createEventInsert(transport, log);
  async function query<Row>(statement: Statement): Promise<Row[]> {
    try {
      return await transport.rows<Row>(statement);
    } catch (error) {
      throw readFailure(error);
    }
  }

  async function sendAgain(over: LineTransport, block: Block): Promise<void> {
    const { change } = block;
    const eventsMayBeLost = damageIsRepaired && (await hasDetachedParts(over, change && CHANGE_TABLES));
    // Damage to a part may also have destroyed the block's token. Hours would then count the block twice, and
    // be settled so: they look the same as hours whose events are lost. That none of its events is stored
    // proves nothing either: they may be the lost ones.
    // mutant: inserted-over-damage
    if (!eventsMayBeLost) await insertAgain(() => insert(over, block));
    if (change) await repairChange(over, { ...block, change, eventsMayBeLost });
    else await repairBlock(over, { ...block, eventsMayBeLost });
  }

  return {
    query,
    migrate: (options) => migrateWarehouse(transport, options, cluster),
    close: () => transport.close(),
    async insertEvents({ wasSent = false, mayWrite, ...block }) {
      try {
        // mutant: gate-lost-unnoticed
        if (wasSent) await sendAgain(mayWrite ? checking(transport, mayWrite) : transport, block);
        else await insert(transport, block);
      } catch (error) {
        throw insertFailure(error);
      }
    },
    async accepts(lines) {
      try {
        await transport.insert({ table: 'metergate.event_lines', lines, timeoutMs: ACCEPTS_TIMEOUT_MS });
        return true;
      } catch (error) {
        if (isUnreadable(error)) return false;
        throw insertFailure(error);
      }
    },
  };
}

/** Rows that ClickHouse then leaves out are found and put back by the repair. */
async function insertAgain(insert: () => Promise<void>): Promise<void> {
  try {
    await insert();
  } catch (error) {
    if (!(error instanceof Transient && error.code === 'rows_missing')) throw error;
  }
}

type Block = Omit<EventBlock, 'wasSent' | 'mayWrite'>;

/** The same, but it calls `mayWrite` before each statement that changes something. */
function checking(transport: LineTransport, mayWrite: () => Promise<void>): LineTransport {
  return {
    ...transport,
    async command(...given) {
      await mayWrite();
      await transport.command(...given);
    },
    async insert(block) {
      await mayWrite();
      await transport.insert(block);
    },
    async insertRows(rows) {
      await mayWrite();
      await transport.insertRows(rows);
    },
    async insertEvents(lines, rollups) {
      await mayWrite();
      return await transport.insertEvents(lines, rollups);
    },
    async insertMade(lines, tablesOf) {
      await mayWrite();
      return await transport.insertMade(lines, tablesOf);
    },
  };
}
