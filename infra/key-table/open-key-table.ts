import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Logger } from 'pino';
import { Fatal } from '../../schemas/failures.ts';
import { decodeFrame } from '../../schemas/frame.ts';
import { syncDirectory } from '../durable-file.ts';
import type { EventLogReader } from '../ports/event-log.ts';
import { type Checkpoint, type CheckpointFile, NO_RECORDS, openCheckpointFile } from './checkpoint-file.ts';
import { createKeyTable, type KeyTable } from './key-table.ts';
import { loadRecords } from './load-records.ts';
import { RECORD_WORDS, RecentRecords } from './recent-records.ts';
import {
  checkRecordFile,
  offsetOf,
  openRecordFile,
  type RecordFile,
  type RecordOwner,
  resetRecordFile,
} from './record-file.ts';
import { RecordFinder } from './record-finder.ts';
import { createRecordWriter, type RecordWriter } from './record-writer.ts';
import { SlotTable } from './slot-table.ts';

export interface KeyTableOptions {
  directory: string;
  /** 16 bytes that tell one identity key from another. */
  identityCheck: Uint8Array;
  /** The log whose view this is. Read up to its durable end while opening, never after. */
  logReader: EventLogReader;
  log: Logger;
}

const REPLAY_BYTES = 8 * 1024 * 1024;

/**
 * Opens the keys and brings them up to the log: the record file as far as its checkpoint holds, the log from
 * there on; everything from the log where there are no files. What cannot be believed is refused with Fatal
 * (`record_file_truncated`, `record_file_damaged`, `record_file_newer`, `record_file_foreign`,
 * `identity_key_mismatch`, `log_behind_keys`), and nothing is changed then.
 */
export async function openKeyTable({
  directory,
  identityCheck,
  logReader,
  log,
}: KeyTableOptions): Promise<KeyTable> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const files = await openFiles(directory);
  try {
    const from = await startOf(files, { identityCheck, logId: logReader.logId }, log);
    const recent = new RecentRecords(from.recordCount);
    const finder = new RecordFinder(recent, files.records);
    const slots = new SlotTable(from.recordCount, (record, ids, at) => finder.isSame(record, ids, at));
    await checkLogReaches(logReader, from);
    await loadRecords(files.records, from, slots);
    await files.records.file.truncate(offsetOf(from.recordCount));
    const writer = createRecordWriter({ ...files, recent, from, log });
    await replayLog(logReader, from.logPosition, { slots, recent, writer });
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

/**
 * The checkpoint to go on from; where there is none, the files are made anew and the log tells everything.
 */
async function startOf(files: KeyFiles, owner: RecordOwner, log: Logger): Promise<Checkpoint> {
  const { records, checkpoints, hadRecords } = files;
  const { latest } = checkpoints;
  if (latest && latest.recordCount > 0 && hadRecords) {
    await checkRecordFile(records, owner, latest.recordCount);
    return latest;
  }
  if (latest || hadRecords) log.info({ path: records.path }, 'the keys are rebuilt from the log');
  // In this order: a crash between the two leaves a checkpoint that promises nothing.
  await checkpoints.write(NO_RECORDS);
  await resetRecordFile(records, owner);
  syncDirectory(dirname(records.path));
  return NO_RECORDS;
}

async function checkLogReaches(logReader: EventLogReader, from: Checkpoint): Promise<void> {
  const end = await logReader.durableEnd(0);
  if (end >= from.logPosition) return;
  throw new Fatal(
    'log_behind_keys',
    `The log ends at ${end}, the keys were made from it up to ${from.logPosition}: restore the log.`,
  );
}

interface Growing {
  slots: SlotTable;
  recent: RecentRecords;
  writer: RecordWriter;
}

async function replayLog(logReader: EventLogReader, from: number, growing: Growing): Promise<void> {
  const { slots, recent, writer } = growing;
  for (let position = from; ; ) {
    const frames = await logReader.read(0, position, REPLAY_BYTES);
    for (const { bytes, next } of frames) {
      const words = wordsOf(decodeFrame(bytes).records);
      for (let at = 0; at < words.length; at += RECORD_WORDS) {
        slots.insert(words, at, recent.append(words, at));
      }
      await writer.advance(recent.next, next);
    }
    const last = frames.at(-1);
    if (!last) return;
    position = last.next;
  }
}

/** A copy: records begin at any byte of a frame, words do not. */
function wordsOf(records: Buffer): Uint32Array {
  const words = new Uint32Array(records.length / 4);
  new Uint8Array(words.buffer).set(records);
  return words;
}
