import { alignedMemory } from '../../infra/platform/aligned-memory.ts';
import type { CommitPart } from '../../infra/ports/engine.ts';
import { FRAME_EVENTS_MAX, FRAME_HEADER_BYTES, NUMBER_BYTES, sealFrame } from '../../schemas/stored/frame.ts';
import { createTouchedNumbers } from './touched-numbers.ts';

/** Parts of a frame in one piece of memory that the log writes as it lies. Used again for the next frame. */
export interface FrameMemory {
  /** Copies a part: false, and nothing is changed, when the frame would exceed its bound. */
  add(part: CommitPart): boolean;
  eventCount(): number;
  /** The whole frame, in pieces; they last until `clear`. */
  seal(head: { logId: Uint8Array; committedAtMs: number }): Uint8Array[];
  clear(): void;
}

/** Of lines, records and numbers. A part that alone exceeds it has a frame of its own. */
const FRAME_BYTES_MAX = 4 * 1024 * 1024;
/** With more a frame takes no more parts. A part has less than 2 MB of names, and no reader takes 32 MB. */
const NAMES_BYTES_MAX = 20 * 1024 * 1024;
/** Names of thousands of customers and meters; with more of them they are a piece of their own. */
const TOUCHED_BYTES = 256 * 1024;

/** Memory is taken from the system as far as frames were ever filled. */
export function createFrameMemory(): FrameMemory {
  const own = alignedMemory(FRAME_HEADER_BYTES + FRAME_BYTES_MAX + TOUCHED_BYTES);
  /** Lines are collected in their place, the others apart: where they begin follows from the last line. */
  const ownRecords = Buffer.allocUnsafeSlow(FRAME_BYTES_MAX);
  const touchedNumbers = createTouchedNumbers();
  let [memory, records] = [own, ownRecords];
  let [linesBytes, recordBytes, eventCount] = [0, 0, 0];

  return {
    add(part) {
      const bytes = part.lines.length + part.records.length + part.eventCount * NUMBER_BYTES;
      const held = linesBytes + recordBytes + eventCount * NUMBER_BYTES;
      // mutant: frame-beyond-its-bound
      if (held > 0 && held + bytes > FRAME_BYTES_MAX) return false;
      if (eventCount + part.eventCount > FRAME_EVENTS_MAX) return false;
      if (touchedNumbers.touchedBytesMax() > NAMES_BYTES_MAX) return false;
      if (bytes > FRAME_BYTES_MAX) {
        memory = Buffer.allocUnsafeSlow(FRAME_HEADER_BYTES + bytes + TOUCHED_BYTES);
        records = Buffer.allocUnsafeSlow(part.records.length);
      }
      memory.set(part.lines, FRAME_HEADER_BYTES + linesBytes);
      records.set(part.records, recordBytes);
      touchedNumbers.add(part, eventCount);
      linesBytes += part.lines.length;
      recordBytes += part.records.length;
      eventCount += part.eventCount;
      return true;
    },
    eventCount: () => eventCount,
    seal({ logId, committedAtMs }) {
      const recordsAt = FRAME_HEADER_BYTES + linesBytes;
      records.copy(memory, recordsAt, 0, recordBytes);
      memory.set(touchedNumbers.bytes(eventCount), recordsAt + recordBytes);
      const touched = touchedNumbers.touched();
      return sealFrame(memory, { logId, committedAtMs, eventCount, linesBytes, touched });
    },
    clear() {
      [memory, records] = [own, ownRecords];
      [linesBytes, recordBytes, eventCount] = [0, 0, 0];
      touchedNumbers.clear();
    },
  };
}
