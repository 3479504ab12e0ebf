import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import type { KeyTable } from '../../infra/key-table/key-table.ts';
import { openKeyTable } from '../../infra/key-table/open-key-table.ts';
import { openSegmentLogReader } from '../../infra/segment-log/reader.ts';
import { openSegmentLogWriter, type SegmentLogWriter } from '../../infra/segment-log/writer.ts';

export interface ScratchStores {
  writer: SegmentLogWriter;
  keys: KeyTable;
  close(): Promise<void>;
}

/** A log and a key table of the product in a folder of their own, which goes with them. */
export async function openScratchStores(identityCheck: Uint8Array): Promise<ScratchStores> {
  const folder = mkdtempSync(join(tmpdir(), 'metergate-bench-'));
  const log = pino({ level: 'silent' });
  const directory = join(folder, 'log');
  const writer = await openSegmentLogWriter({ directory, identityCheck, log });
  const logReader = await openSegmentLogReader({ directory });
  const keys = await openKeyTable({ directory: join(folder, 'keys'), identityCheck, logReader, log });
  return {
    writer,
    keys,
    async close() {
      await keys.close();
      await logReader.close();
      await writer.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
