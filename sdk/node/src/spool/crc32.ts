import * as zlib from 'node:zlib';

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/** Not in every Node.js 20, nor in other runtimes. */
const { crc32: ofZlib } = zlib as { crc32?: (bytes: Uint8Array) => number };

/** The CRC-32 of zip and gzip, of the bytes from `from` to `to`. */
export function crc32(bytes: Uint8Array, from: number, to: number): number {
  return ofZlib ? ofZlib(bytes.subarray(from, to)) : crc32ByTable(bytes, from, to);
}

/** The same, where zlib has none. */
export function crc32ByTable(bytes: Uint8Array, from: number, to: number): number {
  let crc = 0xffffffff;
  for (let at = from; at < to; at++) crc = (crc >>> 8) ^ (TABLE[(crc ^ (bytes[at] ?? 0)) & 0xff] ?? 0);
  return (crc ^ 0xffffffff) >>> 0;
}
