import { crc32 } from 'node:zlib';
import { RECORD_WORDS } from '../../schemas/stored/record.ts';
import type { Checkpoint } from './checkpoint-file.ts';
import { offsetOf, type RecordFile, rejection } from './record-file.ts';
import type { SlotTable } from './slot-table.ts';

/** 4 MB at a time. */
const CHUNK_RECORDS = 100_000;

/** Fills the table from the file as far as the checkpoint covers it. Throws Fatal `record_file_damaged`. */
export async function loadRecords(
  from: RecordFile,
  { recordCount, recordsCrc }: Checkpoint,
  slots: SlotTable,
): Promise<void> {
  let crc = 0;
  let record = 0;
  for await (const words of chunksOf(from, recordCount)) {
    crc = crc32(new Uint8Array(words.buffer, 0, words.byteLength), crc);
    for (let at = 0; at < words.length; at += RECORD_WORDS) slots.collect(words, at, record++);
  }
  if (crc !== recordsCrc) throw rejection('record_file_damaged', from.path, 'fails its checksum');
  slots.settle();
}

/**
 * One chunk is read while the previous one is processed: each is valid until the next but one is requested.
 */
async function* chunksOf(from: RecordFile, recordCount: number): AsyncGenerator<Uint32Array> {
  const size = Math.min(CHUNK_RECORDS, recordCount) * RECORD_WORDS;
  const [first, second] = [new Uint32Array(size), new Uint32Array(size)];
  const read = (record: number, into: Uint32Array) =>
    readRecords(from, record, into.subarray(0, (recordCount - record) * RECORD_WORDS));
  let into = first;
  let reading = recordCount > 0 ? read(0, into) : undefined;
  for (let record = CHUNK_RECORDS; reading; record += CHUNK_RECORDS) {
    const words = await reading;
    into = into === first ? second : first;
    reading = record < recordCount ? read(record, into) : undefined;
    // A caller that stops early needs no more records, or fails already.
    reading?.catch(() => undefined);
    yield words;
  }
}

async function readRecords(
  { path, file }: RecordFile,
  first: number,
  words: Uint32Array,
): Promise<Uint32Array> {
  const bytes = new Uint8Array(words.buffer, 0, words.byteLength);
  for (let filled = 0; filled < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, offsetOf(first) + filled);
    if (bytesRead === 0) throw rejection('record_file_truncated', path, 'ends while it is read');
    filled += bytesRead;
  }
  return words;
}
