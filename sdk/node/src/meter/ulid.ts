/** Crockford's base 32: without I, L, O and U. */
const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/** Ten bits each. */
const PAIRS = Array.from({ length: 1024 }, (_, at) => `${DIGITS[at >> 5]}${DIGITS[at & 31]}`);
const TIME_CHARS = 10;
const RANDOM_PAIRS = 8;
export const ULID_CHARS = TIME_CHARS + 2 * RANDOM_PAIRS;
/** Random bytes are drawn for 128 at a time: a draw for each would cost more than all the rest of it. */
const pool = new Uint16Array(128 * RANDOM_PAIRS);

let used = pool.length;
let timeMs = -1;
let timeText = '';

/** 26 characters: the milliseconds since 1970, then 80 random bits. Those of different times sort by time. */
export function ulid(nowMs: number): string {
  if (nowMs !== timeMs) {
    timeMs = nowMs;
    timeText = textOf(nowMs);
  }
  if (used === pool.length) {
    crypto.getRandomValues(pool);
    used = 0;
  }
  let text = timeText;
  for (const end = used + RANDOM_PAIRS; used < end; used++) text += PAIRS[(pool[used] ?? 0) & 1023];
  return text;
}

function textOf(milliseconds: number): string {
  let text = '';
  for (let left = milliseconds; text.length < TIME_CHARS; left = Math.floor(left / 32)) {
    text = `${DIGITS[left % 32]}${text}`;
  }
  return text;
}
