import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { DataDir } from '../../../infra/platform/data-dir.ts';
import { queryWarehouse } from './stored-sums.ts';

/* Damage to a data folder: each function returns the file or folder that the rejection has to name. */

/** What the data plane rejects at its start, and how it has to say so. */
export const HARMS: Array<[what: string, harm: (paths: DataDir) => string, says: RegExp]> = [
  [
    'a segment damaged in the middle, its keys lost',
    // Found when keys are rebuilt from the log.
    (paths) => damagedMiddle(without(paths, paths.keys)),
    /is damaged at byte \d+ .*checksum fails.*\. Restore it/,
  ],
  [
    'a log without one of its segments',
    (paths) => segment(without(paths, segment(paths, 1)), 0),
    /the next segment begins at \d+\. Restore it/,
  ],
  ['a log that lost acknowledged frames', shortSegment, /durable up to \d+\. Restore it from a backup/],
  // Red when only the folder itself is checked: what is acknowledged from then on would never be counted.
  ['a log older than the database', olderLog, /durable up to \d+\. .* no older than the database/],
  ['a log of a newer release', (paths) => logJson(paths, { version: 2 }), /written by a newer Metergate/],
  ['a log of another identity key', foreignLog, /written under another identity key/],
  [
    'segments without their log.json',
    (paths) => without(paths, join(paths.log, 'log.json')).log,
    /restore DATA_DIR/,
  ],
  // Red when a log is made where there is none: it would know no key of what was counted.
  ['a folder that lost its log', (paths) => without(paths, paths.log).log, /mount or restore DATA_DIR/],
  [
    'a folder that lost its log and its keys',
    (paths) => without(paths, paths.log, paths.keys).log,
    /mount or restore DATA_DIR/,
  ],
  ['a truncated record file', truncatedRecords, /has \d+ bytes where .* promises \d+\. Restore it, or move/],
  ['a record file of another identity key', (paths) => header(paths, 8), /under another identity key/],
  [
    'a record file of another log',
    (paths) => header(paths, 24),
    /another log\. Restore it, or move its folder/,
  ],
  ['a record file of a newer release', (paths) => header(paths, 4), /by a newer Metergate: start that one/],
];

export function segments({ log }: DataDir): string[] {
  return readdirSync(log)
    .filter((name) => name.endsWith('.seg'))
    .sort();
}

function segment(paths: DataDir, at: number): string {
  return join(paths.log, segments(paths).at(at) ?? '');
}

function without(paths: DataDir, ...lost: string[]): DataDir {
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

function shortSegment(paths: DataDir): string {
  const path = segment(paths, -1);
  truncateSync(path, readFileSync(path).length - 1);
  return path;
}

/** Put back alone, as it was once, and without the keys that rejected it. */
function olderLog(paths: DataDir): string {
  const newer = segments(paths).slice(1);
  const lost = [...newer, 'durable-end'].map((name) => join(paths.log, name));
  return segment(without(paths, ...lost, paths.keys), 0);
}

export function foreignLog(paths: DataDir): string {
  logJson(paths, { identityCheck: '0'.repeat(32) });
  return paths.log;
}

function logJson(paths: DataDir, change: object): string {
  const path = join(paths.log, 'log.json');
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), ...change }));
  return path;
}

export function truncatedRecords({ keys }: DataDir): string {
  const path = join(keys, 'records');
  truncateSync(path, 100);
  return path;
}

/** Turns a byte of the record file's header (infra/key-table/record-file.ts), and makes its checksum true. */
function header({ keys }: DataDir, at: number): string {
  const path = join(keys, 'records');
  const content = readFileSync(path);
  content.writeUInt8((content.readUInt8(at) + 1) % 256, at);
  content.writeUInt32LE(crc32(content.subarray(0, 44)), 44);
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
