// AssemblyScript, compiled to ../siphash.wasm. SipHash-2-4 (Aumasson, Bernstein) with 64 and 128 bits of
// output, and the texts made of them: in wasm since 64-bit rounds cost 10 × as much in JavaScript numbers.

import { putDecimal } from './bytes';

// Two pages: [0, 64) keys, [64, 192) output, [256, 4096) constants, [4096, 131072) input.
export const KEYS: i32 = 0; //        32 B: key of the id, then key of the fingerprint
export const OUTPUT: i32 = 64; //     id (16 B), fingerprint (8 B), then at 96 the text
export const TEXT: i32 = 96;
export const INPUT: i32 = 4096;

/** 64 bits of output. */
export function siphash64(key: i32, at: i32, length: i32, out: i32): void {
  siphash(key, at, length, out, false);
}

/** 128 bits of output. */
export function siphash128(key: i32, at: i32, length: i32, out: i32): void {
  siphash(key, at, length, out, true);
}

/**
 * Up to seven bytes behind the input are read. The state is in locals of one function: globals are memory,
 * and cost several times as much. Each word of the message takes two rounds, then each half of the output
 * four. Those of a word are written out: a loop around them costs a twelfth of all.
 */
function siphash(key: i32, at: i32, length: i32, out: i32, isWide: bool): void {
  const k0 = load<u64>(key);
  const k1 = load<u64>(key + 8);
  let v0 = k0 ^ 0x736f6d6570736575;
  let v1 = k1 ^ 0x646f72616e646f6d ^ (isWide ? 0xee : 0);
  let v2 = k0 ^ 0x6c7967656e657261;
  let v3 = k1 ^ 0x7465646279746573;
  const last = at + (length & ~7);
  for (; at <= last; at += 8) {
    const word = at < last ? load<u64>(at) : lastWord(at, length);
    v3 ^= word;
    v0 += v1;
    v2 += v3;
    v1 = rotl<u64>(v1, 13) ^ v0;
    v3 = rotl<u64>(v3, 16) ^ v2;
    v0 = rotl<u64>(v0, 32) + v3;
    v2 += v1;
    v3 = rotl<u64>(v3, 21) ^ v0;
    v1 = rotl<u64>(v1, 17) ^ v2;
    v2 = rotl<u64>(v2, 32);
    v0 += v1;
    v2 += v3;
    v1 = rotl<u64>(v1, 13) ^ v0;
    v3 = rotl<u64>(v3, 16) ^ v2;
    v0 = rotl<u64>(v0, 32) + v3;
    v2 += v1;
    v3 = rotl<u64>(v3, 21) ^ v0;
    v1 = rotl<u64>(v1, 17) ^ v2;
    v2 = rotl<u64>(v2, 32);
    v0 ^= word;
  }
  v2 ^= isWide ? 0xee : 0xff;
  for (let output = out; ; output += 8) {
    for (let round = 0; round < 4; round++) {
      v0 += v1;
      v2 += v3;
      v1 = rotl<u64>(v1, 13) ^ v0;
      v3 = rotl<u64>(v3, 16) ^ v2;
      v0 = rotl<u64>(v0, 32) + v3;
      v2 += v1;
      v3 = rotl<u64>(v3, 21) ^ v0;
      v1 = rotl<u64>(v1, 17) ^ v2;
      v2 = rotl<u64>(v2, 32);
    }
    store<u64>(output, v0 ^ v1 ^ v2 ^ v3);
    if (!isWide || output != out) return;
    v1 ^= 0xdd;
  }
}

/** The bytes behind the whole words, and the length of all in the highest byte. */
function lastWord(at: i32, length: i32): u64 {
  const bits = <u64>((length & 7) << 3);
  return (load<u64>(at) & (((<u64>1) << bits) - 1)) | ((<u64>length) << 56);
}

/** Two digits for each number of ten bits. */
const DIGIT_PAIRS: i32 = <i32>memory.data(2048);
for (let pair = 0; pair < 1024; pair++) {
  store<u16>(DIGIT_PAIRS + (pair << 1), <u16>digit(pair >>> 5) | ((<u16>digit(pair & 31)) << 8));
}

function digit(value: u32): u8 {
  return <u8>(value < 26 ? value + 97 : value + 24);
}

/** Lower-case base32 of 16 bytes: 26 characters. Returns their end. */
export function base32(from: i32, to: i32): i32 {
  const high = bswap<u64>(load<u64>(from));
  const low = bswap<u64>(load<u64>(from + 8));
  putDigits(high >>> 54, to);
  putDigits(high >>> 44, to + 2);
  putDigits(high >>> 34, to + 4);
  putDigits(high >>> 24, to + 6);
  putDigits(high >>> 14, to + 8);
  putDigits(high >>> 4, to + 10);
  putDigits((high << 6) | (low >>> 58), to + 12);
  putDigits(low >>> 48, to + 14);
  putDigits(low >>> 38, to + 16);
  putDigits(low >>> 28, to + 18);
  putDigits(low >>> 18, to + 20);
  putDigits(low >>> 8, to + 22);
  putDigits(low << 2, to + 24);
  return to + 26;
}

/** Two digits, of the lowest ten bits. */
function putDigits(bits: u64, to: i32): void {
  store<u16>(to, load<u16>(DIGIT_PAIRS + ((<i32>(bits & 1023)) << 1)));
}

/**
 * Id and fingerprint of one event. The input holds the idempotency key, a zero byte, and the fingerprint's
 * text. Leaves both at OUTPUT, and at TEXT `use_<26>","<fingerprint in decimal>`. Returns the length of that.
 */
export function identify(bytes: i32): i32 {
  let keyBytes = 0;
  while (load<u8>(INPUT + keyBytes) != 0) keyBytes++;
  siphash128(KEYS, INPUT, keyBytes, OUTPUT);
  siphash64(KEYS + 16, INPUT + keyBytes + 1, bytes - keyBytes - 1, OUTPUT + 16);
  store<u32>(TEXT, 0x5f657375);
  base32(OUTPUT, TEXT + 4);
  store<u8>(TEXT + 30, 34);
  store<u8>(TEXT + 31, 44);
  store<u8>(TEXT + 32, 34);
  return putDecimal(load<u64>(OUTPUT + 16), TEXT + 33) - TEXT;
}
