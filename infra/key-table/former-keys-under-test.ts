import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { RECORD_BYTES } from '../../schemas/stored/record.ts';
import type { RecordOwner } from './key-files.ts';

/** Writes a folder of keys as the release before left it. */
export function writeFormerKeys(
  directory: string,
  owner: RecordOwner,
  { records, logPosition }: { records: Uint8Array; logPosition: number },
): void {
  mkdirSync(directory, { recursive: true });
  const header = Buffer.alloc(48);
  header.writeUInt32LE(0x524b474d, 0);
  header.writeUInt16LE(1, 4);
  header.set(owner.identityCheck, 8);
  header.set(owner.logId, 24);
  header.writeUInt32LE(crc32(header.subarray(0, 44)), 44);
  // Behind what its checkpoint covers may be anything.
  writeFileSync(join(directory, 'records'), Buffer.concat([header, records, Buffer.alloc(100, 7)]));
  const place = Buffer.alloc(40);
  place.writeUInt32LE(0x434b474d, 0);
  place.writeUInt16LE(1, 4);
  place.writeBigUInt64LE(1n, 8);
  place.writeBigUInt64LE(BigInt(records.length / RECORD_BYTES), 16);
  place.writeBigUInt64LE(BigInt(logPosition), 24);
  place.writeUInt32LE(crc32(records), 32);
  place.writeUInt32LE(crc32(place.subarray(0, 36)), 36);
  writeFileSync(join(directory, 'checkpoint'), Buffer.concat([Buffer.alloc(4096), place]));
}

/**
 * Whether the release before rejects the folder as one of a newer release, by the first bytes of this file.
 */
export function isNewerForFormer(checkpoint: Buffer): boolean {
  const places = [0, 4096].map((at) => checkpoint.subarray(at, at + 40));
  const whole = places.filter((place) => {
    const isPlace = place.length === 40 && place.readUInt32LE(0) === 0x434b474d;
    return isPlace && crc32(place.subarray(0, 36)) === place.readUInt32LE(36);
  });
  return whole.length === 1 && (whole[0]?.readUInt16LE(4) ?? 0) > 1;
}
