// AssemblyScript, compiled to ../siphash.wasm. SipHash-2-4 (Aumasson, Bernstein) with 64 and 128 bits of
// output, and the texts made of them: in wasm since 64-bit rounds cost 10 × as much in JavaScript numbers.

import { putDecimal } from './bytes';

// Two pages: [0, 64) keys, [64, 192) output, [1024, 131072) input.
export const KEYS: i32 = 0; //        32 B: key of the id, then key of the fingerprint
export const OUTPUT: i32 = 64; //     id (16 B), fingerprint (8 B), then at 96 the text
export const TEXT: i32 = 96;
export const INPUT: i32 = 1024;
export const INPUT_BYTES_MAX: i32 = 130048;

let v0: u64 = 0;
let v1: u64 = 0;
let v2: u64 = 0;
let v3: u64 = 0;

function round(): void {
  v0 += v1;
  v1 = rotl<u64>(v1, 13);
  v1 ^= v0;
  v0 = rotl<u64>(v0, 32);
  v2 += v3;
  v3 = rotl<u64>(v3, 16);
  v3 ^= v2;
  v0 += v3;
  v3 = rotl<u64>(v3, 21);
  v3 ^= v0;
  v2 += v1;
  v1 = rotl<u64>(v1, 17);
  v1 ^= v2;
  v2 = rotl<u64>(v2, 32);
}

function absorb(key: i32, at: i32, length: i32): void {
  const k0 = load<u64>(key);
  const k1 = load<u64>(key + 8);
  v0 = k0 ^ 0x736f6d6570736575;
  v1 ^= k1 ^ 0x646f72616e646f6d;
  v2 = k0 ^ 0x6c7967656e657261;
  v3 = k1 ^ 0x7465646279746573;
  const whole = length & ~7;
  for (let offset = 0; offset < whole; offset += 8) {
    const word = load<u64>(at + offset);
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  }
  let last = (<u64>length) << 56;
  for (let offset = length - 1; offset >= whole; offset--) {
    last |= (<u64>load<u8>(at + offset)) << (<u64>((offset & 7) << 3));
  }
  v3 ^= last;
  round();
  round();
  v0 ^= last;
}

function finish(): u64 {
  round();
  round();
  round();
  round();
  return v0 ^ v1 ^ v2 ^ v3;
}

/** 64 bits of output. */
export function siphash64(key: i32, at: i32, length: i32, out: i32): void {
  v1 = 0;
  absorb(key, at, length);
  v2 ^= 0xff;
  store<u64>(out, finish());
}

/** 128 bits of output. */
export function siphash128(key: i32, at: i32, length: i32, out: i32): void {
  v1 = 0xee;
  absorb(key, at, length);
  v2 ^= 0xee;
  store<u64>(out, finish());
  v1 ^= 0xdd;
  store<u64>(out + 8, finish());
}

/** Lower-case base32 of 16 bytes: 26 characters. Returns their end. */
export function base32(from: i32, to: i32): i32 {
  let held: u32 = 0;
  let bits = 0;
  for (let index = 0; index < 16; index++) {
    held = (held << 8) | load<u8>(from + index);
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      store<u8>(to++, digit((held >>> bits) & 31));
    }
  }
  store<u8>(to, digit((held << (5 - bits)) & 31));
  return to + 1;
}

function digit(value: u32): u8 {
  return <u8>(value < 26 ? value + 97 : value + 24);
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
