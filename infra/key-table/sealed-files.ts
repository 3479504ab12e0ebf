import { Defect, Transient } from '../../schemas/failures.ts';
import { checked, type KeyMemory } from './key-memory.ts';
import {
  ENTRY_BYTES,
  type GroupPlace,
  groupOf,
  readIntoNow,
  recordIn,
  SEALED_HEADER_BYTES,
  type SealedFile,
} from './sealed-file.ts';

/**
 * New files are small, and become large ones (merge-files.ts). Each kind has an index of its own
 * (assembly/sealed-index.ts): the small one is quick to change, the large one has room for more.
 */
export const SMALL = 0;
export const LARGE = 1;
export type Kind = typeof SMALL | typeof LARGE;

/** Whose numbers fit into a byte. */
const FILES_MAX = 256;
/** Entries and buckets of one turn: a millisecond. */
const TURN_ENTRIES = 131_072;
const TURN_BUCKETS_MAX = 65_536;
const TURN_BUCKETS_MIN = 256;
const SLICE_BYTES = 20;

/** All sealed files, and in RAM which of them may have an id: 3.1 B per key. */
export class SealedFiles {
  readonly #memory: KeyMemory;
  /** Of each kind, by the numbers in its index. */
  readonly #files: [Array<SealedFile | undefined>, Array<SealedFile | undefined>] = [[], []];

  constructor(memory: KeyMemory) {
    this.#memory = memory;
  }

  of(kind: Kind): SealedFile[] {
    return this.#files[kind].filter((file) => file !== undefined);
  }

  /** Whether so many keys more have room, in so many files. */
  hasRoom(kind: Kind, keyCount: number, fileCount = 1): boolean {
    const hasNumbers = this.of(kind).length + fileCount <= FILES_MAX;
    return hasNumbers && this.#memory.wasm.makeRoom(kind, keyCount) !== 0;
  }

  /**
   * Adds files, in turns of a millisecond; they are searched when it is done. One addition or removal of a
   * kind at a time. Throws Transient `keys_full`.
   */
  *add(kind: Kind, files: SealedFile[]): Generator<void> {
    const { wasm, bucketBits } = this.#memory;
    const keyCount = files.reduce((sum, { shape }) => sum + shape.keyCount, 0);
    if (keyCount === 0) return;
    if (!this.hasRoom(kind, keyCount, files.length)) throw keysFull();
    const numbered = files.map((file) => ({ file, number: this.#take(kind, file) }));
    const buckets = turnBuckets(2 ** bucketBits, (wasm.keysIn(kind) >>> 0) + keyCount);
    wasm.beginAdding(kind, keyCount);
    for (let end = 2 ** bucketBits; end > 0; end -= buckets) {
      this.#addRange(kind, numbered, { first: end - buckets, end });
      yield;
    }
  }

  #take(kind: Kind, file: SealedFile): number {
    const files = this.#files[kind];
    const free = files.indexOf(undefined);
    const number = free < 0 ? files.length : free;
    files[number] = file;
    return number;
  }

  #addRange(
    kind: Kind,
    files: Array<{ file: SealedFile; number: number }>,
    { first, end }: { first: number; end: number },
  ): void {
    const { wasm } = this.#memory;
    const slices = checked(wasm.beginMill());
    const [scratch, scratchBytes] = [wasm.scratchAt() >>> 0, wasm.scratchBytes() >>> 0];
    const oldBytes = (wasm.entriesFrom(kind, first) >>> 0) * ENTRY_BYTES;
    if (oldBytes + (end - first) * 4 > scratchBytes) throw crowded();
    let at = slices + files.length * SLICE_BYTES;
    for (const [nth, { file, number }] of files.entries()) {
      at = this.#stageSlice(slices + nth * SLICE_BYTES, { at, file, number, first, end });
    }
    wasm.addRange(kind, first, slices, files.length, scratch);
  }

  /** Returns the place behind the slice. */
  #stageSlice(
    slice: number,
    of: { at: number; file: SealedFile; number: number; first: number; end: number },
  ): number {
    const { at, file, number, first, end } = of;
    const { lowBits } = file.shape;
    const starts = file.starts.subarray(first >> lowBits, (end >> lowBits) + 1);
    const [from = 0, to = 0] = [starts[0], starts.at(-1)];
    const entries = at + starts.length * 4;
    const length = (to - from) * ENTRY_BYTES;
    const { words, bytes, wasm } = this.#memory;
    if (entries + length > checked(wasm.beginMill()) + wasm.inputBytesMax()) throw crowded();
    words.set([number, lowBits, starts.length - 1, at, entries], slice / 4);
    words.set(starts, at / 4);
    readIntoNow(file, SEALED_HEADER_BYTES + from * ENTRY_BYTES, bytes.subarray(entries, entries + length));
    return Math.ceil((entries + length) / 4) * 4;
  }

