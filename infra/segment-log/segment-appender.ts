import { constants } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { alignedMemory, isAligned } from '../platform/aligned-memory.ts';
import { syncDirectory } from '../platform/durable-file.ts';
import { raiseLogVersion } from './log-identity.ts';
import {
  BLOCK_BYTES,
  encodeSegmentHeader,
  headerBytesOf,
  paddedTo,
  type SegmentPlace,
} from './segment-file.ts';

/** How files are opened; a test that fills the disk gives another. */
export type OpenFile = (path: string, flags: number, mode?: number) => Promise<FileHandle>;

export const openForWriting: OpenFile = open;

/** With it a write returns when it is durable: one call instead of two (0.39 against 0.5 ms for 130 KB). */
const DSYNC: number | undefined = constants.O_DSYNC;
/** Past the page cache a flush of 135 KB takes a quarter less CPU, and does not wait for other writers. */
const DIRECT: number | undefined = constants.O_DIRECT;

export const WRITE_FLAGS = constants.O_RDWR | /* mutant: dsync-left-out */ (DSYNC ?? 0);

/** A frame of the group commit fits as a whole: each write is a flush of its own. */
const STAGED_BYTES = 4 * 1024 * 1024 + BLOCK_BYTES;

/**
 * Memory from which frames are written that do not lie in such memory themselves. For one write at a time.
 */
export function stagingMemory(): Buffer {
  return alignedMemory(STAGED_BYTES).subarray(0, STAGED_BYTES);
}

/**
 * Opens a file past the page cache, or through it where the file system does not allow that. `attempt` is its
 * first read or write: some file systems reject that instead. Closed when it fails.
 */
export async function openPastPageCache(
  openWith: (flags: number) => Promise<FileHandle>,
  attempt: (file: FileHandle) => Promise<unknown>,
): Promise<FileHandle> {
  if (DIRECT !== undefined) {
    try {
      return await attempted(await openWith(WRITE_FLAGS | DIRECT), attempt);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EINVAL') throw error;
    }
  }
  return await attempted(await openWith(WRITE_FLAGS), attempt);
}

async function attempted(
  file: FileHandle,
  attempt: (file: FileHandle) => Promise<unknown>,
): Promise<FileHandle> {
  try {
    await attempt(file);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/**
 * Makes the segment's file with its header, durable in its folder. One that is there already holds nothing: a
 * crash came between its making and its first frame. On failure no file stays.
 */
export async function createSegment(
  place: SegmentPlace,
  { openFile, staging }: { openFile: OpenFile; staging: Buffer },
): Promise<FileHandle> {
  const directory = dirname(place.path);
  raiseLogVersion(directory);
  const create = (flags: number) =>
    openFile(place.path, flags | constants.O_CREAT | constants.O_TRUNC, 0o600);
  try {
    return await openPastPageCache(create, async (file) => {
      await writeDurableAt(file, { pieces: [encodeSegmentHeader(place)], at: 0, staging });
      // mutant: new-segment-without-a-name
      syncDirectory(directory);
    });
  } catch (error) {
    await rm(place.path, { force: true });
    // Durably: the log may continue in the segment before, beyond where this one would begin.
    // mutant: segment-taken-back-for-now
    syncDirectory(directory);
    throw error;
  }
}

interface Write {
  pieces: Uint8Array[];
  /** Where the first one goes: the beginning of a block. */
  at: number;
  staging: Buffer;
}

/**
 * Writes the pieces one behind the other, and zeros up to the end of the last block. Returns when every byte
 * is durable.
 */
export async function writeDurableAt(file: FileHandle, { pieces, at, staging }: Write): Promise<void> {
  const lying = wholeBlocks(pieces);
  if (lying) return await writeExactly(file, lying, at);
  let written = at;
  let staged = 0;
  for (const piece of pieces) {
    for (let from = 0; from < piece.length; ) {
      const part = piece.subarray(from, from + staging.length - staged);
      staging.set(part, staged);
      staged += part.length;
      from += part.length;
      if (staged < staging.length) continue;
      await writeExactly(file, staging, written);
      written += staged;
      staged = 0;
    }
  }
  const end = paddedTo(BLOCK_BYTES, staged);
  staging.fill(0, staged, end);
  await writeExactly(file, staging.subarray(0, end), written);
}

/**
 * The bytes of a single piece with its padding, where it can be written as it lies: from aligned memory,
 * which is the writer's up to the end of the block.
 */
function wholeBlocks(pieces: Uint8Array[]): Uint8Array | undefined {
  const [piece, ...others] = pieces;
  if (!piece || others.length > 0 || !isAligned(piece)) return undefined;
  const bytes = paddedTo(BLOCK_BYTES, piece.length);
  if (piece.byteOffset + bytes > piece.buffer.byteLength) return undefined;
  return new Uint8Array(piece.buffer, piece.byteOffset, bytes).fill(0, piece.length);
}

/** Returns when the bytes are durable. A write that takes only a part is continued. */
export async function writeExactly(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.writev([bytes.subarray(done)], position + done);
    done += bytesWritten;
  }
  if (DSYNC === undefined) await file.datasync();
}

/** Takes back what was written from there on, durably. */
export async function cutOff(file: FileHandle, frameBytes: number, blockBytes: number): Promise<void> {
  await file.truncate(headerBytesOf(blockBytes) + frameBytes);
  await file.sync();
}
