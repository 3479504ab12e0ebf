/**
 * Copies forward, eight bytes at a time: up to seven bytes behind the end are read and overwritten. The
 * engine's own bulk copy costs 20 ns a call, and these texts are short.
 */
export function put(from: i32, bytes: i32, to: i32): i32 {
  for (let done = 0; done < bytes; done += 8) store<u64>(to + done, load<u64>(from + done));
  return to + bytes;
}

/** The same, 16 bytes at a time: up to 15 bytes behind the end are read and overwritten. */
export function putLong(from: i32, bytes: i32, to: i32): i32 {
  for (let done = 0; done < bytes; done += 16) v128.store(to + done, v128.load(from + done));
  return to + bytes;
}

export function putByte(byte: u8, to: i32): i32 {
  store<u8>(to, byte);
  return to + 1;
}

/** Up to 15 bytes behind either are read. */
export function isSame(a: i32, b: i32, bytes: i32): bool {
  for (; bytes > 0; a += 16, b += 16, bytes -= 16) {
    const equal = i8x16.bitmask(i8x16.eq(v128.load(a), v128.load(b)));
    if ((bytes < 16 ? equal | (-1 << bytes) : equal | (-1 << 16)) != -1) return false;
  }
  return true;
}

/** Decimal digits of a number; returns where they end. Up to seven bytes behind it are overwritten. */
export function putDecimal(value: u64, to: i32): i32 {
  if (value < EIGHT_DIGITS) return putHead(value, to);
  const head = value / EIGHT_DIGITS;
  const end = head < EIGHT_DIGITS ? putHead(head, to) : putMiddle(head, to);
  store<u64>(end, digits(value - head * EIGHT_DIGITS) | ZEROS);
  return end + 8;
}

const EIGHT_DIGITS: u64 = 100_000_000;
const ZEROS: u64 = 0x3030303030303030;

function putMiddle(value: u64, to: i32): i32 {
  const head = value / EIGHT_DIGITS;
  const end = putHead(head, to);
  store<u64>(end, digits(value - head * EIGHT_DIGITS) | ZEROS);
  return end + 8;
}

/** Up to eight digits, without zeros in front. */
function putHead(value: u64, to: i32): i32 {
  const all = digits(value);
  const zeros = min<i32>(<i32>ctz(all) >>> 3, 7);
  store<u64>(to, (all | ZEROS) >>> ((<u64>zeros) << 3));
  return to + 8 - zeros;
}

/**
 * Eight digits of a number below 10^8, the first one in the lowest byte: split in halves three times, all of
 * them at once in one word (P. Khuong, "How to print integers really fast").
 */
function digits(value: u64): u64 {
  const high = value / 10_000;
  const fours = high | ((value - high * 10_000) << 32);
  const hundreds = ((fours * 10_486) >>> 20) & 0x7f_0000_007f;
  const twos = hundreds | ((fours - hundreds * 100) << 16);
  const tens = ((twos * 103) >>> 10) & 0x000f_000f_000f_000f;
  return tens | ((twos - tens * 10) << 8);
}

/** A constant is in memory as UTF-16; these are all ASCII. Up to fifteen bytes behind it are overwritten. */
export function putText(constant: string, to: i32): i32 {
  const from = <i32>changetype<usize>(constant);
  for (let at = 0; at < constant.length; at += 16) {
    const wide = from + (at << 1);
    v128.store(to + at, i8x16.narrow_i16x8_u(v128.load(wide), v128.load(wide + 16)));
  }
  return to + constant.length;
}
