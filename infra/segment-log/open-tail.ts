import { statSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { Fatal } from '../../schemas/failures.ts';
import { syncDirectory } from '../platform/durable-file.ts';
import { findTail } from './find-tail.ts';
import { createSegment, cutOff, type OpenFile, WRITE_FLAGS, writeDurableAt } from './segment-appender.ts';
import {
  checkSegmentHeader,
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
  /** Bytes of frames in it. */
  frameBytes: number;
}

export interface TailOptions {
  directory: string;
  logId: Uint8Array;
  /** The end that was published or counted before: frames below it were confirmed, so none may be dropped. */
  publishedEnd: number;
  openFile: OpenFile;
  log: Logger;
}

/**
 * Opens the last segment for writing, after a clean stop or a crash at any time. The remains of one
 * unfinished write are cut off: it was never confirmed. Any other fault throws Fatal `frame_damaged`.
 */
export async function openTail(options: TailOptions): Promise<OpenSegment> {
  const { directory, logId, openFile } = options;
  // A killed process may have created or removed a segment, and the change may not be durable yet.
  // mutant: found-segment-without-a-name
  syncDirectory(directory);
  const bases = listSegments(directory);
  checkWithoutGap(directory, bases);
  const base = bases.at(-1) ?? 0;
  const place = { path: join(directory, segmentName(base)), base, logId };
  const known = bases.length > 0 ? await openKnown(place, options) : undefined;
  if (known) return known;
  if (options.publishedEnd > base) throw damaged(place.path, 0, 'it is missing or has lost its header');
  return { file: await createSegment(place, openFile), base, frameBytes: 0 };
}

/** Every segment but the last must end where the next begins: it was whole when the next was made. */
function checkWithoutGap(directory: string, bases: number[]): void {
  for (const [at, next] of bases.slice(1).entries()) {
    const base = bases[at] ?? 0;
    const path = join(directory, segmentName(base));
    const frameBytes = statSync(path).size - SEGMENT_HEADER_BYTES;
    if (base + frameBytes !== next) throw damaged(path, frameBytes, `the next segment begins at ${next}`);
  }
}

/** Undefined when a crash came between the segment's making and its header. */
async function openKnown(place: SegmentPlace, options: TailOptions): Promise<OpenSegment | undefined> {
  const file = await options.openFile(place.path, WRITE_FLAGS);
  try {
    // What a killed process wrote may be in memory only: what is judged must be what a power cut would leave.
    await file.sync();
    const content = await file.readFile();
    const header = content.subarray(0, SEGMENT_HEADER_BYTES);
    if (content.length <= SEGMENT_HEADER_BYTES && !isSegmentHeader(header)) {
      await file.close();
      return undefined;
    }
    checkSegmentHeader(header, place);
    const frameBytes = soundFrameBytes(content.subarray(SEGMENT_HEADER_BYTES), place, options);
    if (content.length > SEGMENT_HEADER_BYTES + frameBytes) await cutOff(file, frameBytes);
    const published = SEGMENT_HEADER_BYTES + Math.max(0, options.publishedEnd - place.base);
    const unsure = content.subarray(published, SEGMENT_HEADER_BYTES + frameBytes);
    // A failed write may have left it in memory: Linux reports that once, then takes it for written.
    // mutant: unsure-tail-believed
    if (unsure.length > 0) await writeDurableAt(file, [unsure], published);
    return { file, base: place.base, frameBytes };
  } catch (error) {
    await file.close();
    throw error;
  }
}

function soundFrameBytes(frames: Buffer, place: SegmentPlace, { publishedEnd, log }: TailOptions): number {
  const { soundBytes, rest } = findTail(frames, place.logId);
  if (rest === 'frames') throw damaged(place.path, soundBytes, 'sound frames follow it');
  if (place.base + soundBytes < publishedEnd) {
    throw damaged(place.path, soundBytes, `the log was durable up to ${publishedEnd}`);
  }
  if (rest === 'torn') {
    const droppedBytes = frames.length - soundBytes;
    log.warn({ position: place.base + soundBytes, droppedBytes }, 'cut off an unfinished write');
  }
  return soundBytes;
}

function damaged(path: string, frameOffset: number, why: string): Fatal {
  return new Fatal(
    'frame_damaged',
    `${path} is damaged at byte ${SEGMENT_HEADER_BYTES + frameOffset}: ${why}. Restore it from a backup ` +
      'that is no older than the database, or restore that with it.',
  );
}
