import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { openBothInserts } from '../../../infra/clickhouse/columns/both-inserts-under-test.ts';
import { storableLines } from '../../../infra/clickhouse/columns/random-lines-under-test.ts';
import type { FaultOptions, FaultPromise, FaultRounds } from '../promise.ts';

/**
 * The long form of the fuzz of inserts: random blocks of events, each inserted as columns and as JSON that
 * ClickHouse reads, with every column, hour and row by property compared.
 */
export const columnsEqual: FaultPromise = {
  name: 'columns',
  // No row of the table.
  promises: [0],
  title: 'ten thousand random blocks store the same as columns and as JSON',
  rounds: { short: 1, long: 100 },
  open: compareInserts,
};

const BLOCKS_A_ROUND = 100;

async function compareInserts({ onEnd }: FaultOptions): Promise<FaultRounds> {
  const folder = mkdtempSync(join(tmpdir(), 'metergate-columns-'));
  onEnd(async ({ keep }) => {
    if (!keep) rmSync(folder, { recursive: true, force: true });
    return folder;
  });
  const both = await openBothInserts(folder);
  onEnd(() => both.close());
  return {
    async round({ seed }) {
      const property = fc.asyncProperty(storableLines, both.compare);
      // To find the smallest block that fails takes minutes.
      const found = await fc.check(property, { seed, numRuns: BLOCKS_A_ROUND, endOnFailure: true });
      const problems = found.failed ? [fc.defaultReportMessage(found) ?? 'the inserts differ'] : [];
      return { counts: { blocks: found.numRuns }, problems };
    },
  };
}
