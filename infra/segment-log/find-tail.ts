import { checksumHolds, FRAME_MAGIC, measureFrame } from '../../schemas/stored/frame.ts';
import { isPadding, paddedTo } from './segment-file.ts';

export interface Tail {
  /** Bytes of whole, sound frames from the beginning on, with what pads them. */
  soundBytes: number;
  /** The bytes behind them: none, the remains of one unfinished write, or sound frames after a bad one. */
  rest: 'none' | 'torn' | 'frames';
}

/**
 * Looks through the frames of the last segment. A sound frame of another log is a bad one, and never torn;
 * one without its whole padding is torn.
 */
export function findTail(frames: Buffer, logId: Uint8Array, blockBytes: number): Tail {
  let soundBytes = 0;
  for (let bytes = -1; bytes !== 0; soundBytes += bytes) {
    const rest = frames.subarray(soundBytes);
    const frameBytes = soundFrameBytes(rest);
    if (frameBytes > 0 && !isOfLog(rest, logId)) return { soundBytes, rest: 'frames' };
    bytes = withPadding(rest, frameBytes, blockBytes);
  }
  const rest = frames.subarray(soundBytes);
  if (rest.length === 0) return { soundBytes, rest: 'none' };
  return { soundBytes, rest: holdsFrame(rest) ? 'frames' : 'torn' };
}

export function isOfLog(frame: Buffer, logId: Uint8Array): boolean {
  return frame.subarray(40, 56).equals(logId);
}

const MAGIC_BYTES = Buffer.alloc(4);
MAGIC_BYTES.writeUInt32LE(FRAME_MAGIC);

/** No line can pretend to be a frame: a header has zero bytes, which JSON text writes as escapes. */
function holdsFrame(rest: Buffer): boolean {
  for (let at = rest.indexOf(MAGIC_BYTES, 1); at >= 0; at = rest.indexOf(MAGIC_BYTES, at + 1)) {
    if (soundFrameBytes(rest.subarray(at)) > 0) return true;
  }
  return false;
}

/** 0 when no whole frame with a true checksum begins here. */
function soundFrameBytes(buffer: Buffer): number {
  const bytes = measureFrame(buffer);
  return typeof bytes === 'number' && checksumHolds(buffer.subarray(0, bytes)) ? bytes : 0;
}

/** What a sound frame takes of the file; 0 when what follows it there is not all of its padding. */
function withPadding(rest: Buffer, frameBytes: number, blockBytes: number): number {
  const bytes = paddedTo(blockBytes, frameBytes);
  const isThere = /* mutant: padded-tail-misread */ bytes <= rest.length;
  const isSound =
    isThere && /* mutant: padding-left-out-of-the-check */ isPadding(rest.subarray(frameBytes, bytes));
  return isSound ? bytes : 0;
}
