import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { ChdbConnectionHandle, ChdbSession } from './chdb-connection.ts';
import { createWrittenParts } from './written-parts.ts';

/** Makes sure that what the engine reports as written is on disk. */
export interface DurableWrites {
  /** Rejects when it is not. */
  write(session: ChdbSession, work: (session: ChdbSession) => Promise<unknown>): Promise<void>;
  close(): void;
}

export interface DurableWritesOptions {
  directory: string;
  /** Of the writes. */
  connection: Pick<ChdbConnectionHandle, 'run'>;
  log: Logger;
  /** Only a new process sees what is on disk: this one has to end. */
  onFailure(cause: unknown): void;
  /** What a merge replaced stays on disk for 8 minutes, and a start uses it again. */
  lookEveryMs?: number;
}

const LOOK_EVERY_MS = 30_000;
const LOOK_TIMEOUT_MS = 10_000;

export function createDurableWrites(options: DurableWritesOptions): DurableWrites {
  const { directory, connection: load, log, onFailure, lookEveryMs = LOOK_EVERY_MS } = options;
  const parts = createWrittenParts();

  const measure = async ({ connection }: ChdbSession): Promise<void> => {
    const fault = await parts.faultOf(connection);
    if (fault === undefined) return;
    clearInterval(looking);
    const cause = new Error(fault);
    onFailure(cause);
    throw cause;
  };

  // No write follows a merge, nor an insert that outlived its time limit.
  const look = () => {
    const looked = load.run(LOOK_TIMEOUT_MS, measure);
    looked.catch((err: unknown) => log.warn({ err }, 'new parts of the warehouse were not measured'));
  };
  const looking = setInterval(look, lookEveryMs).unref();

  return {
    async write(session, work) {
      await parts.trustLoaded(session.connection);
      await work(session);
      await syncPartNames(directory, onFailure);
      // mutant: insert-not-measured
      await measure(session);
    },
    close: () => clearInterval(looking),
  };
}

/** What counters and breakdowns are made of. */
const TABLES = [
  ...['events', 'usage_hourly', 'usage_by_property', 'closed_properties'],
  ...['change_events', 'voided_events', 'change_hourly', 'change_by_property'],
];

/**
 * ClickHouse syncs a part's files and the part's own folder, by fdatasync, and then moves the part to its
 * name in the table's folder. It does not sync that folder: a power cut within seconds took parts of ranges
 * that were marked loaded. A sync that fails reports it once, and the next one succeeds without the lost
 * data: only a new process sees what is on disk.
 */
async function syncPartNames(directory: string, onFailure: (cause: unknown) => void): Promise<void> {
  for (const table of TABLES) {
    const path = join(directory, 'data', 'metergate', table);
    // Not there before the first migration.
    if (!existsSync(path)) continue;
    const folder = await open(path, 'r');
    try {
      // mutant: part-names-not-synced
      await folder.sync();
    } catch (error) {
      onFailure(error);
      throw error;
    } finally {
      await folder.close();
    }
  }
}
