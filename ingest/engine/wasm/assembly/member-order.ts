// The order of members by their names. Each is sorted as one word: three bytes of its name, the first of them
// highest, and which member it is. Names that are the same so far are sorted among themselves by the next
// three. So no order and no beginning of names is slow: a word's place is how many words are lower, counted
// without a branch, four at a time.

import {
  MEMBER_AT,
  MEMBER_BYTES,
  MEMBER_KEY_AT,
  MEMBER_KEY_BYTES,
  MEMBER_ORDER,
  MEMBER_WORDS,
  MEMBERS,
} from './places';

const WORD_BYTES: i32 = 4;
const PART_BYTES: i32 = 3;
const INDEX_BITS: i32 = 8;
const INDEX_MASK: i32 = 0xff;

/** Keeps where a member is written, and its name as it was sent. */
export function keepMember(index: i32, to: i32, keyAt: i32, keyBytes: i32): void {
  const member = MEMBERS + index * MEMBER_BYTES;
  store<i32>(member, to, MEMBER_AT);
  store<i32>(member, keyAt, MEMBER_KEY_AT);
  store<i32>(member, keyBytes, MEMBER_KEY_BYTES);
}

/** Keeps the word of a member that was just read. Returns whether its name comes behind that of the last. */
export function putInOrder(index: i32): bool {
  const own = keepWord(index);
  if (index == 0) return true;
  const last = load<i32>(MEMBER_WORDS + (index - 1) * WORD_BYTES);
  return partOf(last) == partOf(own) ? isBehind(index, index - 1) : last < own;
}

/** Keeps the word of a member. */
export function keepWord(index: i32): i32 {
  const own = wordOf(index, 0);
  store<i32>(MEMBER_WORDS + index * WORD_BYTES, own);
  return own;
}

/** Whether one name comes behind another that begins with the same part. */
function isBehind(index: i32, last: i32): bool {
  let own: i32;
  let other: i32;
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
  return !hasSame(count) || sortSame(0, count, PART_BYTES);
}

/** Whether any of these have the same part; what lies behind them may look so. */
function hasSame(count: i32): bool {
  const end = MEMBER_ORDER + count * WORD_BYTES;
  let same = i32x4.splat(0);
  for (let at = MEMBER_ORDER; at < end; at += 4 * WORD_BYTES) {
    const other = v128.xor(v128.load(at), v128.load(at, WORD_BYTES));
    same = v128.or(same, i32x4.eq(i32x4.shr_u(other, INDEX_BITS), i32x4.splat(0)));
  }
  return v128.any_true(same);
}

/** The one at this place of their order. */
export function memberAt(place: i32): i32 {
  return MEMBERS + indexAt(place) * MEMBER_BYTES;
}

function indexAt(place: i32): i32 {
  return load<i32>(MEMBER_ORDER + place * WORD_BYTES) & INDEX_MASK;
}

/** Puts each word that is between these two where it comes among them. */
function sortWords(from: i32, end: i32): void {
  const first = MEMBER_WORDS + from * WORD_BYTES;
  const behind = MEMBER_WORDS + end * WORD_BYTES;
  // Lower than none: eight are compared in a step, also where fewer are left.
  v128.store(behind, i32x4.splat(i32.MAX_VALUE));
  v128.store(behind, i32x4.splat(i32.MAX_VALUE), 16);
  for (let at = first; at < behind; at += WORD_BYTES) {
    const word = load<i32>(at);
    const own = i32x4.splat(word);
    let lower = i32x4.splat(0);
    for (let other = first; other < behind; other += 8 * WORD_BYTES) {
      lower = i32x4.sub(lower, i32x4.gt_s(own, v128.load(other)));
      lower = i32x4.sub(lower, i32x4.gt_s(own, v128.load(other, 16)));
    }
    lower = i32x4.add(lower, i32x4.shuffle(lower, lower, 2, 3, 0, 1));
    const place = from + i32x4.extract_lane(lower, 0) + i32x4.extract_lane(lower, 1);
    store<i32>(MEMBER_ORDER + place * WORD_BYTES, word);
  }
}

/** Of these places, those that are still the same, by what their names have from `depth` on. */
function sortSame(from: i32, end: i32, depth: i32): bool {
  while (from < end) {
    const part = partOf(load<i32>(MEMBER_ORDER + from * WORD_BYTES));
    let behind = from + 1;
    while (behind < end && partOf(load<i32>(MEMBER_ORDER + behind * WORD_BYTES)) == part) behind++;
    if (behind - from > 1) {
      let deeper = depth;
      for (let same = part; same >= 0; deeper += PART_BYTES) {
        if (isEnd(same)) return false;
        same = putWords(from, behind, deeper);
      }
      sortWords(from, behind);
      if (!sortSame(from, behind, deeper)) return false;
    }
    from = behind;
  }
  return true;
}

/** Puts the next words of those at these places. Returns the part of all of them, -1 where they differ. */
function putWords(from: i32, end: i32, depth: i32): i32 {
  const part = partOf(wordOf(indexAt(from), depth));
  let others = 0;
  for (let place = from; place < end; place++) {
    const word = wordOf(indexAt(place), depth);
    store<i32>(MEMBER_WORDS + place * WORD_BYTES, word);
    others |= partOf(word) ^ part;
  }
  return others == 0 ? part : -1;
}

/** Of a name from `depth` on, with zeros behind its end: no name holds one. ASCII, so never negative. */
function wordOf(index: i32, depth: i32): i32 {
  const member = MEMBERS + index * MEMBER_BYTES;
  const rest = load<i32>(member + MEMBER_KEY_BYTES) - depth;
  if (rest <= 0) return index;
  const word = bswap<u32>(load<u32>(load<i32>(member + MEMBER_KEY_AT) + depth));
  const unused = max(PART_BYTES + 1 - rest, 1) << 3;
  return (word & (u32.MAX_VALUE << unused)) | index;
}

function partOf(word: i32): i32 {
  return word >>> INDEX_BITS;
}

/** Whether names end in this part. */
function isEnd(part: i32): bool {
  return (part & 0xff) == 0;
}
