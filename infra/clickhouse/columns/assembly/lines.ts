import { numberEnd, timeMs, whole } from './numbers';
import { LINES, ROW_CREATED, ROW_FINGERPRINT, ROW_ID, ROW_OCCURRED } from './places';
import { addRow, ID_BYTES, isSeparator, namesEnd, nextRow, putNames, readNames, readValues } from './rows';

let next: i32 = 0;

export function beginLines(): void {
  next = LINES;
}

/** Reads so many more lines. False when one has a form that is not read here. */
export function readLines(count: i32): bool {
  for (let line = 0; line < count; line++) {
    next = readLine(next, nextRow());
    if (next == 0) return false;
    addRow();
  }
  return true;
}

/** Gives where the next line begins; 0 when this one is not read here. */
function readLine(line: i32, row: i32): i32 {
  if (load<u16>(line) != 0x225b) return 0; // ["
  const names = readNames(line + 2);
  if (names < 0 || !isSeparator(namesEnd - 1)) return 0;
  putNames(row, names);
  let at = namesEnd + 2;
  if (!isId(at)) return 0;
  store<i32>(row + ROW_ID, at);
  at += ID_BYTES;
  if (!isSeparator(at)) return 0;
  store<u64>(row + ROW_FINGERPRINT, whole(at + 3));
  if (numberEnd == 0 || load<u16>(numberEnd) != 0x2c22) return 0; // ",
  at = readValues(numberEnd + 2, row);
  return at == 0 ? 0 : readTimes(at, row);
}

function isId(at: i32): bool {
  if (load<u32>(at) != 0x5f657375) return false; // use_
  return areBase32(v128.load(at + 4)) && areBase32(v128.load(at + 14));
}

function areBase32(bytes: v128): bool {
  const letters = i8x16.lt_u(i8x16.sub(bytes, i8x16.splat(97)), i8x16.splat(26));
  const figures = i8x16.lt_u(i8x16.sub(bytes, i8x16.splat(50)), i8x16.splat(6));
  return i8x16.all_true(v128.or(letters, figures));
}

function readTimes(comma: i32, row: i32): i32 {
  if (load<u8>(comma) != 44) return 0;
  store<i64>(row + ROW_OCCURRED, timeMs(comma + 1));
  if (numberEnd == 0 || load<u8>(numberEnd) != 44) return 0;
  store<i64>(row + ROW_CREATED, timeMs(numberEnd + 1));
  if (numberEnd == 0 || load<u16>(numberEnd) != 0x0a5d) return 0; // ] and a line feed
  return numberEnd + 2;
}
