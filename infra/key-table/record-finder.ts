import { OUTCOME, type Outcome } from '../ports/idempotency-store.ts';
import { RECORD_WORDS, type RecentRecords, wordOf } from './recent-records.ts';
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

  /** Whether the record is of the id at `ids[at…at+3]`: all 128 bits. */
  isSame(record: number, ids: Uint32Array, at: number): boolean {
    const words = this.#wordsWith(record);
    const from = this.#placeOf(record);
    return (
      words[from] === ids[at] &&
      words[from + 1] === ids[at + 1] &&
      words[from + 2] === ids[at + 2] &&
      words[from + 3] === ids[at + 3]
    );
  }

  /** The outcome for a repeat of the record's key. A duplicate gets the times of the original. */
  recall(record: number, repeat: Uint32Array, at: number): Outcome {
    const words = this.#wordsWith(record);
    const from = this.#placeOf(record);
    if (words[from + 4] !== repeat[at + 4] || words[from + 5] !== repeat[at + 5]) return OUTCOME.reused;
    for (let word = 6; word < RECORD_WORDS; word++) repeat[at + word] = words[from + word] as number;
    return OUTCOME.duplicate;
  }

  #wordsWith(record: number): Uint32Array {
    if (record >= this.#recent.first) return this.#recent.blockOf(record);
    if (record !== this.#readNumber) {
      this.#readNumber = -1; // a read that fails leaves nothing that may be believed
      readRecordNow(this.#file, record, this.#read);
      this.#readNumber = record;
    }
    return this.#read;
  }

  #placeOf(record: number): number {
    return record >= this.#recent.first ? wordOf(record) : 0;
  }
}
