import type { Pool } from 'pg';
import { openKeyTable } from '../../infra/key-table/open-key-table.ts';
import { createUsageWriter, type SendBatch } from '../../infra/own-usage/usage-writer.ts';
import { systemClock } from '../../infra/ports/clock.ts';
import type { UsageWriter } from '../../infra/ports/usage-writer.ts';
import { createBeginUsage } from '../../ingest/begin-usage.ts';
import { createGroupCommit } from '../../ingest/embedded/group-commit.ts';
import { createStamps } from '../../ingest/engine/created-at.ts';
import { createWasmEngine } from '../../ingest/engine/wasm/wasm-engine.ts';
import { createIdentity } from '../../ingest/identity.ts';
import { createOwnBatches } from '../../ingest/own-usage/own-batches.ts';
import { createRegistry } from '../../ingest/registry.ts';
import type { LogAndWarehouse } from './log-and-warehouse.ts';
import { SILENT } from './silent-log.ts';
import { type AtEnd, folderUntil } from './test-folder.ts';

type Log = Pick<LogAndWarehouse, 'writer' | 'reader'>;

/**
 * Writes usage onto a log of tests by the product's engine and keys, with the names of that database. Opened
 * with the first write.
 */
export function ownUsageOf(log: Log, pool: Pool, atEnd: AtEnd): UsageWriter {
  const folder = folderUntil(atEnd);
  const closing: Array<() => unknown> = [];
  // Registered at once, the last first: folder, log and database are there until then.
  atEnd(async () => {
    for (const close of closing.reverse()) await close();
  });
  let opened: Promise<SendBatch> | undefined;
  return createUsageWriter(async (batch) => {
    opened ??= openBatches(log, { pool, folder, closing });
    return await (await opened)(batch);
  });
}

async function openBatches(
  { writer, reader }: Log,
  { pool, folder, closing }: { pool: Pool; folder: string; closing: Array<() => unknown> },
): Promise<SendBatch> {
  const identity = createIdentity(Buffer.alloc(32, 7));
  const store = await openKeyTable({
    directory: folder,
    // As the log of tests was made.
    identityCheck: Buffer.alloc(16),
    logReader: reader,
    log: SILENT,
    generationKeys: 16_384,
  });
  closing.push(() => store.close());
  const groupCommit = createGroupCommit({ log: writer, store, clock: systemClock });
  closing.push(() => groupCommit.drain());
  const engine = createWasmEngine({
    registry: createRegistry(pool, { entriesMax: 1_000, clock: systemClock }),
    store,
    ...createStamps(systemClock),
    limits: { ageMsMax: 400 * 86_400_000, aheadMsMax: 300_000 },
    identityOf: identity.keyOf,
  });
  const begin = createBeginUsage(engine, groupCommit);
  return createOwnBatches({ begin, isDiskLow: () => false, created: () => undefined });
}
