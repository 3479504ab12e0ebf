import { crc32 } from 'node:zlib';
import type { Loan } from '../../infra/platform/memory-pool.ts';
import type { EventLogReader, LogFrame } from '../../infra/ports/event-log.ts';
import { Fatal } from '../../schemas/failures.ts';
import { decodeFrame, type Frame, type TouchedCustomerMeter } from '../../schemas/stored/frame.ts';
import { rowLines } from '../../schemas/stored/row-lines.ts';

/** Whole frames of one partition that are inserted into the warehouse together. */
export interface Block {
  /** [lo, hi): positions of the log. */
  lo: number;
  hi: number;
  eventCount: number;
  frames: Frame[];
  /** Records between the frames that Metergate did not write. */
  foreign: LogFrame[];
  /** Of all its bytes, made of the frames' own checksums. */
  checksum: number;
  throughMs: number;
  /** Holds the frames and lines. The load gives it back when nothing reads them any more. */
  memory?: Loan;
}

export function emptyBlock(lo: number, memory?: Loan): Block {
  const block = { lo, hi: lo, eventCount: 0, frames: [], foreign: [], checksum: 0, throughMs: 0 };
  return memory ? { ...block, memory } : block;
}

/**
 * Adds the next frame. Throws Fatal `frame_damaged`, `frame_version_unknown` or `frame_of_other_log`: nothing
 * of ours may be passed over.
 */
export function addFrame(block: Block, logged: LogFrame, logId: Uint8Array): void {
  const { position, next, bytes } = logged;
  if (logged.foreign !== undefined) block.foreign.push(logged);
  if (logged.foreign !== undefined || bytes.length === 0) {
    block.hi = next;
    return;
  }
  const frame = decodeFrame(bytes);
  if (Buffer.compare(frame.logId, logId) !== 0) {
    throw new Fatal('frame_of_other_log', `The frame at position ${position} belongs to another log.`);
  }
  block.frames.push(frame);
  block.hi = next;
  block.eventCount += frame.eventCount;
  // Each frame's header has its CRC, which was checked. The CRC over all headers so covers all the bytes.
  block.checksum = crc32(bytes.subarray(12, 16), block.checksum);
  // Not the last one's: of several writers one may come late.
  block.throughMs = Math.max(block.throughMs, frame.committedAtMs);
}

const READ_BYTES_MAX = 4 * 1024 * 1024;

/**
 * The very frames of a range that was frozen before. Throws Fatal `range_changed` when the log gives others.
 */
export async function readBlock(
  reader: EventLogReader,
  partition: number,
  range: { lo: number; hi: number; checksum: number },
): Promise<Block> {
  const block = emptyBlock(range.lo);
  while (block.hi < range.hi) {
    const frames = await reader.read(partition, block.hi, READ_BYTES_MAX);
    if (frames.length === 0) break;
    for (const frame of frames) {
      if (block.hi < range.hi) addFrame(block, frame, reader.logId);
    }
  }
  if (block.hi !== range.hi || block.checksum !== range.checksum) {
    throw new Fatal(
      'range_changed',
      `The log holds other bytes for [${range.lo}, ${range.hi}) than were frozen.`,
    );
  }
  return block;
}

/** What each frame of the block has touched. */
export function touchedBy({ frames }: Block): TouchedCustomerMeter[][] {
  return frames.map(({ touched }) => touched);
}

/**
 * The block's events as lines of rows, in its own memory if it has any, without those whose numbers are
 * given, ascending. Throws Fatal `line_unreadable`.
 */
export function linesWithout({ frames, memory }: Block, dropped: number[]): Buffer {
  const lines = joined(frames.map(rowLines), memory);
  if (dropped.length === 0) return lines;
  const kept: Buffer[] = [];
  let next = 0;
  splitLines(lines).forEach((line, number) => {
    if (number === dropped[next]) next += 1;
    else kept.push(line);
  });
  return Buffer.concat(kept);
}

function joined(parts: Buffer[], memory: Loan | undefined): Buffer {
  if (!memory) return Buffer.concat(parts);
  const bytes = parts.reduce((sum, { length }) => sum + length, 0);
  const whole = memory.take(bytes);
  let at = 0;
  for (const part of parts) at += part.copy(whole, at);
  return whole;
}

/** Each with its line feed; the bytes are not copied. */
export function splitLines(lines: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let from = 0; from < lines.length; ) {
    const end = lines.indexOf(10, from);
    const to = end < 0 ? lines.length : end + 1;
    found.push(lines.subarray(from, to));
    from = to;
  }
  return found;
}
