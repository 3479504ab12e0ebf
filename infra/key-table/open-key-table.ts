import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Logger } from 'pino';
import { Fatal } from '../../schemas/failures.ts';
import { decodeFrame } from '../../schemas/frame.ts';
import { syncDirectory } from '../durable-file.ts';
import type { EventLogReader } from '../ports/event-log.ts';
import { addEarlierRecords, addRecords, type KnownKeys } from './add-records.ts';
import { type Checkpoint, type CheckpointFile, NO_RECORDS, openCheckpointFile } from './checkpoint-file.ts';
import { createKeyTable, type KeyTable } from './key-table.ts';
import { loadRecords } from './load-records.ts';
import { RecentRecords } from './recent-records.ts';
import {
  checkRecordFile,
  offsetOf,
  openRecordFile,
  RECORD_HEADER_BYTES,
  type RecordFile,
  refusal,
  resetRecordFile,
} from './record-file.ts';
import { createRecordFileEnd, type RecordFileEnd } from './record-file-end.ts';
import { RecordFinder } from './record-finder.ts';
import { createRecordWriter, type RecordWriter } from './record-writer.ts';
import { SlotTable } from './slot-table.ts';

export interface KeyTableOptions {
  directory: string;
  /** 16 bytes that tell one identity key from another. */
  identityCheck: Uint8Array;
  /** The log whose view this is. Read up to its durable end while opening, never after. */
  logReader: EventLogReader;
  /**
   * Records of all that stood on the log before this position, for keys that the log alone does not give
   * back. What stands behind it may be among them. Throws, at its end at the latest, when something is
   * missing. Left out: then such keys are refused.
   */
  earlierRecords?: (before: number) => AsyncIterable<Uint8Array>;
  log: Logger;
}

const REPLAY_BYTES = 8 * 1024 * 1024;

/**
 * Opens the keys and brings them up to the log: the record file as far as its checkpoint holds, the log from
 * there on; everything from the log where there are no files; what the log no longer holds of that from
 * `earlierRecords`. What cannot be believed is refused with Fatal (`record_file_truncated`,
 * `record_file_damaged`, `record_file_newer`, `record_file_foreign`, `identity_key_mismatch`,
 * `log_behind_keys`, `keys_missing`), and nothing is changed then.
 */
export async function openKeyTable(options: KeyTableOptions): Promise<KeyTable> {
  const { directory, logReader, log } = options;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const files = await openFiles(directory);
  try {
    const known = await startOf(files, options);
    const recent = new RecentRecords(known.recordCount);
    const finder = new RecordFinder(recent, files.records);
    const slots = new SlotTable(known.recordCount, (record, ids, at) => finder.isSame(record, ids, at));
    await checkLogReaches(logReader, known);
    await loadRecords(files.records, known, slots);
    await files.records.file.truncate(offsetOf(known.recordCount));
    const end = createRecordFileEnd({ ...files, recent, from: known });
    await closeGap(known, options, { slots, recent, end });
    const writer = createRecordWriter({ end, path: files.records.path, log });
    await replayLog(logReader, end.covered().logPosition, { slots, recent, writer });
    return createKeyTable({ slots, recent, finder, writer, closeFiles: () => closeFiles(files) });
  } catch (error) {
    await closeFiles(files);
    throw error;
  }
}

interface KeyFiles {
  records: RecordFile;
  checkpoints: CheckpointFile;
  /** False when the record file was not there. */
  hadRecords: boolean;
}

async function openFiles(directory: string): Promise<KeyFiles> {
  const path = join(directory, 'records');
  const hadRecords = existsSync(path);
  const checkpoints = await openCheckpointFile(join(directory, 'checkpoint'));
  return { checkpoints, hadRecords, records: await openRecordFile(path) };
}

async function closeFiles({ records, checkpoints }: KeyFiles): Promise<void> {
  await records.file.close();
  await checkpoints.close();
}

/** The checkpoint to go on from. Where there is none the files are made anew, unless that could lose keys. */
async function startOf(
  files: KeyFiles,
  { identityCheck, logReader, log }: KeyTableOptions,
): Promise<Checkpoint> {
  const owner = { identityCheck, logId: logReader.logId };
  const { records, checkpoints, hadRecords } = files;
  const { latest } = checkpoints;
  if (latest && latest.recordCount > 0 && hadRecords) {
    await checkRecordFile(records, owner, latest.recordCount);
    return latest;
  }
  if (!latest) await checkNotForgotten(records, await logReader.start(0));
  if (latest || hadRecords) log.info({ path: records.path }, 'the keys are made anew');
  // In this order: a crash between the two leaves a checkpoint that promises nothing.
  await checkpoints.write(NO_RECORDS);
  await resetRecordFile(records, owner);
  syncDirectory(dirname(records.path));
  return NO_RECORDS;
}

/**
 * Once the log has given up its beginning these may be the only records left. No crash leaves any without a
 * checkpoint: the first one is durable before the first record is written.
 */
async function checkNotForgotten({ path, file }: RecordFile, logStart: number): Promise<void> {
  const { size } = await file.stat();
  if (logStart === 0 || size <= RECORD_HEADER_BYTES) return;
  throw refusal('record_file_damaged', path, 'has lost its checkpoint');
}

async function checkLogReaches(logReader: EventLogReader, from: Checkpoint): Promise<void> {
  const end = await logReader.durableEnd(0);
  if (end >= from.logPosition) return;
  throw new Fatal(
    'log_behind_keys',
    `The log ends at ${end}, the keys were made from it up to ${from.logPosition}: restore the log.`,
  );
}

/**
 * Where the log begins behind what the keys know, the rest comes from elsewhere: with a hole in them, events
 * would be counted again. Behind what `end` then covers the log tells everything.
 */
async function closeGap(
  known: Checkpoint,
  { logReader, earlierRecords, log }: KeyTableOptions,
  keys: KnownKeys & { end: RecordFileEnd },
): Promise<void> {
  const start = await logReader.start(0);
  if (known.logPosition >= start) return;
  if (!earlierRecords) {
    throw new Fatal('keys_missing', `The log begins at ${start}, behind what the keys were made from.`);
  }
  log.warn(
    { known: known.recordCount, start },
    'keys are missing that the log no longer holds: asking for them',
  );
  await addEarlierRecords(earlierRecords(start), keys, start);
  log.warn({ found: keys.recent.next - known.recordCount }, 'the missing keys are here');
}

interface Growing extends KnownKeys {
  writer: RecordWriter;
}

async function replayLog(logReader: EventLogReader, from: number, growing: Growing): Promise<void> {
  const { slots, recent, writer } = growing;
  for (let position = from; ; ) {
    const frames = await logReader.read(0, position, REPLAY_BYTES);
    for (const { bytes, next } of frames) {
      addRecords(decodeFrame(bytes).records, { slots, recent });
      await writer.advance(recent.next, next);
    }
    const last = frames.at(-1);
    if (!last) return;
    position = last.next;
  }
}
