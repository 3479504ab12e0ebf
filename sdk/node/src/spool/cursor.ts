import { Buffer } from 'node:buffer';
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { crc32 } from './crc32.ts';

/** Up to where the events of a folder are settled. */
export interface Position {
  /** Number of the segment. */
  segment: number;
  /** Bytes of it. */
  position: number;
}

/*
 * Two slots that are written in turns, so that a write that is cut off leaves the other: u32 segment, u32
 * zero, u64 position, u32 sequence, u32 CRC-32 of the 20 bytes before; all little-endian.
 */
const SLOT_BYTES = 24;
const CHECKED_BYTES = 20;

/** A file that is lost or old has events sent again, which does no harm: it is never flushed. */
export class Cursor {
  private readonly fd: number;
  private readonly slot = Buffer.alloc(SLOT_BYTES);
  private sequence: number;
  readonly start: Position;

  /** Throws what the file system throws. */
  constructor(path: string) {
    this.fd = openOrMake(path);
    const { sequence, ...start } = readNewest(this.fd);
    this.sequence = sequence;
    this.start = start;
  }

  write({ segment, position }: Position): void {
    this.sequence += 1;
    const { slot } = this;
    slot.writeUInt32LE(segment, 0);
    slot.writeBigUInt64LE(BigInt(position), 8);
    slot.writeUInt32LE(this.sequence >>> 0, 16);
    slot.writeUInt32LE(crc32(slot, 0, CHECKED_BYTES), CHECKED_BYTES);
    writeSync(this.fd, slot, 0, SLOT_BYTES, (this.sequence % 2) * SLOT_BYTES);
  }

  close(): void {
    closeSync(this.fd);
  }
}

function openOrMake(path: string): number {
  try {
    return openSync(path, 'r+');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return openSync(path, 'w+');
  }
}

function readNewest(fd: number): Position & { sequence: number } {
  const bytes = Buffer.alloc(2 * SLOT_BYTES);
  const length = readSync(fd, bytes, 0, bytes.length, 0);
  let newest = { segment: 0, position: 0, sequence: 0 };
  for (let at = 0; at + SLOT_BYTES <= length; at += SLOT_BYTES) {
    const isWhole = crc32(bytes, at, at + CHECKED_BYTES) === bytes.readUInt32LE(at + CHECKED_BYTES);
    const sequence = bytes.readUInt32LE(at + 16);
    if (!isWhole || sequence <= newest.sequence) continue;
    newest = { segment: bytes.readUInt32LE(at), position: Number(bytes.readBigUInt64LE(at + 8)), sequence };
  }
  return newest;
}
