import { copyTimes, hasSameFingerprint, hasSameId, RECORD_WORDS } from '../../schemas/stored/record.ts';
import { OUTCOME, type Outcome } from '../ports/idempotency-store.ts';
import { type RecentRecords, wordOf } from './recent-records.ts';
import { type RecordFile, readRecordNow } from './record-file.ts';

/** Reads a record wherever it is: among the recent ones in RAM, else in the file. */
export class RecordFinder {
  readonly #recent: RecentRecords;
  readonly #file: RecordFile;
  /** The last one that was read, and its number. A record in the file never changes. */
  readonly #read = new Uint32Array(RECORD_WORDS);
  #readNumber = -1;

  constructor(recent: RecentRecords, file: RecordFile) {
    this.#recent = recent;
    this.#file = file;
  }

  /** Whether the record has the id at the word `at` of `ids`. */
  isSame(record: number, ids: Uint32Array, at: number): boolean {
    return hasSameId(this.#wordsWith(record), this.#placeOf(record), ids, at);
  }

  /** The outcome for a repeat of the record's key. A duplicate gets the times of the original. */
  recall(record: number, repeat: Uint32Array, at: number): Outcome {
    const words = this.#wordsWith(record);
    const from = this.#placeOf(record);
    if (!hasSameFingerprint(words, from, repeat, at)) return OUTCOME.reused;
    // mutant: replay-keeps-its-own-times
    copyTimes(words, from, repeat, at);
    return OUTCOME.duplicate;
  }

  #wordsWith(record: number): Uint32Array {
    if (record >= this.#recent.first) return this.#recent.blockOf(record);
    if (record !== this.#readNumber) {
      this.#readNumber = -1; // a read that fails leaves nothing that may be trusted
      readRecordNow(this.#file, record, this.#read);
      this.#readNumber = record;
    }
    return this.#read;
  }

  #placeOf(record: number): number {
    return record >= this.#recent.first ? wordOf(record) : 0;
  }
}
