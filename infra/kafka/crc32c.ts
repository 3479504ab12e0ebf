/** Of eight bytes at once: a row for each of them, 256 words a row. */
const TABLE = tableOf(0x82f63b78);

function tableOf(polynomial: number): Int32Array {
  const table = new Int32Array(8 * 256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ polynomial : crc >>> 1;
    table[byte] = crc;
  }
  for (let at = 256; at < table.length; at++) {
    const before = table[at - 256] ?? 0;
    table[at] = (before >>> 8) ^ (table[before & 255] ?? 0);
  }
  return table;
}

/**
 * The checksum of Kafka's record batches, of several pieces as if they were one. Eight bytes a step: five
 * times as fast as the byte by byte of kafkajs, which was most of what a produce cost.
 */
export function crc32c(pieces: readonly Uint8Array[]): number {
  let crc = -1;
  for (const piece of pieces) crc = goOn(crc, piece);
  return ~crc >>> 0;
}

function goOn(before: number, bytes: Uint8Array): number {
  let crc = before;
  let at = 0;
  for (const end = bytes.length - 7; at < end; at += 8) {
    const word = crc ^ wordAt(bytes, at);
    crc =
      row(7, word & 255) ^
      row(6, (word >>> 8) & 255) ^
      row(5, (word >>> 16) & 255) ^
      row(4, word >>> 24) ^
      row(3, bytes[at + 4] as number) ^
      row(2, bytes[at + 5] as number) ^
      row(1, bytes[at + 6] as number) ^
      row(0, bytes[at + 7] as number);
  }
  for (; at < bytes.length; at++) crc = (crc >>> 8) ^ row(0, (crc ^ (bytes[at] as number)) & 255);
  return crc;
}

function wordAt(bytes: Uint8Array, at: number): number {
  const low = (bytes[at] as number) | ((bytes[at + 1] as number) << 8);
  return low | ((bytes[at + 2] as number) << 16) | ((bytes[at + 3] as number) << 24);
}

function row(number: number, byte: number): number {
  return TABLE[number * 256 + byte] as number;
}
