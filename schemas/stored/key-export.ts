import { RECORD_BYTES } from './record.ts';

/**
 * The format in which the control side sends the data plane the keys of events that are no longer on the
 * log: records (schemas/stored/record.ts) back to back, then a trailer of the same length. All integers
 * little-endian:
 *
 *   0  u32  magic 'MGKE'            8 u64  records before this
 *   4  u32  CRC-32 of them         16 u64  the least number of records that there should be; 0 if unknown
 *                                  24 16B  zero
 *
 * A stream that is cut off has no trailer; its reader then trusts none of it.
 */

/** Between the two processes of an installation, on the loopback address; no part of the API. */
const KEY_EXPORT_PATH = '/internal/keys';

export interface KeyExportRequest {
  /** 32 hexadecimal digits. */
  logId: string;
  /** The position at which the log begins. */
  before: number;
}

export interface KeyExportTrailer {
  recordsCrc: number;
  recordCount: number;
  /** The counts of stored and rejected records according to the ranges of the log. */
  countMin: number;
}

/** Whether some are missing: the keys must not be taken for all then. */
export function lacksKeys({ recordCount, countMin }: KeyExportTrailer): boolean {
  // mutant: keys-of-a-lost-warehouse-believed
  return recordCount < countMin;
}

const TRAILER_MAGIC = 0x454b474d;

export function keyExportTarget({ logId, before }: KeyExportRequest): string {
  return `${KEY_EXPORT_PATH}?log=${logId}&before=${before}`;
}

/** Undefined when the target is none of {@link keyExportTarget}. */
export function readKeyExportTarget(target: string): KeyExportRequest | undefined {
  // Every request of the control plane comes by here.
  if (!target.startsWith(KEY_EXPORT_PATH)) return undefined;
  const [path, query] = target.split('?');
  const [, logId, before] = /^log=([0-9a-f]{32})&before=(\d{1,15})$/.exec(query ?? '') ?? [];
  if (path !== KEY_EXPORT_PATH || logId === undefined || before === undefined) return undefined;
  return { logId, before: Number(before) };
}

export function encodeKeyTrailer({ recordsCrc, recordCount, countMin }: KeyExportTrailer): Buffer {
  const bytes = Buffer.alloc(RECORD_BYTES);
  bytes.writeUInt32LE(TRAILER_MAGIC, 0);
  bytes.writeUInt32LE(recordsCrc, 4);
  bytes.writeBigUInt64LE(BigInt(recordCount), 8);
  bytes.writeBigUInt64LE(BigInt(countMin), 16);
  return bytes;
}

/** Undefined when these are not the bytes of a trailer. */
export function decodeKeyTrailer(bytes: Buffer): KeyExportTrailer | undefined {
  if (bytes.length !== RECORD_BYTES || bytes.readUInt32LE(0) !== TRAILER_MAGIC) return undefined;
  return {
    recordsCrc: bytes.readUInt32LE(4),
    recordCount: Number(bytes.readBigUInt64LE(8)),
    countMin: Number(bytes.readBigUInt64LE(16)),
  };
}
