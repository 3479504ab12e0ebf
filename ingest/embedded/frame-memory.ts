import { alignedMemory } from '../../infra/platform/aligned-memory.ts';
import type { CommitPart } from '../../infra/ports/engine.ts';
import { FRAME_HEADER_BYTES, sealFrame, type TouchedSpan } from '../../schemas/stored/frame.ts';

/** Parts of a frame in one piece of memory that the log writes as it lies. Used again for the next frame. */
export interface FrameMemory {
  /** Copies a part: false, and nothing is changed, when the frame would exceed its bound. */
  add(part: CommitPart): boolean;
  eventCount(): number;
  /** The whole frame, in pieces; they last until `clear`. */
  seal(head: { logId: Uint8Array; committedAtMs: number }): Uint8Array[];
  clear(): void;
}

/** Of lines and records. A part that alone exceeds it has a frame of its own. */
const FRAME_BYTES_MAX = 4 * 1024 * 1024;
/** Names of thousands of customers and meters; with more of them they are a piece of their own. */
const TOUCHED_BYTES = 256 * 1024;

/** Memory is taken from the system as far as frames were ever filled. */
export function createFrameMemory(): FrameMemory {
  const own = alignedMemory(FRAME_HEADER_BYTES + FRAME_BYTES_MAX + TOUCHED_BYTES);
  /** Lines are collected in their place, records apart: where they begin follows from the last line. */
  const ownRecords = alignedMemory(FRAME_BYTES_MAX);
  const touched = new Map<string, TouchedSpan>();
  let [memory, records] = [own, ownRecords];
  let [linesBytes, recordBytes, eventCount] = [0, 0, 0];

  function touch({ pair, occurredFromMs, occurredToMs }: TouchedSpan): void {
    const known = touched.get(pair);
    if (known) {
      known.occurredFromMs = Math.min(known.occurredFromMs, occurredFromMs);
      known.occurredToMs = Math.max(known.occurredToMs, occurredToMs);
    } else touched.set(pair, { pair, occurredFromMs, occurredToMs });
  }

  return {
    add(part) {
      const bytes = part.lines.length + part.records.length;
      const held = linesBytes + recordBytes;
      // mutant: frame-beyond-its-bound
      if (held > 0 && held + bytes > FRAME_BYTES_MAX) return false;
      if (bytes > FRAME_BYTES_MAX) {
        memory = Buffer.allocUnsafeSlow(FRAME_HEADER_BYTES + bytes + TOUCHED_BYTES);
        records = Buffer.allocUnsafeSlow(part.records.length);
      }
      memory.set(part.lines, FRAME_HEADER_BYTES + linesBytes);
      records.set(part.records, recordBytes);
      linesBytes += part.lines.length;
      recordBytes += part.records.length;
      eventCount += part.eventCount;
      for (const span of part.touched) touch(span);
      return true;
    },
    eventCount: () => eventCount,
    seal(head) {
      records.copy(memory, FRAME_HEADER_BYTES + linesBytes, 0, recordBytes);
      return sealFrame(memory, { ...head, eventCount, linesBytes, touched: [...touched.values()] });
    },
    clear() {
      [memory, records] = [own, ownRecords];
      [linesBytes, recordBytes, eventCount] = [0, 0, 0];
      touched.clear();
    },
  };
}
