import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { DataDir } from '../../../infra/platform/data-dir.ts';
import { queryWarehouse } from './stored-sums.ts';

/* Damage to a data folder: each function returns the file or folder that the rejection has to name. */

export function segments({ log }: DataDir): string[] {
  return readdirSync(log)
    .filter((name) => name.endsWith('.seg'))
    .sort();
}

export function segment(paths: DataDir, at: number): string {
  return join(paths.log, segments(paths).at(at) ?? '');
}

export function without(paths: DataDir, ...lost: string[]): DataDir {
  for (const path of lost) rmSync(path, { recursive: true });
  return paths;
}

/** Found by the load, unless it was loaded before. */
export function damagedMiddle(paths: DataDir): string {
  const path = segment(paths, 1);
  const content = readFileSync(path);
  const middle = Math.floor(content.length / 2);
  writeFileSync(path, content.fill((content[middle] ?? 0) ^ 1, middle, middle + 1));
  return path;
}

export function shortSegment(paths: DataDir): string {
  const path = segment(paths, -1);
  truncateSync(path, readFileSync(path).length - 1);
  return path;
}

/** Put back alone, as it was once, and without the keys that rejected it. */
export function olderLog(paths: DataDir): string {
  const newer = segments(paths).slice(1);
  const lost = [...newer, 'durable-end'].map((name) => join(paths.log, name));
  return segment(without(paths, ...lost, paths.keys), 0);
}

export function foreignLog(paths: DataDir): string {
  logJson(paths, { identityCheck: '0'.repeat(32) });
  return paths.log;
}

export function logJson(paths: DataDir, change: object): string {
  const path = join(paths.log, 'log.json');
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), ...change }));
  return path;
}

/** A file of keys, also one of the release before. */
export function keyFile({ keys }: DataDir): string {
  const names = readdirSync(keys).filter((name) => name === 'records' || name.endsWith('.sealed'));
  return join(keys, names[0] ?? '');
}

export function truncatedKeys(paths: DataDir): string {
  const path = keyFile(paths);
  truncateSync(path, 100);
  return path;
}

/**
 * Turns a byte of the header of a file of keys (infra/key-table/sealed-file.ts), and makes its checksum true.
 */
export function header(paths: DataDir, at: number): string {
  const path = keyFile(paths);
  const content = readFileSync(path);
  content.writeUInt8((content.readUInt8(at) + 1) % 256, at);
  content.writeUInt32LE(crc32(content.subarray(0, 52)), 52);
  writeFileSync(path, content);
  return path;
}

/** As if a later release had been on these data: its migration is recorded, and nothing else is different. */
export async function makeWarehouseNewer(paths: DataDir): Promise<void> {
  // Which the first release did not have, and every later one does.
  const state = "state LowCardinality(String) DEFAULT 'applied'";
  await queryWarehouse(paths, `ALTER TABLE metergate.migrations ADD COLUMN IF NOT EXISTS ${state}`);
  await queryWarehouse(paths, 'INSERT INTO metergate.migrations (number) SELECT 9999');
}
