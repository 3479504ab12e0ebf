// The wasm engine, compiled to ../wasm-engine.wasm: it reads, identifies and writes a request from its bytes,
// without an object per event. It takes only requests that cannot be read in two ways. The js engine takes
// everything else and is also the oracle: for a request that both take, both write the same bytes.

import { beginItems, keyFromHeader, readItem } from './items';
import { forgetPairs } from './pairs';
import { BODY, ITEM_BYTES, ITEMS, ITEMS_MAX } from './places';
import { beginScan, readText, skipSpace, take } from './scanner';

export { event } from './event';
export { identify, isTimely } from './identify';
export { findKnown, forgetKnown, putKnown } from './known-pairs';
export { lines } from './lines';
export { pairCount } from './pairs';
export {
  BODY,
  HEADER_KEY,
  ITEM_BYTES,
  ITEMS,
  KEYS,
  NUMBERS,
  OUTCOMES,
  OUTPUT,
  PAIR_AT,
  PAIR_BYTES,
  PAIR_CREATED,
  PAIR_FROM,
  PAIR_TEXT,
  PAIR_TEXTS,
  PAIR_TEXTS_END,
  PAIR_TO,
  PAIRS,
  READ_ONLY,
  RECORDS,
  REUSED,
  TEXT_NUMBER,
} from './places';
export { response } from './response';

/** The result for a request that the js engine has to take. */
const NOT_OURS: i32 = -1;
const LINE_FEED: u8 = 10;
const EVENTS: u64 = 0x2273746e657665; // events"

/** `{"events":[…]}`. The body is at BODY with a zero byte behind it. Returns the count of its items. */
export function readBatch(bytes: i32, isStrict: bool): i32 {
  begin(true, isStrict);
  let at = take(BODY, 123);
  if (at == 0 || readText(at) != at + 7) return NOT_OURS;
  if ((load<u64>(at + 1) & 0xff_ffff_ffff_ffff) != EVENTS) return NOT_OURS;
  at = take(at + 8, 58);
  if (at == 0) return NOT_OURS;
  let count = 0;
  for (let next = take(at, 91); next != 0; next = take(at, 44)) {
    if (count == ITEMS_MAX) return NOT_OURS;
    at = readItem(next, ITEMS + count * ITEM_BYTES);
    if (at == 0) return NOT_OURS;
    count++;
  }
  at = count > 0 ? take(at, 93) : 0;
  return at != 0 && take(at, 125) == BODY + bytes ? count : NOT_OURS;
}

/** One event: the whole body. Its key is at HEADER_KEY, or in the body, or the same in both. */
export function readSingle(bytes: i32, keyBytes: i32, isStrict: bool): i32 {
  begin(true, isStrict);
  if (keyBytes > 0 && !keyFromHeader(ITEMS, keyBytes)) return NOT_OURS;
  return readItem(BODY, ITEMS, keyBytes) == BODY + bytes ? 1 : NOT_OURS;
}

/** One item per line; blank lines are skipped. */
export function readLines(bytes: i32, isStrict: bool): i32 {
  begin(false, isStrict);
  const end = BODY + bytes;
  let count = 0;
  for (let at = skipSpace(BODY); at != end; at = skipSpace(at)) {
    if (load<u8>(at) == LINE_FEED) {
      at++;
      continue;
    }
    if (count == ITEMS_MAX) return NOT_OURS;
    at = readItem(at, ITEMS + count++ * ITEM_BYTES);
    if (at == 0 || (at != end && load<u8>(at) != LINE_FEED)) return NOT_OURS;
  }
  return count > 0 ? count : NOT_OURS;
}

function begin(feeds: bool, isStrict: bool): void {
  beginScan(feeds);
  forgetPairs();
  beginItems(isStrict);
}
