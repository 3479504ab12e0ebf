import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { Fatal } from '../../schemas/failures.ts';
import { isDiskFull } from '../platform/disk-guard.ts';
import type { AppendOutcome, EventLogWriter, LogRetention } from '../ports/event-log.ts';
import { type DurableEnd, openDurableEnd } from './durable-end.ts';
import { ensureLogIdentity, raiseLogVersion } from './log-identity.ts';
import { type OpenSegment, openTail } from './open-tail.ts';
import { createRetention } from './retention.ts';
import {
  createSegment,
  cutOff,
  type OpenFile,
  openForWriting,
  stagingMemory,
  writeDurableAt,
} from './segment-appender.ts';
import { BLOCK_BYTES, headerBytesOf, paddedTo, segmentName } from './segment-file.ts';

export interface SegmentLogOptions {
  directory: string;
  /** 16 bytes that distinguish one identity key from another. */
  identityCheck: Uint8Array;
  segmentBytesMax?: number;
  /** The log was counted up to here: a log that ends before is rejected. */
  countedEnd?: number;
  log: Logger;
  /** For tests that fill the disk. */
  openFile?: OpenFile;
}

export type SegmentLogWriter = EventLogWriter & LogRetention;

/** At the start the last segment is read as a whole, so its size bounds that: 64 MiB take 60 ms. */
const SEGMENT_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Opens the log for its one writer, making it where there is none; the lock on DATA_DIR excludes any other
 * writer. Throws Fatal `identity_key_mismatch`, `log_version_newer`, `log_identity_damaged`, `frame_damaged`:
 * then nothing was changed.
 */
export async function openSegmentLogWriter(options: SegmentLogOptions): Promise<SegmentLogWriter> {
  const { directory, identityCheck, log } = options;
  const { segmentBytesMax = SEGMENT_BYTES_MAX, countedEnd = 0, openFile = openForWriting } = options;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const { logId } = ensureLogIdentity(directory, identityCheck);
  const durableEnd = openDurableEnd(directory, logId, 'write');
  try {
    const publishedEnd = Math.max(durableEnd.look() ?? 0, countedEnd);
    const staging = stagingMemory();
    const tail = await openTail({ directory, logId, publishedEnd, openFile, staging, log });
    durableEnd.publish(tail.base + tail.frameBytes);
    return createWriter({ directory, logId, tail, durableEnd, segmentBytesMax, openFile, staging });
  } catch (error) {
    durableEnd.close();
    throw error;
  }
}

interface WriterDeps {
  directory: string;
  logId: Uint8Array;
  tail: OpenSegment;
  durableEnd: DurableEnd;
  segmentBytesMax: number;
  openFile: OpenFile;
  staging: Buffer;
}

/** The order of an append is the whole promise: bytes durable, end published, append confirmed. */
function createWriter(deps: WriterDeps): SegmentLogWriter {
  const { directory, logId, durableEnd, segmentBytesMax, staging } = deps;
  const raiseVersion = once(async () => raiseLogVersion(directory));
  let segment = deps.tail;
  let broken: Fatal | undefined;

  async function append(frame: Uint8Array[]): Promise<AppendOutcome> {
    const bytes = paddedTo(
      BLOCK_BYTES,
      frame.reduce((sum, piece) => sum + piece.length, 0),
    );
    const isFull = segment.frameBytes > 0 && segment.frameBytes + bytes > segmentBytesMax;
    const isOld = /* mutant: old-segment-continued */ !segment.isCurrent;
    if (!(await fits(raiseVersion()))) return { status: 'no_space' };
    if ((isFull || isOld) && !(await roll())) return { status: 'no_space' };
    const { file, base, frameBytes } = segment;
    const at = headerBytesOf(BLOCK_BYTES) + frameBytes;
    // mutant: end-published-before-the-write
    if (!(await fits(writeDurableAt(file, { pieces: frame, at, staging })))) {
      // mutant: torn-write-left-in-place
      await cutOff(file, frameBytes, BLOCK_BYTES);
      return { status: 'no_space' };
    }
    const position = base + frameBytes;
    segment.frameBytes += bytes;
    durableEnd.publish(position + bytes);
    return { status: 'durable', position, end: position + bytes };
  }

  /** Continues in a new segment. False when there is no room for its file: the old one stays. */
  async function roll(): Promise<boolean> {
    const base = segment.base + segment.frameBytes;
    const place = { path: join(directory, segmentName(base)), base, logId };
    const making = createSegment(place, deps);
    if (!(await fits(making))) return false;
    const full = segment;
    segment = { file: await making, base, frameBytes: 0, isCurrent: true };
    await full.file.close();
    return true;
  }

  return {
    logId,
    ...createRetention(directory, () => segment),
    async append(frame) {
      if (broken) throw broken;
      try {
        return await append(frame);
      } catch (cause) {
        // Also a full disk that could not be taken back: from here on, what is in memory may not be what is
        // on disk.
        broken = new Fatal('log_write_failed', `The log in ${directory} cannot be written.`, { cause });
        throw broken;
      }
    },
    async close() {
      await segment.file.close();
      durableEnd.close();
    },
  };
}

/** Until it has succeeded. */
function once(work: () => Promise<void>): () => Promise<void> {
  let isDone = false;
  return async () => {
    if (!isDone) await work();
    isDone = true;
  };
}

/** False when the disk is full. */
async function fits(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    // mutant: write-error-swallowed
    if (isDiskFull(error)) return false;
    throw error;
  }
}
