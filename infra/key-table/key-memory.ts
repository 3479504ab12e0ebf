import { readFileSync } from 'node:fs';
import { Fatal } from '../../schemas/failures.ts';

/** The module of assembly/key-memory.ts. Numbers of 32 bits come signed: `>>> 0`. */
interface Exports {
  memory: { buffer: ArrayBuffer };
  begin(generationKeys: number, slotBits: number, bucketBits: number): void;
  beginGeneration(generation: number, base: number): number;
  search(kept: number, oldest: number, newest: number): void;
  countOf(generation: number): number;
  takeBack(generation: number, first: number): void;
  addAll(count: number): void;
  probe(count: number): number;
  candidatesOf(item: number): number;
  claim(count: number, confirmed: number): number;
  keysIn(index: number): number;
  makeRoom(index: number, added: number): number;
  beginAdding(index: number, added: number): void;
  addRange(index: number, first: number, slices: number, sliceCount: number, scratch: number): void;
  beginRemoving(index: number): void;
  removeRange(index: number, end: number, scratch: number, scratchBytes: number): void;
  entriesFrom(index: number, bucket: number): number;
  beginMill(): number;
  inputBytesMax(): number;
  scratchAt(): number;
  scratchBytes(): number;
  startsAt(): number;
  entriesAt(): number;
  packedAt(): number;
  collect(generation: number, from: number, to: number): number;
  isWide(generation: number): number;
  unpack(firstBucket: number, lowBits: number, groups: number, from: number, wide: number): number;
  group(firstBucket: number, lowBits: number, groups: number, wide: number): number;
}

type Place =
  | 'STAGE'
  | 'READ_ONLY'
  | 'OUTCOMES'
  | 'COLD'
  | 'FOUND'
  | 'FOUND_RECORDS'
  | 'CANDIDATES'
  | 'LEAVING';

/** Items that are judged, or records that are added, in one call. */
export const STAGE_RECORDS = 512;
/** The fewest and most buckets of the indexes, as powers of two, and of the lowest bits of one: a byte. */
const BUCKET_BITS = { min: 16, max: 21 };

let compiled: WebAssembly.Module | undefined;

/** The memory of a key table, and what it calls in it. */
export class KeyMemory {
  readonly wasm: Exports;
  readonly at: Readonly<Record<Place, number>>;
  readonly slotBits: number;
  readonly bucketBits: number;
  readonly generationKeys: number;
  #bytes: Buffer;
  #words: Uint32Array;

  /** `generationKeys` is a power of two, 128 at least. */
  constructor(generationKeys: number) {
    compiled ??= new WebAssembly.Module(readFileSync(new URL('./key-memory.wasm', import.meta.url)));
    const exports = new WebAssembly.Instance(compiled).exports as Record<Place, { value: number }>;
    this.wasm = exports as unknown as Exports;
    const places = Object.entries(exports).filter(([, one]) => typeof one.value === 'number');
    this.at = Object.fromEntries(places.map(([name, { value }]) => [name, value])) as Record<Place, number>;
    this.generationKeys = generationKeys;
    // A quarter of them is taken at most: then most searches end at the first slot.
    this.slotBits = Math.log2(generationKeys) + 2;
    this.bucketBits = Math.min(BUCKET_BITS.max, Math.max(BUCKET_BITS.min, this.slotBits + 1));
    this.wasm.begin(generationKeys, this.slotBits, this.bucketBits);
    this.#bytes = Buffer.from(this.wasm.memory.buffer);
    this.#words = new Uint32Array(this.wasm.memory.buffer);
  }

  /** Valid until the memory grows: within a turn, and until the next call that takes memory. */
  get bytes(): Buffer {
    this.#look();
    return this.#bytes;
  }

  get words(): Uint32Array {
    this.#look();
    return this.#words;
  }

  #look(): void {
    if (this.#words.buffer === this.wasm.memory.buffer) return;
    this.#bytes = Buffer.from(this.wasm.memory.buffer);
    this.#words = new Uint32Array(this.wasm.memory.buffer);
  }

  /** Begins with records of no file; its input is at the returned place. */
  beginMill(): number {
    return checked(this.wasm.beginMill());
  }
}

/** Throws Fatal `keys_out_of_memory` for 0. */
export function checked(place: number): number {
  if (place !== 0) return place >>> 0;
  throw new Fatal('keys_out_of_memory', 'The keys need more memory than this process may have.');
}
