import { crc32 } from 'node:zlib';
import { RECORD_BYTES } from '../../schemas/frame.ts';
import type { Checkpoint } from './checkpoint-file.ts';
import { RECORD_WORDS } from './recent-records.ts';
import { offsetOf, type RecordFile, refusal } from './record-file.ts';
import type { SlotTable } from './slot-table.ts';

/** 4 MB at a time. */
const CHUNK_RECORDS = 100_000;

/** Fills the table from the file as far as the checkpoint covers it. Throws Fatal `record_file_damaged`. */
export async function loadRecords(
  { path, file }: RecordFile,
  { recordCount, recordsCrc }: Checkpoint,
  slots: SlotTable,
): Promise<void> {
  const words = new Uint32Array(Math.min(CHUNK_RECORDS, recordCount) * RECORD_WORDS);
  const bytes = new Uint8Array(words.buffer);
  let crc = 0;
  for (let record = 0; record < recordCount; ) {
    const length = Math.min(bytes.length, (recordCount - record) * RECORD_BYTES);
    for (let filled = 0; filled < length; ) {
      const { bytesRead } = await file.read(bytes, filled, length - filled, offsetOf(record) + filled);
      if (bytesRead === 0) throw refusal('record_file_truncated', path, 'ends while it is read');
      filled += bytesRead;
    }
    crc = crc32(bytes.subarray(0, length), crc);
    for (let at = 0; at < length / 4; at += RECORD_WORDS) slots.gather(words, at, record++);
  }
  if (crc !== recordsCrc) throw refusal('record_file_damaged', path, 'fails its checksum');
  slots.settle();
}
