import { RECORD_WORDS, wordsOf } from '../../schemas/stored/record.ts';
import type { RecentRecords } from './recent-records.ts';
import type { RecordFileEnd } from './record-file-end.ts';
import { NOT_FOUND, type SlotTable } from './slot-table.ts';

/** The keys as they are in RAM. */
export interface KnownKeys {
  slots: SlotTable;
  recent: RecentRecords;
}

/** Adds records (schemas/stored/record.ts) whose keys are not known; of two with one key the first stays. */
export function addRecords(records: Uint8Array, { slots, recent }: KnownKeys): void {
  const words = wordsOf(records);
  for (let at = 0; at < words.length; at += RECORD_WORDS) {
    if (slots.find(words, at) === NOT_FOUND) slots.insert(words, at, recent.append(words, at));
  }
}

/**
 * Adds what was on the log before its start, and promises nothing of it: a crash in the middle, or a source
 * that throws, leaves the checkpoint as it was before.
 */
export async function addEarlierRecords(
  earlier: AsyncIterable<Uint8Array>,
  keys: KnownKeys & { end: RecordFileEnd },
): Promise<void> {
  for await (const records of earlier) {
    addRecords(records, keys);
    await keys.end.writeUpTo(keys.recent.next);
  }
}
