// The order of members by their names. Each is sorted as one word: seven bytes of its name, the first of them
// highest, and which member it is. Names that are the same so far are sorted among themselves by the next
// seven. So no order and no beginning of names is slow: a word's place is how many words are lower, counted
// without a branch, two at a time.

import { MEMBER_BYTES, MEMBER_KEY_AT, MEMBER_KEY_BYTES, MEMBER_ORDER, MEMBER_WORDS, MEMBERS } from './places';

const WORD_BYTES: i32 = 8;
const PART_BYTES: i32 = 7;
const INDEX_BITS: u64 = 8;
const INDEX_MASK: u64 = 0xff;

/** Keeps the word of a member that was just read. Returns whether its name comes behind that of the last. */
export function putInOrder(index: i32): bool {
  const own = wordOf(index, 0);
  store<u64>(MEMBER_WORDS + index * WORD_BYTES, own);
  if (index == 0) return true;
  const last = load<u64>(MEMBER_WORDS + (index - 1) * WORD_BYTES);
  return partOf(last) == partOf(own) ? isBehind(index, index - 1) : last < own;
}

/** Whether one name comes behind another that begins with the same part. */
function isBehind(index: i32, last: i32): bool {
  let own: u64;
  let other: u64;
  let depth = 0;
  do {
    own = partOf(wordOf(index, depth));
    other = partOf(wordOf(last, depth));
    depth += PART_BYTES;
  } while (own == other && !isEnd(own));
  return other < own;
}

/** Sorts so many members. False when two have the same name: which of the two counts? */
export function sortMembers(count: i32): bool {
  sortWords(0, count);
  return sortSame(0, count, PART_BYTES);
}

/** The one at this place of their order. */
export function memberAt(place: i32): i32 {
  return MEMBERS + indexAt(place) * MEMBER_BYTES;
}

function indexAt(place: i32): i32 {
  return <i32>(load<u64>(MEMBER_ORDER + place * WORD_BYTES) & INDEX_MASK);
}

/** Puts each word that is between these two where it comes among them. */
function sortWords(from: i32, end: i32): void {
  const first = MEMBER_WORDS + from * WORD_BYTES;
  const behind = MEMBER_WORDS + end * WORD_BYTES;
  // Lower than none: four are compared in a step, also where fewer are left.
  v128.store(behind, i64x2.splat(i64.MAX_VALUE));
  store<u64>(behind, i64.MAX_VALUE, 16);
  for (let at = first; at < behind; at += WORD_BYTES) {
    const word = load<u64>(at);
    const own = i64x2.splat(word);
    let lower = i64x2.splat(0);
    for (let other = first; other < behind; other += 4 * WORD_BYTES) {
      lower = i64x2.sub(lower, i64x2.gt_s(own, v128.load(other)));
      lower = i64x2.sub(lower, i64x2.gt_s(own, v128.load(other, 16)));
    }
    const place = from + <i32>(i64x2.extract_lane(lower, 0) + i64x2.extract_lane(lower, 1));
    store<u64>(MEMBER_ORDER + place * WORD_BYTES, word);
  }
}

/** Of these places, those that are still the same, by what their names have from `depth` on. */
function sortSame(from: i32, end: i32, depth: i32): bool {
  while (from < end) {
    const part = partOf(load<u64>(MEMBER_ORDER + from * WORD_BYTES));
    let behind = from + 1;
    while (behind < end && partOf(load<u64>(MEMBER_ORDER + behind * WORD_BYTES)) == part) behind++;
    if (behind - from > 1) {
      if (isEnd(part)) return false;
      for (let place = from; place < behind; place++) {
        store<u64>(MEMBER_WORDS + place * WORD_BYTES, wordOf(indexAt(place), depth));
      }
      sortWords(from, behind);
      if (!sortSame(from, behind, depth + PART_BYTES)) return false;
    }
    from = behind;
  }
  return true;
}

/** Of a name from `depth` on, with zeros behind its end: no name holds one. ASCII, so never negative. */
function wordOf(index: i32, depth: i32): u64 {
  const member = MEMBERS + index * MEMBER_BYTES;
  const rest = load<i32>(member + MEMBER_KEY_BYTES) - depth;
  if (rest <= 0) return index;
  const word = bswap<u64>(load<u64>(load<i32>(member + MEMBER_KEY_AT) + depth));
  const unused = max(PART_BYTES + 1 - rest, 1) << 3;
  return (word & (u64.MAX_VALUE << (<u64>unused))) | index;
}

function partOf(word: u64): u64 {
  return word >>> INDEX_BITS;
}

/** Whether names end in this part. */
function isEnd(part: u64): bool {
  return (part & 0xff) == 0;
}
