import { join } from 'node:path';
import { Transient } from '../../schemas/failures.ts';
import { checksumHolds, FRAME_HEADER_BYTES, measureFrame } from '../../schemas/stored/frame.ts';
import type { EventLogReader, LogFrame, ReadMemory } from '../ports/event-log.ts';
import { type DurableEnd, openDurableEnd } from './durable-end.ts';
import { isOfLog } from './find-tail.ts';
import { readLogIdentity } from './log-identity.ts';
import type { OpenFile } from './segment-appender.ts';
import { headerBytesOf, isPadding, listSegments, paddedTo, segmentName } from './segment-file.ts';
import { createSegmentReads, damaged, type SegmentReads, type Stretch, trimmed } from './segment-reads.ts';

interface ReaderOptions {
  directory: string;
  /** For tests. */
  openFile?: OpenFile;
}

/**
 * For any process, any number of them. Throws Transient `log_not_there` before the first writer made the log.
 */
export async function openSegmentLogReader({ directory, openFile }: ReaderOptions): Promise<EventLogReader> {
  const identity = readLogIdentity(directory);
  if (!identity) throw new Transient('log_not_there', `There is no log in ${directory} yet.`);
  const { logId } = identity;
  // mutant: reader-beyond-the-durable-end
  const deps = { directory, logId, durableEnd: openDurableEnd(directory, logId, 'read') };
  return createReader({ ...deps, segments: createSegmentReads(openFile) });
}

interface ReaderDeps {
  directory: string;
  logId: Uint8Array;
  durableEnd: DurableEnd;
  segments: SegmentReads;
}

/** Keeps no segment open between reads, so that the space of a trimmed one is freed at once. */
function createReader({ directory, logId, durableEnd, segments }: ReaderDeps): EventLogReader {
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
        frames = frames.concat(await readFrames(segments, stretch, { ...limit, memory }));
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

interface ReadLimit {
  bytesMax: number;
  atLeastOne: boolean;
  memory: ReadMemory;
}

async function readFrames(
  segments: SegmentReads,
  stretch: Stretch,
  { bytesMax, atLeastOne, memory }: ReadLimit,
): Promise<LogFrame[]> {
  const { from, to } = stretch;
  const blockBytes = await segments.blockBytesOf(stretch);
  const chunkOf = (bytes: number) =>
    segments.read(stretch, blockBytes, memory.take(Math.min(to - from, bytes)));
  // Whole blocks, and as much of a frame as tells its length.
  const blocks = Math.floor(Math.max(bytesMax, FRAME_HEADER_BYTES) / blockBytes);
  const chunk = await chunkOf(Math.max(blocks, atLeastOne ? 1 : 0) * blockBytes);
  const frames = splitFrames(chunk, stretch, blockBytes);
  if (frames.length > 0 || !atLeastOne) return frames;
  const frameBytes = paddedTo(blockBytes, chunk.readUInt32LE(8));
  return splitFrames(await chunkOf(frameBytes), stretch, blockBytes);
}

/**
 * The whole frames of a chunk that begins where the stretch does; the last, or what pads it, may be cut off
 * by the chunk's end.
 */
function splitFrames(chunk: Buffer, stretch: Stretch, blockBytes: number): LogFrame[] {
  const frames: LogFrame[] = [];
  for (let at = 0; at < chunk.length; ) {
    const position = stretch.from + at;
    const fault = (why: string) =>
      damaged(stretch, { at: headerBytesOf(blockBytes) + position - stretch.base, position }, why);
    const bytes = measureFrame(chunk.subarray(at));
    if (bytes === 'damaged') throw fault('no frame begins there');
    const end = bytes === 'cut' ? Number.POSITIVE_INFINITY : at + paddedTo(blockBytes, bytes);
    if (bytes === 'cut' || end > chunk.length) {
      if (stretch.from + chunk.length < stretch.to) break;
      throw fault('the frame there is longer than what is durable');
    }
    const frame = chunk.subarray(at, at + bytes);
    if (!checksumHolds(frame)) throw fault('the checksum fails');
    if (!isOfLog(frame, stretch.logId)) throw fault('the frame is of another log');
    if (!isPadding(chunk.subarray(at + bytes, end))) throw fault('other bytes than zeros pad the frame');
    at = end;
    frames.push({ position, next: stretch.from + at, bytes: frame });
  }
  return frames;
}
