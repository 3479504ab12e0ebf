import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KeyTable } from '../../infra/key-table/key-table.ts';
import { type KeyTableOptions, openKeyTable } from '../../infra/key-table/open-key-table.ts';
import { openSegmentLogReader } from '../../infra/segment-log/reader.ts';
import { openSegmentLogWriter, type SegmentLogWriter } from '../../infra/segment-log/writer.ts';
import { SILENT } from './silent-log.ts';

export interface LogAndKeys {
  writer: SegmentLogWriter;
  keys: KeyTable;
  close(): Promise<void>;
}

interface Sizes extends Pick<KeyTableOptions, 'generationKeys' | 'sealedAfterMs'> {
  parent?: string;
}

/** Few, so that files come soon. */
const FEW_KEYS = 16_384;

/**
 * A log and a key table of the product in a folder of their own, within `parent`, which goes with them. Its
 * generations are small: figures need those of the product.
 */
export async function openLogAndKeys(
  identityCheck: Uint8Array,
  { parent = tmpdir(), generationKeys = FEW_KEYS, ...rest }: Sizes = {},
): Promise<LogAndKeys> {
  const folder = mkdtempSync(join(parent, 'metergate-test-'));
  const opening = { directory: join(folder, 'log'), identityCheck, log: SILENT };
  const writer = await openSegmentLogWriter(opening);
  const logReader = await openSegmentLogReader(opening);
  const sizes = { ...rest, directory: join(folder, 'keys'), generationKeys };
  const keys = await openKeyTable({ ...opening, ...sizes, logReader });
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
