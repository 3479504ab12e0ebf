/**
 * Copies forward, eight bytes at a time: up to seven bytes behind the end are read and overwritten. The
 * engine's own bulk copy costs 20 ns a call, and these texts are short.
 */
export function put(from: i32, bytes: i32, to: i32): i32 {
  for (let done = 0; done < bytes; done += 8) store<u64>(to + done, load<u64>(from + done));
  return to + bytes;
}

export function putByte(byte: u8, to: i32): i32 {
  store<u8>(to, byte);
  return to + 1;
}

export function isSame(a: i32, b: i32, bytes: i32): bool {
  let at = 0;
  for (; at + 8 <= bytes; at += 8) if (load<u64>(a + at) != load<u64>(b + at)) return false;
  for (; at < bytes; at++) if (load<u8>(a + at) != load<u8>(b + at)) return false;
  return true;
}

/** Below 0 when a comes before b, byte by byte; 0 when they are the same. */
export function order(a: i32, aBytes: i32, b: i32, bBytes: i32): i32 {
  const bytes = min(aBytes, bBytes);
  for (let at = 0; at < bytes; at++) {
    const difference = <i32>load<u8>(a + at) - <i32>load<u8>(b + at);
    if (difference != 0) return difference;
  }
  return aBytes - bBytes;
}

/** Decimal digits of a number; returns where they end. */
export function putDecimal(value: u64, to: i32): i32 {
  let digits = 1;
  for (let rest = value / 10; rest > 0; rest /= 10) digits++;
  for (let at = to + digits - 1; at >= to; at--) {
    store<u8>(at, <u8>(48 + (value % 10)));
    value /= 10;
  }
  return to + digits;
}

/** A constant is in memory as UTF-16; these are all ASCII. */
export function putText(constant: string, to: i32): i32 {
  const from = <i32>changetype<usize>(constant);
  const length = constant.length;
  for (let at = 0; at < length; at++) store<u8>(to + at, load<u8>(from + (at << 1)));
  return to + length;
}
