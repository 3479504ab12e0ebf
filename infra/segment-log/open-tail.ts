import { statSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { Fatal } from '../../schemas/failures.ts';
import { syncDirectory } from '../platform/durable-file.ts';
import { findTail } from './find-tail.ts';
import {
  createSegment,
  cutOff,
  type OpenFile,
  openPastPageCache,
  WRITE_FLAGS,
  writeExactly,
} from './segment-appender.ts';
import {
  BLOCK_BYTES,
  checkSegmentHeader,
  headerBytesOf,
  isPadding,
  isSegmentHeader,
  listSegments,
  SEGMENT_HEADER_BYTES,
  type SegmentPlace,
  segmentName,
} from './segment-file.ts';

/** The segment that is written to. */
export interface OpenSegment {
  file: FileHandle;
  base: number;
  /** Bytes of frames in it, with what pads them. */
  frameBytes: number;
  /** It takes frames: one of an earlier version does not. */
  isCurrent: boolean;
}

export interface TailOptions {
  directory: string;
  logId: Uint8Array;
  /** The end that was published or counted before: frames below it were confirmed, so none may be dropped. */
  publishedEnd: number;
  openFile: OpenFile;
  staging: Buffer;
  log: Logger;
}

/**
 * Opens the last segment for writing, after a clean stop or a crash at any time. The remains of one
 * unfinished write are cut off: it was never confirmed. Any other fault throws Fatal `frame_damaged`.
 */
export async function openTail(options: TailOptions): Promise<OpenSegment> {
  const { directory, logId } = options;
  // A killed process may have created or removed a segment, and the change may not be durable yet.
  // mutant: found-segment-without-a-name
  syncDirectory(directory);
  const bases = listSegments(directory);
  checkWithoutGap(directory, bases);
  const base = bases.at(-1) ?? 0;
  const place = { path: join(directory, segmentName(base)), base, logId };
  const known = bases.length > 0 ? await openKnown(place, options) : undefined;
  if (known) return known;
  if (options.publishedEnd > base)
    throw damaged(place.path, SEGMENT_HEADER_BYTES, 'it is missing or has lost its header');
  return { file: await createSegment(place, options), base, frameBytes: 0, isCurrent: true };
}

/**
 * Every segment but the last must end where the next begins: it was whole when the next was made. By its size
 * alone it may be of either version, and its header is read by its reader: a start does not read them all.
 */
function checkWithoutGap(directory: string, bases: number[]): void {
  for (const [at, next] of bases.slice(1).entries()) {
    const base = bases[at] ?? 0;
    const path = join(directory, segmentName(base));
    const { size } = statSync(path);
    const isWhole = [1, BLOCK_BYTES].some((block) => base + size - headerBytesOf(block) === next);
    if (!isWhole) throw damaged(path, size, `the next segment begins at ${next}`);
  }
}

/** Undefined when it holds nothing: a crash came before its first frame, in the midst of its header even. */
async function openKnown(place: SegmentPlace, options: TailOptions): Promise<OpenSegment | undefined> {
  const { openFile, staging } = options;
  const file = await openFile(place.path, WRITE_FLAGS);
  try {
    const known = await repaired(file, place, options);
    const isCurrent = known?.blockBytes === BLOCK_BYTES;
    // One of an earlier version and without a frame is made again.
    if (known && !isCurrent && known.frameBytes > 0) return { ...known, file, base: place.base, isCurrent };
    await file.close();
    if (!known || !isCurrent) return undefined;
    const open = (flags: number) => openFile(place.path, flags);
    const current = await openPastPageCache(open, (one) => one.read(staging, 0, BLOCK_BYTES, 0));
    return { ...known, file: current, base: place.base, isCurrent };
  } catch (error) {
    await file.close();
    throw error;
  }
}

type Known = Pick<OpenSegment, 'frameBytes'> & { blockBytes: number };

/** Leaves the sound part of a segment, durable. Undefined when it has no header yet. */
async function repaired(
  file: FileHandle,
  place: SegmentPlace,
  options: TailOptions,
): Promise<Known | undefined> {
  // What a killed process wrote may be in memory only: what is judged must be what a power cut would leave.
  await file.sync();
  const content = await file.readFile();
  const header = content.subarray(0, SEGMENT_HEADER_BYTES);
  if (isBegun(content) && !isSegmentHeader(header)) return undefined;
  const blockBytes = checkSegmentHeader(header, place);
  const from = headerBytesOf(blockBytes);
  const frameBytes = soundFrameBytes(content.subarray(from), blockBytes, { ...options, ...place });
  if (content.length > from + frameBytes) await cutOff(file, frameBytes, blockBytes);
  const published = from + Math.max(0, options.publishedEnd - place.base);
  const unsure = content.subarray(published, from + frameBytes);
  // A failed write may have left it in memory: Linux reports that once, then takes it for written.
  // mutant: unsure-tail-believed
  if (unsure.length > 0) await writeExactly(file, unsure, published);
  return { blockBytes, frameBytes };
}

/** No longer than a header is with what pads it: those of version 1 have frames behind theirs. */
function isBegun(content: Buffer): boolean {
  if (content.length <= SEGMENT_HEADER_BYTES) return true;
  return content.length <= BLOCK_BYTES && isPadding(content.subarray(SEGMENT_HEADER_BYTES));
}

type Judged = SegmentPlace & Pick<TailOptions, 'publishedEnd' | 'log'>;

function soundFrameBytes(
  frames: Buffer,
  blockBytes: number,
  { publishedEnd, log, ...place }: Judged,
): number {
  const { soundBytes, rest } = findTail(frames, place.logId, blockBytes);
  const at = headerBytesOf(blockBytes) + soundBytes;
  if (rest === 'frames') throw damaged(place.path, at, 'sound frames follow it');
  if (place.base + soundBytes < publishedEnd) {
    throw damaged(place.path, at, `the log was durable up to ${publishedEnd}`);
  }
  if (rest === 'torn') {
    const droppedBytes = frames.length - soundBytes;
    log.warn({ position: place.base + soundBytes, droppedBytes }, 'cut off an unfinished write');
  }
  return soundBytes;
}

function damaged(path: string, at: number, why: string): Fatal {
  return new Fatal(
    'frame_damaged',
    `${path} is damaged at byte ${at}: ${why}. Restore it from a backup that is no older than the ` +
      'database, or restore that with it.',
  );
}
