import { crc32 } from 'node:zlib';
import { hasSameId, RECORD_WORDS } from '../../schemas/stored/record.ts';
import { type RecordFile, readRecordNow, recordsBetween } from './former-record-file.ts';
import { rejection } from './key-files.ts';
import type { FormerRecords } from './manifest.ts';
import { NOT_FOUND, SlotTable } from './slot-table.ts';

/**
 * The keys of the release before that are in no sealed file yet: a table in RAM over their record file, as
 * that release had it, so that the first start after an upgrade takes no longer than its own.
 */
export class FormerKeys {
  readonly file: RecordFile;
  /** What is left of them. */
  readonly count: number;
  readonly #slots: SlotTable;
  readonly #read = new Uint32Array(RECORD_WORDS);
  #readNumber = -1;

  private constructor(file: RecordFile, { recordCount, taken }: FormerRecords) {
    this.file = file;
    this.count = recordCount - taken;
    this.#slots = new SlotTable(this.count, (record, ids, at) =>
      hasSameId(this.#recordAt(record), 0, ids, at),
    );
  }

  /** Throws Fatal `record_file_damaged`. */
  static async load(file: RecordFile, former: FormerRecords): Promise<FormerKeys> {
    const keys = new FormerKeys(file, former);
    const { recordCount, taken, takenCrc, recordsCrc } = former;
    let crc = takenCrc;
    let record = taken;
    for await (const words of recordsBetween(file, taken, recordCount)) {
      crc = crc32(new Uint8Array(words.buffer, 0, words.byteLength), crc);
      for (let at = 0; at < words.length; at += RECORD_WORDS) keys.#slots.collect(words, at, record++);
    }
    if (crc !== recordsCrc) throw rejection('record_file_damaged', file.path, 'fails its checksum');
    keys.#slots.settle();
    return keys;
  }

  /** The record of the id at the word `at`, valid until the next call. Reads in this turn. Throws Fatal. */
  find(ids: Uint32Array, at: number): Uint8Array | undefined {
    const record = this.#slots.find(ids, at);
    if (record === NOT_FOUND) return undefined;
    return new Uint8Array(this.#recordAt(record).buffer);
  }

  #recordAt(record: number): Uint32Array {
    if (record !== this.#readNumber) {
      this.#readNumber = -1; // a read that fails leaves nothing that may be trusted
      readRecordNow(this.file, record, this.#read);
      this.#readNumber = record;
    }
    return this.#read;
  }
}
