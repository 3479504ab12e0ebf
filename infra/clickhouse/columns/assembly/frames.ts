import { namesCount } from './names';
import {
  IDS,
  IDS_BYTES,
  LINES,
  PAIR_NAMES,
  PAIRS_MAX,
  ROW_CREATED,
  ROW_FINGERPRINT,
  ROW_ID,
  ROW_OCCURRED,
} from './places';
import { addRow, namesEnd, nextRow, putNames, readNames, readValues, rowCount } from './rows';
import { putId } from './texts';

// A frame's header (schemas/stored/frame.ts).
const HEADER_BYTES: i32 = 64;
const FRAME_BYTES: i32 = 8;
const EVENT_COUNT: i32 = 16;
const TOUCHED_BYTES: i32 = 20;
const LINES_BYTES: i32 = 24;
const RECHECK_COUNT: i32 = 56;
const RECHECK_BYTES: u64 = 4;
// An event's record (schemas/stored/record.ts).
const RECORD_BYTES: i32 = 40;
const NUMBER_BYTES: i32 = 2;
const FINGERPRINT: i32 = 16;
const OCCURRED: i32 = 24;
const CREATED: i32 = 32;

const LINE_FEED: u8 = 10;
/** Of milliseconds: at most 15 digits. */
const TIME_END: f64 = 1e15;

/** Of the frame at hand: what the next event is made of, and how many are left. */
let line: i32 = 0;
let linesEnd: i32 = 0;
let record: i32 = 0;
let number: i32 = 0;
let eventsLeft: i32 = 0;
let pairCount: i32 = 0;
let nextFrame: i32 = 0;
let framesEnd: i32 = 0;

/** The frames lie one behind the other where lines are put. */
export function beginFrames(bytes: i32): void {
  nextFrame = LINES;
  framesEnd = LINES + bytes;
  eventsLeft = 0;
}

/** Reads so many more events. False when one has a form that is not read here. */
export function readEvents(count: i32): bool {
  for (let event = 0; event < count; event++) {
    while (eventsLeft == 0) if (nextFrame >= framesEnd || !beginFrame(nextFrame)) return false;
    if (!readEvent(nextRow())) return false;
    addRow();
    if (--eventsLeft == 0 && line != linesEnd) return false;
  }
  return true;
}

function beginFrame(frame: i32): bool {
  if (!isWhole(frame)) return false;
  nextFrame = frame + load<i32>(frame + FRAME_BYTES);
  eventsLeft = load<i32>(frame + EVENT_COUNT);
  line = frame + HEADER_BYTES;
  linesEnd = line + load<i32>(frame + LINES_BYTES);
  record = linesEnd;
  number = record + eventsLeft * RECORD_BYTES;
  return readTouched(nextFrame - load<i32>(frame + TOUCHED_BYTES));
}

/**
 * Whether its parts fill it, and it ends where the frames do at the latest. It was checked when it was read
 * from the log; memory that was overwritten since must not lead out of the frames, nor back into them.
 */
function isWhole(frame: i32): bool {
  const bytes = <u64>load<u32>(frame, FRAME_BYTES);
  const eventBytes = <u64>load<u32>(frame, EVENT_COUNT) * (RECORD_BYTES + NUMBER_BYTES);
  const recheckBytes = <u64>load<u32>(frame, RECHECK_COUNT) * RECHECK_BYTES;
  const textBytes = <u64>load<u32>(frame, LINES_BYTES) + <u64>load<u32>(frame, TOUCHED_BYTES);
  return HEADER_BYTES + textBytes + eventBytes + recheckBytes == bytes && bytes <= <u64>(framesEnd - frame);
}

/** `[["environment","customer","meter",from,to],…]`, up to the end of the frame. */
function readTouched(at: i32): bool {
  pairCount = 0;
  do {
    if ((load<u32>(at) & 0xffff00) != 0x225b00 || pairCount == PAIRS_MAX) return false; // ["
    const names = readNames(at + 3);
    if (names < 0 || namesCount > PAIRS_MAX) return false;
    store<i32>(PAIR_NAMES + pairCount++ * 4, names);
    at = namesEnd;
    while (isOfTimes(load<u8>(at))) at++;
    if (load<u8>(at++) != 93) return false;
  } while (load<u8>(at) == 44);
  return load<u8>(at) == 93 && at + 1 == nextFrame;
}

/** Comma, minus and digits. */
function isOfTimes(byte: u8): bool {
  return byte == 44 || byte == 45 || (byte >= 48 && byte <= 57);
}

function readEvent(row: i32): bool {
  const pair = <i32>load<u16>(number);
  if (pair >= pairCount) return false;
  putNames(row, load<i32>(PAIR_NAMES + pair * 4));
  const id = IDS + rowCount * IDS_BYTES;
  putId(record, id);
  store<i32>(row + ROW_ID, id);
  store<u64>(row + ROW_FINGERPRINT, load<u64>(record + FINGERPRINT));
  if (!putTime(load<f64>(record + OCCURRED), row + ROW_OCCURRED)) return false;
  if (!putTime(load<f64>(record + CREATED), row + ROW_CREATED)) return false;
  const end = readValues(line, row);
  if (end == 0 || load<u8>(end) != LINE_FEED) return false;
  line = end + 1;
  record += RECORD_BYTES;
  number += NUMBER_BYTES;
  return true;
}

/** Whole milliseconds, as a row's text has them. */
function putTime(ms: f64, to: i32): bool {
  if (!(abs(ms) < TIME_END)) return false;
  store<i64>(to, <i64>ms);
  return <f64>(<i64>ms) == ms;
}
