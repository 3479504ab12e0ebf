import { copyRecord, RECORD_WORDS } from '../../schemas/stored/record.ts';
/** Records are in blocks of this many: 160 KB. */
export const BLOCK_RECORDS = 4096;

const BLOCK_SHIFT = 12;
/**
 * Written blocks that are kept all the same, 40 MB or 1 M keys: a retry rarely comes later, and until then it
 * needs no read.
 */
const KEPT_BLOCKS = 256;

/**
 * The newest records: those that are not in the record file yet, and as many before them as fit. A record is
 * never dropped before it is written; the confirming side (see record-writer.ts) and admission bound how many
 * wait.
 */
export class RecentRecords {
  /** The number that the next record gets: how many there are. */
  next: number;
  /** The oldest record that is held here. */
  first: number;
  readonly #blocks: Uint32Array[] = [];
  /** Number of the oldest block held. */
  #firstBlock: number;

  constructor(next: number) {
    this.next = next;
    this.first = next;
    this.#firstBlock = next >>> BLOCK_SHIFT;
  }

  /** Copies the record at the word `at`; returns its number. */
  append(words: Uint32Array, at: number): number {
    const place = this.next >>> BLOCK_SHIFT;
    if (place - this.#firstBlock === this.#blocks.length)
      this.#blocks.push(new Uint32Array(BLOCK_RECORDS * RECORD_WORDS));
    const block = this.blockOf(this.next);
    const start = wordOf(this.next);
    copyRecord(words, at, block, start);
    return this.next++;
  }

  /** The block of a record from `first` on; {@link wordOf} gives the place in it. */
  blockOf(record: number): Uint32Array {
    return this.#blocks[(record >>> BLOCK_SHIFT) - this.#firstBlock] as Uint32Array;
  }

  /** Forgets this record and all newer ones. */
  cutAt(record: number): void {
    this.next = record;
  }

  /**
   * The bytes of records from `from` on, up to `to` or the end of the block. A view: it must be confirmed.
   */
  bytesOf(from: number, to: number): Uint8Array {
    const block = this.blockOf(from);
    const start = wordOf(from);
    const words = Math.min(BLOCK_RECORDS * RECORD_WORDS - start, (to - from) * RECORD_WORDS);
    return new Uint8Array(block.buffer, start * 4, words * 4);
  }

  /** Frees what is in the file, but for the newest. */
  releaseBefore(written: number): void {
    while (this.#blocks.length > KEPT_BLOCKS && (this.#firstBlock + 1) * BLOCK_RECORDS <= written) {
      this.#blocks.shift();
      this.#firstBlock++;
      this.first = Math.max(this.first, this.#firstBlock * BLOCK_RECORDS);
    }
  }
}

/** Where a record begins in its block. */
export function wordOf(record: number): number {
  return (record & (BLOCK_RECORDS - 1)) * RECORD_WORDS;
}
