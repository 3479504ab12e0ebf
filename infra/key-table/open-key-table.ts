import { existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { Fatal } from '../../schemas/failures.ts';
import { decodeFrame } from '../../schemas/stored/frame.ts';
import type { EventLogReader } from '../ports/event-log.ts';
import { addEarlierRecords, addRecords, type KnownKeys } from './add-records.ts';
import { type Checkpoint, type CheckpointFile, NO_RECORDS, openCheckpointFile } from './checkpoint-file.ts';
import { createKeyTable, type KeyTable } from './key-table.ts';
import { loadRecords } from './read-record-file.ts';
import { RecentRecords } from './recent-records.ts';
import {
  checkRecordFile,
  createRecordFile,
  offsetOf,
  openRecordFile,
  placeRecordFile,
  RECORD_HEADER_BYTES,
  type RecordFile,
  rejection,
  removeUnfinished,
  writeHeader,
} from './record-file.ts';
import { createRecordFileEnd, type RecordFileEnd } from './record-file-end.ts';
import { RecordFinder } from './record-finder.ts';
import { createRecordWriter, type RecordWriter } from './record-writer.ts';
import { SlotTable } from './slot-table.ts';

export interface KeyTableOptions {
  directory: string;
  /** 16 bytes that distinguish one identity key from another. */
  identityCheck: Uint8Array;
  /** The log whose view this is. Read up to its durable end while opening, never after. */
  logReader: EventLogReader;
  /**
   * Records of all events on the log before this position, for keys that the log alone does not give back.
   * Records behind it may be among them. Throws, at its end at the latest, when something is missing. Without
   * this function such keys are rejected.
   */
  earlierRecords?: (before: number) => AsyncIterable<Uint8Array>;
  log: Logger;
}

const REPLAY_BYTES = 8 * 1024 * 1024;

/**
 * Opens the keys and brings them up to the log: the record file as far as its checkpoint covers it, the log
 * from there on; everything from the log where there are no files; the part of it that the log no longer
 * holds from `earlierRecords`. Files that cannot be trusted are rejected with Fatal (`record_file_truncated`,
 * `record_file_damaged`, `record_file_newer`, `record_file_foreign`, `identity_key_mismatch`,
 * `log_behind_keys`, `keys_missing`), and nothing is changed then.
 */
export async function openKeyTable(options: KeyTableOptions): Promise<KeyTable> {
  const { directory, logReader, log } = options;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const files = await openFiles(options);
  try {
    const known = await startOf(files, options);
    const recent = new RecentRecords(known.recordCount);
    const finder = new RecordFinder(recent, files.records);
    const slots = new SlotTable(known.recordCount, (record, ids, at) => finder.isSame(record, ids, at));
    await checkLogReaches(logReader, known);
    await loadRecords(files.records, known, slots);
    await files.records.file.truncate(offsetOf(known.recordCount));
    const end = createRecordFileEnd({ ...files, recent, from: known });
    const logPosition = await closeGap(known, options, { slots, recent, end });
    await keepRecords(files, end, logPosition);
    const writer = createRecordWriter({ end, path: files.records.path, log });
    // mutant: keys-not-brought-up-to-the-log
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
  /** A new record file is begun next to the one that may exist. */
  isNew: boolean;
}

async function openFiles({ directory, logReader, log }: KeyTableOptions): Promise<KeyFiles> {
  const path = join(directory, 'records');
  const hadRecords = existsSync(path);
  const checkpoints = await openCheckpointFile(join(directory, 'checkpoint'));
  const { latest } = checkpoints;
  try {
    // mutant: table-rebuilt-from-the-log
    if (latest && latest.recordCount > 0 && hadRecords) {
      return { checkpoints, records: await openRecordFile(path), isNew: false };
    }
    if (!latest && hadRecords) checkNotForgotten(path, await logReader.start(0));
    if (latest || hadRecords) log.info({ path }, 'the keys are rebuilt');
    return { checkpoints, records: await createRecordFile(path), isNew: true };
  } catch (error) {
    await checkpoints.close();
    throw error;
  }
}

/**
 * Once the log has given up its beginning these may be the only records left. No crash leaves any without a
 * checkpoint: the first one is durable before records replace them.
 */
function checkNotForgotten(path: string, logStart: number): void {
  const { size } = statSync(path);
  if (logStart === 0 || size <= RECORD_HEADER_BYTES) return;
  throw rejection('record_file_damaged', path, 'has lost its checkpoint');
}

async function closeFiles({ records, checkpoints }: KeyFiles): Promise<void> {
  await records.file.close();
  await checkpoints.close();
}

/** The checkpoint to continue from. */
async function startOf(files: KeyFiles, { identityCheck, logReader }: KeyTableOptions): Promise<Checkpoint> {
  const owner = { identityCheck, logId: logReader.logId };
  const { records, checkpoints, isNew } = files;
  const { latest } = checkpoints;
  if (isNew || !latest) {
    await writeHeader(records, owner);
    return NO_RECORDS;
  }
  // mutant: record-file-unchecked
  await checkRecordFile(records, owner, latest.recordCount);
  removeUnfinished(records);
  return latest;
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
 * Where the log begins behind the end of the keys, the rest comes from elsewhere: with a gap in the keys,
 * events would be counted again. Returns the position behind which the log has everything.
 */
async function closeGap(
  known: Checkpoint,
  { logReader, earlierRecords, log }: KeyTableOptions,
  keys: KnownKeys & { end: RecordFileEnd },
): Promise<number> {
  const start = await logReader.start(0);
  // mutant: keys-of-what-is-left-of-the-log
  if (known.logPosition >= start) return known.logPosition;
  if (!earlierRecords) {
    throw new Fatal('keys_missing', `The log begins at ${start}, behind what the keys were made from.`);
  }
  log.warn(
    { known: known.recordCount, start },
    'keys are missing that the log no longer holds: requesting them',
  );
  await addEarlierRecords(earlierRecords(start), keys);
  log.warn({ found: keys.recent.next - known.recordCount }, 'the missing keys are here');
  return start;
}

/** From here on the old files count no more: until now they could still be put back as they were. */
async function keepRecords(
  { records, isNew }: KeyFiles,
  end: RecordFileEnd,
  logPosition: number,
): Promise<void> {
  const promise = () => end.checkpoint(logPosition);
  if (isNew) await placeRecordFile(records, promise);
  else if (logPosition > end.covered().logPosition) await promise();
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
