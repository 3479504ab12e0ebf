// The wasm engine, compiled to ../wasm-engine.wasm: it reads, identifies and writes a request from its bytes,
// without an object per event. It takes only requests that cannot be read in two ways. The js engine takes
// everything else and is also the oracle: for a request that both take, both write the same bytes.

import * as cursor from './cursor';
import { beginItems, keyFromHeader, readItem } from './items';
import { forgetPairs } from './pairs';
import { BODY, ITEM_BYTES, ITEMS, ITEMS_MAX } from './places';

export { event } from './event';
export { identify, isTimely } from './identify';
export { lines } from './lines';
export { pairCount } from './pairs';
export {
  BODY,
  HEADER_KEY,
  ITEM_BYTES,
  ITEMS,
  KEYS,
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
} from './places';
export { response } from './response';

/** The result for a request that the js engine has to take. */
const NOT_OURS: i32 = -1;
const LINE_FEED: u8 = 10;
const EVENTS: u64 = 0x73746e657665; // events

/** `{"events":[…]}`. The body is at BODY with a zero byte behind it. Returns the count of its items. */
export function readBatch(bytes: i32, isStrict: bool): i32 {
  begin(true, isStrict);
  if (!cursor.take(123) || !cursor.readText() || cursor.textBytes != 6) return NOT_OURS;
  if ((load<u64>(cursor.textAt) & 0xffff_ffff_ffff) != EVENTS) return NOT_OURS;
  if (!cursor.take(58) || !cursor.take(91)) return NOT_OURS;
  let count = 0;
  do {
    if (count == ITEMS_MAX || !readItem(ITEMS + count * ITEM_BYTES)) return NOT_OURS;
    count++;
  } while (cursor.take(44));
  return cursor.take(93) && cursor.take(125) && cursor.at == BODY + bytes ? count : NOT_OURS;
}

/** One event: the whole body. Its key is at HEADER_KEY, or in the body, or the same in both. */
export function readSingle(bytes: i32, keyBytes: i32, isStrict: bool): i32 {
  begin(true, isStrict);
  cursor.skipSpace();
  const isOurs = (keyBytes == 0 || keyFromHeader(ITEMS, keyBytes)) && readItem(ITEMS, keyBytes);
  return isOurs && cursor.at == BODY + bytes ? 1 : NOT_OURS;
}

/** One item per line; blank lines are skipped. */
export function readLines(bytes: i32, isStrict: bool): i32 {
  begin(false, isStrict);
  let count = 0;
  cursor.skipSpace();
  while (cursor.at != BODY + bytes) {
    if (load<u8>(cursor.at) == LINE_FEED) cursor.pass();
    else if (count == ITEMS_MAX || !readItem(ITEMS + count++ * ITEM_BYTES) || !isAtEnd(bytes))
      return NOT_OURS;
    cursor.skipSpace();
  }
  return count > 0 ? count : NOT_OURS;
}

/** Of a line, or of the body. */
function isAtEnd(bytes: i32): bool {
  return cursor.at == BODY + bytes || load<u8>(cursor.at) == LINE_FEED;
}

function begin(feeds: bool, isStrict: bool): void {
  cursor.begin(BODY, feeds);
  forgetPairs();
  beginItems(isStrict);
}
