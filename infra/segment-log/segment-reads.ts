import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { Fatal } from '../../schemas/failures.ts';
import { isAligned } from '../platform/aligned-memory.ts';
import type { OpenFile } from './segment-appender.ts';
import { BLOCK_BYTES, checkSegmentHeader, headerBytesOf, SEGMENT_HEADER_BYTES } from './segment-file.ts';

/** A part of one segment that is durable: positions [from, to). */
export interface Stretch {
  path: string;
  base: number;
  from: number;
  to: number;
  logId: Uint8Array;
}

export type SegmentReads = ReturnType<typeof createSegmentReads>;

/**
 * What a reader reads of segments. What was written past the page cache is not in there: into aligned memory
 * it is read past it as well, for a third of the CPU.
 */
export function createSegmentReads(openFile: OpenFile = open) {
  let known: { path: string; blockBytes: number } | undefined;
  let mayPassCache = constants.O_DIRECT !== undefined;

  async function readWhole(stretch: Stretch, wanted: Wanted, flags = 0): Promise<Buffer> {
    const file = await openSegment(() => openFile(stretch.path, constants.O_RDONLY | flags), stretch);
    try {
      return await readExactly(file, stretch, wanted);
    } finally {
      await file.close();
    }
  }

  async function readPastCache(stretch: Stretch, wanted: Wanted): Promise<Buffer | undefined> {
    try {
      return await readWhole(stretch, wanted, constants.O_DIRECT);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EINVAL') throw error;
      mayPassCache = false;
      return undefined;
    }
  }

  return {
    /** Checks the header of a segment once: most reads are of the one that was read last. */
    async blockBytesOf(stretch: Stretch): Promise<number> {
      if (known?.path === stretch.path) return known.blockBytes;
      const wanted = { at: 0, into: Buffer.alloc(SEGMENT_HEADER_BYTES) };
      const blockBytes = checkSegmentHeader(await readWhole(stretch, wanted), stretch);
      known = { path: stretch.path, blockBytes };
      return blockBytes;
    },
    /** From the beginning of the stretch on; `into` becomes full. */
    async read(stretch: Stretch, blockBytes: number, into: Buffer): Promise<Buffer> {
      const wanted = { at: headerBytesOf(blockBytes) + stretch.from - stretch.base, into };
      const inBlocks = blockBytes === BLOCK_BYTES && into.length % BLOCK_BYTES === 0 && isAligned(into);
      const found = inBlocks && mayPassCache ? await readPastCache(stretch, wanted) : undefined;
      return found ?? (await readWhole(stretch, wanted));
    },
  };
}

interface Wanted {
  /** The byte of the file. */
  at: number;
  into: Buffer;
}

async function readExactly(file: FileHandle, stretch: Stretch, { at, into }: Wanted): Promise<Buffer> {
  for (let filled = 0; filled < into.length; ) {
    const { bytesRead } = await file.read(into, filled, into.length - filled, at + filled);
    const place = { at: at + filled, position: stretch.from };
    if (bytesRead === 0) throw damaged(stretch, place, 'the file ends before the durable end');
    filled += bytesRead;
  }
  return into;
}

async function openSegment(opening: () => Promise<FileHandle>, { path, from }: Stretch): Promise<FileHandle> {
  try {
    return await opening();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw trimmed(path, from);
    throw error;
  }
}

/** `at`: the byte of the file. */
export function damaged(
  { path }: Pick<Stretch, 'path'>,
  { at, position }: { at: number; position: number },
  why: string,
): Fatal {
  return new Fatal(
    'frame_damaged',
    `${path} is damaged at byte ${at} (position ${position}): ${why}. Restore it from a backup.`,
  );
}

export function trimmed(place: string, position: number): Fatal {
  return new Fatal('log_trimmed', `${place} no longer holds position ${position}.`);
}
