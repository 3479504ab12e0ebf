import { hasSameId, ID_WORDS, RECORD_WORDS, wordsOf } from '../../schemas/stored/record.ts';
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
        const words = wordsOf(records);
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

interface IdSet {
  has(words: Uint32Array, word: number): boolean;
  /** False when it was there. */
  add(words: Uint32Array, word: number, committedAtMs: number): boolean;
  size(): number;
  /** When the last of them was committed. */
  newestMs(): number;
  clear(): void;
}

/**
 * Open addressing, at most half full. Ids are a keyed hash, so their first word is as good as any other hash.
 * The id of 128 zero bits marks an empty slot and is never found: no client can produce it.
 */
function createIdSet(idsMax: number): IdSet {
  const slots = 2 ** Math.ceil(Math.log2(idsMax * 2));
  const table = new Uint32Array(slots * ID_WORDS);
  let size = 0;
  let newestMs = Number.NEGATIVE_INFINITY;

  /** The place of the id, or of the empty slot where it belongs. */
  function find(words: Uint32Array, word: number): number {
    let at = ((words[word] ?? 0) % slots) * ID_WORDS;
    while (!isEmpty(at) && !hasSameId(table, at, words, word)) at = (at + ID_WORDS) % table.length;
    return at;
  }

  function isEmpty(at: number): boolean {
    return table[at] === 0 && table[at + 1] === 0 && table[at + 2] === 0 && table[at + 3] === 0;
  }

  return {
    size: () => size,
    newestMs: () => newestMs,
    has: (words, word) => !isEmpty(find(words, word)),
    add(words, word, committedAtMs) {
      if (committedAtMs > newestMs) newestMs = committedAtMs;
      const at = find(words, word);
      if (!isEmpty(at)) return false;
      for (let part = 0; part < ID_WORDS; part++) table[at + part] = words[word + part] ?? 0;
      size += 1;
      return true;
    },
    clear() {
      table.fill(0);
      size = 0;
      newestMs = Number.NEGATIVE_INFINITY;
    },
  };
}
