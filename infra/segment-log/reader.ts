import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { Fatal, Transient } from '../../schemas/failures.ts';
import { checksumHolds, FRAME_HEADER_BYTES, measureFrame } from '../../schemas/stored/frame.ts';
import type { EventLogReader, LogFrame, ReadMemory } from '../ports/event-log.ts';
import { type DurableEnd, openDurableEnd } from './durable-end.ts';
import { isOfLog } from './find-tail.ts';
import { readLogIdentity } from './log-identity.ts';
import { checkSegmentHeader, listSegments, SEGMENT_HEADER_BYTES, segmentName } from './segment-file.ts';

/**
 * For any process, any number of them. Throws Transient `log_not_there` before the first writer made the log.
 */
export async function openSegmentLogReader({ directory }: { directory: string }): Promise<EventLogReader> {
  const identity = readLogIdentity(directory);
  if (!identity) throw new Transient('log_not_there', `There is no log in ${directory} yet.`);
  const { logId } = identity;
  // mutant: reader-beyond-the-durable-end
  return createReader({ directory, logId, durableEnd: openDurableEnd(directory, logId, 'read') });
}

interface ReaderDeps {
  directory: string;
  logId: Uint8Array;
  durableEnd: DurableEnd;
}

/** A part of one segment that is durable: positions [from, to). */
interface Stretch {
  path: string;
  base: number;
  from: number;
  to: number;
  logId: Uint8Array;
}

/** Keeps no segment open between reads, so that the space of a trimmed one is freed at once. */
function createReader({ directory, logId, durableEnd }: ReaderDeps): EventLogReader {
  function stretchFrom(from: number, end: number, bases: number[]): Stretch {
    const above = bases.findIndex((base) => base > from);
    const base = bases.at(above < 0 ? -1 : above - 1) ?? Number.POSITIVE_INFINITY;
    if (above === 0 || base > from) throw trimmed(directory, from);
    const path = join(directory, segmentName(base));
    return { path, base, from, to: Math.min(end, bases[above] ?? end), logId };
  }

  return {
    logId,
    partitions: 1,
    durableEnds: async () => [await durableEnd.read()],
    durableEnd: () => durableEnd.read(),
    start: async () => listSegments(directory)[0] ?? 0,
    async read(_partition, from, bytesMax, memory = NEW_MEMORY) {
      const end = await durableEnd.read();
      let frames: LogFrame[] = [];
      if (from >= end) return frames;
      const bases = listSegments(directory);
      for (let at = from; at < end; ) {
        const stretch = stretchFrom(at, end, bases);
        const limit = { bytesMax: bytesMax - (at - from), atLeastOne: frames.length === 0 };
        frames = frames.concat(await readFrames(stretch, limit, memory));
        at = frames.at(-1)?.next ?? at;
        if (at < stretch.to || at - from >= bytesMax) break;
      }
      return frames;
    },
    async close() {
      durableEnd.close();
    },
  };
}

const NEW_MEMORY: ReadMemory = { take: (bytes) => Buffer.allocUnsafeSlow(bytes) };

async function readFrames(
  stretch: Stretch,
  limit: { bytesMax: number; atLeastOne: boolean },
  memory: ReadMemory,
): Promise<LogFrame[]> {
  const { path, base, from, to, logId } = stretch;
  const file = await openSegment(stretch);
  try {
    const header = await readExactly(file, stretch, { at: 0, into: Buffer.alloc(SEGMENT_HEADER_BYTES) });
    checkSegmentHeader(header, { path, base, logId });
    const at = SEGMENT_HEADER_BYTES + from - base;
    const bytes = Math.min(to - from, Math.max(limit.bytesMax, FRAME_HEADER_BYTES));
    const chunk = await readExactly(file, stretch, { at, into: memory.take(bytes) });
    const frames = splitFrames(chunk, stretch);
    if (frames.length > 0 || !limit.atLeastOne) return frames;
    const frameBytes = Math.min(chunk.readUInt32LE(8), to - from);
    return splitFrames(await readExactly(file, stretch, { at, into: memory.take(frameBytes) }), stretch);
  } finally {
    await file.close();
  }
}

async function openSegment({ path, from }: Stretch): Promise<FileHandle> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw trimmed(path, from);
    throw error;
  }
}

async function readExactly(
  file: FileHandle,
  stretch: Stretch,
  { at, into }: { at: number; into: Buffer },
): Promise<Buffer> {
  for (let filled = 0; filled < into.length; ) {
    const { bytesRead } = await file.read(into, filled, into.length - filled, at + filled);
    if (bytesRead === 0) throw damaged(stretch, stretch.from, 'the file ends before the durable end');
    filled += bytesRead;
  }
  return into;
}

/**
 * The whole frames of a chunk that begins where the stretch does; the last may be cut off by the chunk's end.
 */
function splitFrames(chunk: Buffer, stretch: Stretch): LogFrame[] {
  const frames: LogFrame[] = [];
  for (let at = 0; at < chunk.length; ) {
    const position = stretch.from + at;
    const bytes = measureFrame(chunk.subarray(at));
    if (bytes === 'damaged') throw damaged(stretch, position, 'no frame begins there');
    if (bytes === 'cut') {
      if (stretch.from + chunk.length < stretch.to) break;
      throw damaged(stretch, position, 'the frame there is longer than what is durable');
    }
    const frame = chunk.subarray(at, at + bytes);
    if (!checksumHolds(frame)) throw damaged(stretch, position, 'the checksum fails');
    if (!isOfLog(frame, stretch.logId)) throw damaged(stretch, position, 'the frame is of another log');
    at += bytes;
    frames.push({ position, next: stretch.from + at, bytes: frame });
  }
  return frames;
}

function damaged({ path, base }: Stretch, position: number, why: string): Fatal {
  const at = SEGMENT_HEADER_BYTES + position - base;
  return new Fatal(
    'frame_damaged',
    `${path} is damaged at byte ${at} (position ${position}): ${why}. Restore it from a backup.`,
  );
}

function trimmed(place: string, position: number): Fatal {
  return new Fatal('log_trimmed', `${place} no longer holds position ${position}.`);
}