  /** Searches files no more, in turns; they stay open. */
  *remove(kind: Kind, files: SealedFile[]): Generator<void> {
    const { wasm, bucketBits } = this.#memory;
    const numbers = files.map((file) => this.#files[kind].indexOf(file));
    const buckets = turnBuckets(2 ** bucketBits, wasm.keysIn(kind) >>> 0);
    wasm.beginRemoving(kind);
    for (let end = buckets; end <= 2 ** bucketBits; end += buckets) {
      this.#markLeaving(numbers);
      wasm.removeRange(kind, end, wasm.scratchAt(), wasm.scratchBytes());
      yield;
    }
    for (const number of numbers) this.#files[kind][number] = undefined;
  }

  /** In each turn: files may leave the other index in between, and there the numbers are of others. */
  #markLeaving(numbers: number[]): void {
    const { bytes, at } = this.#memory;
    // mutant: entries-of-another-file-removed
    bytes.fill(0, at.LEAVING, at.LEAVING + FILES_MAX);
    for (const number of numbers) bytes[at.LEAVING + number] = 1;
  }

  /**
   * The record of a staged item whose tag an index has, or undefined, in the groups that `read` gives. Throws
   * Fatal `record_file_damaged`, and what `read` throws.
   */
  find(item: number, read: (place: GroupPlace) => Buffer | undefined): Buffer | undefined {
    const { wasm, at } = this.#memory;
    const count = wasm.candidatesOf(item);
    const found = this.#memory.words.slice(at.CANDIDATES / 4, at.CANDIDATES / 4 + count);
    const idAt = at.STAGE + item * 40;
    const id = Buffer.from(this.#memory.bytes.subarray(idAt, idAt + 16));
    for (const candidate of found) {
      const file = this.#files[(candidate >> 8) as Kind][candidate & 255];
      if (!file) throw new Defect(`An index names file ${candidate}, which is not there.`);
      const group = read(groupOf(file, id.readUInt32LE(0)));
      const record = group && recordIn(file, group, id);
      if (record) return record;
    }
    return undefined;
  }

  async close(): Promise<void> {
    // One that moves is in both.
    for (const { file } of new Set([...this.of(SMALL), ...this.of(LARGE)])) await file.close();
  }
}

export function keysFull(): Transient {
  return new Transient(
    'keys_full',
    'There is no room for more idempotency keys: their files wait for a merge, or for space on the disk ' +
      'for one, or are as many as an installation may have (docs/operate/sizing.md).',
  );
}

function turnBuckets(buckets: number, entries: number): number {
  const share = 2 ** Math.floor(Math.log2((buckets * TURN_ENTRIES) / Math.max(1, entries)));
  return Math.min(buckets, TURN_BUCKETS_MAX, Math.max(TURN_BUCKETS_MIN, share));
}

function crowded(): Defect {
  return new Defect('The ids of the keys are no hashes: too many of them begin alike.');
}
