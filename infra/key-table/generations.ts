import { RECORD_BYTES, RECORD_WORDS } from '../../schemas/stored/record.ts';
import type { ClaimBatch } from '../ports/idempotency-store.ts';
import { checked, type KeyMemory, STAGE_RECORDS } from './key-memory.ts';

/** Keys that are not in a sealed file, or were not a short time ago. */
export interface Generation {
  number: number;
  /** Of its first record, among all. */
  first: number;
  /** Behind its last record; undefined while it still grows. */
  end: number | undefined;
  /** Where the log ends behind the last frame whose records are all here or before; undefined: none yet. */
  logPosition: number | undefined;
  isSealed: boolean;
}

/** Items of one turn: of a batch, so many from one on. */
export interface Piece {
  batch: ClaimBatch;
  from: number;
  count: number;
}

/** Finds the records of old items. Throws what a read throws. */
export interface FindOld {
  /** Of a staged item that a sealed file may have. */
  cold(item: number): Uint8Array | undefined;
  /** Of any item; undefined where there is nothing else to look at. */
  other?: ((piece: Piece, item: number) => Uint8Array | undefined) | undefined;
  /** Whether records are to be read before it can say: then nothing is judged. */
  isUnread?(): boolean;
}

/** How many the memory has places for: one grows, the others wait to be sealed, or are kept. */
const GENERATIONS_MAX = 4;
/** What the module says of a claim without room. */
const FULL = 2;

/** The newest keys, in up to four generations. Records are numbered through, in the order of their claims. */
export class Generations {
  readonly #memory: KeyMemory;
  #all: Generation[] = [];
  /** All before it are on the log. */
  #confirmed: number;

  constructor(memory: KeyMemory, recordCount: number) {
    this.#memory = memory;
    this.#confirmed = recordCount;
    this.#begin(0, recordCount);
  }

  /** The number that the next record gets: how many there are. */
  get next(): number {
    const newest = this.#newest();
    return newest.first + (this.#memory.wasm.countOf(newest.number) >>> 0);
  }

  get confirmed(): number {
    return this.#confirmed;
  }

  #newest(): Generation {
    return this.#all.at(-1) as Generation;
  }

  /**
   * Makes room for so many records, in a new generation where the newest lacks it. False while too many wait
   * to be sealed: then there may be room for fewer.
   */
  makeRoom(count: number): boolean {
    const newest = this.#newest();
    if (this.next + count - newest.first <= this.#memory.generationKeys) return true;
    return this.freeze();
  }

  /** Ends the newest generation, so that it can be sealed. False while too many wait for that. */
  freeze(): boolean {
    const newest = this.#newest();
    const oldest = this.#all[0] as Generation;
    const isTaken = newest.number - oldest.number + 1 === GENERATIONS_MAX;
    if (isTaken && !oldest.isSealed) return false;
    if (isTaken) this.#all.shift();
    newest.end = this.next;
    this.#begin(newest.number + 1, newest.end);
    return true;
  }

  #begin(number: number, first: number): void {
    checked(this.#memory.wasm.beginGeneration(number, first));
    this.#all.push({ number, first, end: undefined, logPosition: undefined, isSealed: false });
    this.#search();
  }

  #search(): void {
    const kept = this.#all[0] as Generation;
    const oldest = this.#all.find(({ isSealed }) => !isSealed) as Generation;
    this.#memory.wasm.search(kept.number, oldest.number, this.#newest().number);
  }

  /**
   * The records before this number are on the log, which ends at `logPosition` behind them; undefined within
   * a frame.
   */
  confirm(confirmed: number, logPosition?: number): void {
    this.#confirmed = confirmed;
    if (logPosition === undefined) return;
    for (const generation of this.#all) {
      if (!generation.isSealed && confirmed <= (generation.end ?? confirmed)) {
        generation.logPosition = logPosition;
      }
    }
  }

  /** The oldest one whose records are all on the log and in no file yet, once it grows no more. */
  sealable(): Generation | undefined {
    const oldest = this.#all.find(({ isSealed }) => !isSealed);
    return oldest?.end !== undefined && oldest.end <= this.#confirmed ? oldest : undefined;
  }

  /** Whether the newest has records. */
  isGrowing(): boolean {
    return this.next > this.#newest().first;
  }

  /**
   * A sealed file has its records, and is searched. As long as there is room they stay here as well: a retry
   * rarely comes later, and needs no read until then.
   */
  sealed(generation: Generation): void {
    generation.isSealed = true;
    this.#search();
  }

  /** Takes back this record and all newer ones, newest first: their numbers are given again. */
  takeBack(first: number): void {
    while (this.#newest().first > first) {
      this.#memory.wasm.takeBack(this.#newest().number, 0);
      this.#all.pop();
      this.#newest().end = undefined;
    }
    const { number, first: own } = this.#newest();
    this.#memory.wasm.takeBack(number, first - own);
    this.#search();
  }

  /**
   * Judges the items of a piece, at most as many as are staged at once. Old records are looked for before
   * anything is claimed. Returns whether an item waits for a commit; `full` when a new one had no room, and
   * the caller takes back what was claimed. Nothing is judged where `find` is to read first.
   */
  claim(piece: Piece, find: FindOld): boolean | 'full' {
    const { wasm, at } = this.#memory;
    const { batch, from, count } = piece;
    const { records, readOnly, outcomes } = batch;
    const staged = records.subarray(from * RECORD_WORDS, (from + count) * RECORD_WORDS);
    this.#memory.words.set(staged, at.STAGE / 4);
    this.#memory.bytes.set(readOnly.subarray(from, from + count), at.READ_ONLY);
    if (wasm.probe(count) > 0 || find.other) this.#findOld(piece, find);
    // Nothing of later pieces either: a repeat that is not read yet would need room, as a new key does.
    if (find.isUnread?.()) return false;
    const judged = wasm.claim(count, this.#confirmed);
    if (judged === FULL) return 'full';
    const { bytes, words } = this.#memory;
    // mutant: replay-keeps-its-own-times
    staged.set(words.subarray(at.STAGE / 4, at.STAGE / 4 + count * RECORD_WORDS));
    outcomes.set(bytes.subarray(at.OUTCOMES, at.OUTCOMES + count), from);
    return judged === 1;
  }

  #findOld(piece: Piece, find: FindOld): void {
    const { at } = this.#memory;
    for (let item = 0; item < piece.count; item++) {
      if (this.#memory.bytes[at.FOUND + item] === 1) continue;
      const isCold = this.#memory.bytes[at.COLD + item] === 1;
      const record = (isCold ? find.cold(item) : undefined) ?? find.other?.(piece, item);
      if (!record) continue;
      const { bytes } = this.#memory;
      bytes[at.COLD + item] = 1;
      bytes[at.FOUND + item] = 1;
      bytes.set(record, at.FOUND_RECORDS + item * RECORD_BYTES);
    }
  }
}

/** Items of a piece at most: a claim of more goes in pieces, since its stage has an end. */
export function pieceLength(memory: KeyMemory): number {
  return Math.min(STAGE_RECORDS, memory.generationKeys);
}

export function* piecesOf(batch: ClaimBatch, length: number): Generator<Piece> {
  for (let from = 0; from < batch.count; from += length) {
    yield { batch, from, count: Math.min(length, batch.count - from) };
  }
}
