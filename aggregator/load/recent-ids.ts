import { hasSameId, ID_WORDS, RECORD_WORDS } from '../../schemas/stored/record.ts';
import type { Block } from './block.ts';

/**
 * The recent ids, all 128 bits of each, to find an event that is on the log twice. There are two generations:
 * when the younger one is full, the older is forgotten. So at least `generationMax` ids are known, and at
 * most twice as many. It tracks up to which time it has forgotten.
 */
export interface RecentIds {
  /**
   * Numbers of the block's events that were seen before, in it or earlier, ascending. Keeps all of them.
   * `nowMs`: a later commit time comes from a clock that is ahead.
   */
  filter(block: Block, nowMs: number): number[];
  /**
   * Whether an event that was committed at this time may have a duplicate among the forgotten ids. Of two
   * records of one event, the second writer claimed the key after the first writer's lease ended; or, where
   * keys were lost, at most 5 s before the first one wrote. So the second record was not committed much
   * earlier than the first.
   */
  mayHaveForgotten(committedAtMs: number): boolean;
}

/** Those 5 s, and as much for ingest processes whose clocks differ. */
const EARLIER_MAX_MS = 10_000;

/** `forgottenMs`: events committed up to then were seen by earlier owners, and are not known here. */
export function createRecentIds(generationMax: number, forgottenMs = Number.NEGATIVE_INFINITY): RecentIds {
  let younger = createIdSet(generationMax);
  let older = createIdSet(generationMax);
  const copy = createWordCopy();
  let forgottenToMs = forgottenMs;

  /** False when it was there; it is known for longer then. `word` is the place of its first 32 bits. */
  function add(words: Uint32Array, word: number, committedAtMs: number): boolean {
    const wasThere = older.has(words, word);
    if (!younger.add(words, word, committedAtMs)) return false;
    if (younger.size() === generationMax) {
      forgottenToMs = Math.max(forgottenToMs, older.newestMs());
      const emptied = older;
      emptied.clear();
      older = younger;
      younger = emptied;
    }
    return !wasThere;
  }

  return {
    filter({ frames }, nowMs) {
      const seen: number[] = [];
      let number = 0;
      for (const { records, eventCount, committedAtMs } of frames) {
        const words = copy.of(records);
        for (const ids of [younger, older]) ids.fetch(words, eventCount);
        const atMs = Math.min(committedAtMs, nowMs);
        for (let event = 0; event < eventCount; event++, number++) {
          if (!add(words, event * RECORD_WORDS, atMs)) seen.push(number);
        }
      }
      return seen;
    },
    mayHaveForgotten: (committedAtMs) => committedAtMs <= forgottenToMs + EARLIER_MAX_MS,
  };
}

/** Records as words, in memory that is used again: they begin at any byte of a frame, words do not. */
function createWordCopy(): { of(records: Uint8Array): Uint32Array } {
  let words = new Uint32Array(0);
  return {
    of(records) {
      if (records.length > words.byteLength) words = new Uint32Array(Math.ceil(records.length / 4));
      new Uint8Array(words.buffer).set(records);
      return words;
    },
  };
}

interface IdSet {
  /**
   * Brings the slots of these records into the caches, and changes nothing: a core waits for many reads at
   * once where none decides what follows.
   */
  fetch(words: Uint32Array, records: number): void;
  has(words: Uint32Array, word: number): boolean;
  /** False when it was there. */
  add(words: Uint32Array, word: number, committedAtMs: number): boolean;
  size(): number;
  /** When the last of them was committed. */
  newestMs(): number;
  clear(): void;
}

/**
 * Open addressing, at most half full. A slot holds the number of an id, from 1 on, and above it bits of the
 * id, so that nearly every look at the ids themselves finds what it looks for: a million of them take 8 MB of
 * slots, which caches hold more of than of 32 MB of ids with as many gaps between them. Ids are a keyed hash,
 * so their words are as good as any other hash.
 */
function createIdSet(idsMax: number): IdSet {
  const slots = new Uint32Array(2 ** Math.ceil(Math.log2(idsMax * 2)));
  const slotMask = slots.length - 1;
  const ids = new Uint32Array(idsMax * ID_WORDS);
  const numberBits = 32 - Math.clz32(idsMax);
  const numberMask = 2 ** numberBits - 1;
  /** Nothing reads it; without it compilers omit the reads. */
  const fetched = new Uint32Array(1);
  let size = 0;
  let newestMs = Number.NEGATIVE_INFINITY;

  /** The slot of the id, or the empty one where it belongs. */
  function find(words: Uint32Array, word: number): number {
    const above = (words[word + 1] as number) << numberBits;
    for (let slot = (words[word] as number) & slotMask; ; slot = (slot + 1) & slotMask) {
      const held = slots[slot] as number;
      if (held === 0) return slot;
      if ((held ^ above) >>> numberBits !== 0) continue;
      if (hasSameId(ids, ((held & numberMask) - 1) * ID_WORDS, words, word)) return slot;
    }
  }

  return {
    fetch(words, records) {
      let found = 0;
      for (let record = 0; record < records; record++) {
        found ^= slots[(words[record * RECORD_WORDS] as number) & slotMask] as number;
      }
      fetched[0] = found;
    },
    size: () => size,
    newestMs: () => newestMs,
    has: (words, word) => slots[find(words, word)] !== 0,
    add(words, word, committedAtMs) {
      if (committedAtMs > newestMs) newestMs = committedAtMs;
      const slot = find(words, word);
      if (slots[slot] !== 0) return false;
      for (let part = 0; part < ID_WORDS; part++) ids[size * ID_WORDS + part] = words[word + part] as number;
      size += 1;
      slots[slot] = ((words[word + 1] as number) << numberBits) | size;
      return true;
    },
    clear() {
      slots.fill(0);
      size = 0;
      newestMs = Number.NEGATIVE_INFINITY;
    },
  };
}
