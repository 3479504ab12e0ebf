import { crc32c } from './crc32c.ts';

export interface RecordContent {
  /** Pieces of its value, one after the other. */
  value: readonly Uint8Array[];
  headers: Record<string, string>;
  timestampMs: number;
}

/** Of a batch, before its records: offset, length, epoch, magic, checksum; then what the checksum covers. */
const HEAD_BYTES = 61;
const LENGTH_FROM = 12;
const CRC_AT = 17;
const CRC_FROM = 21;
const MAGIC = 2;
const NO_PRODUCER = -1n;
/** A number of 32 bits takes five of seven at most. */
const VARINT_BYTES_MAX = 5;

/** A batch of one record, version 2, not compressed, in pieces: the value is not copied. */
export function recordBatchOf({ value, headers, timestampMs }: RecordContent): Uint8Array[] {
  const valueBytes = bytesOf(value);
  const tail = Buffer.concat([
    varint(Object.keys(headers).length),
    ...Object.entries(headers).flatMap(headerOf),
  ]);
  // No attributes, no distance in time or number from the batch, no key.
  const start = Buffer.concat([Buffer.from([0, 0, 0]), varint(-1), varint(valueBytes)]);
  const record = Buffer.concat([varint(start.length + valueBytes + tail.length), start]);
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeInt32BE(HEAD_BYTES - LENGTH_FROM + record.length + valueBytes + tail.length, 8);
  head.writeInt32BE(-1, 12);
  head.writeInt8(MAGIC, 16);
  head.writeBigInt64BE(BigInt(timestampMs), 27);
  head.writeBigInt64BE(BigInt(timestampMs), 35);
  head.writeBigInt64BE(NO_PRODUCER, 43);
  head.writeInt16BE(-1, 51);
  head.writeInt32BE(-1, 53);
  head.writeInt32BE(1, 57);
  const checked = [record, ...value, tail];
  head.writeUInt32BE(crc32c([head.subarray(CRC_FROM), ...checked]), CRC_AT);
  return [head, ...checked];
}

export function bytesOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0);
}

function headerOf([name, value]: [string, string]): Uint8Array[] {
  return [...withLength(name), ...withLength(value)];
}

function withLength(text: string): Uint8Array[] {
  const bytes = Buffer.from(text);
  return [varint(bytes.length), bytes];
}

/** Zigzag, seven bits a byte, the lowest first. */
function varint(number: number): Uint8Array {
  const bytes = Buffer.alloc(VARINT_BYTES_MAX);
  let left = ((number << 1) ^ (number >> 31)) >>> 0;
  let at = 0;
  for (; left > 127; left >>>= 7) bytes[at++] = (left & 127) | 128;
  bytes[at++] = left;
  return bytes.subarray(0, at);
}
