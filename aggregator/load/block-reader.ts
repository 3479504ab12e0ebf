import type { EventLogReader } from '../../infra/ports/event-log.ts';
import { addFrame, type Block, emptyBlock } from './block.ts';

/** Reads the next block from a partition's log. Holds one block at most. */
export interface BlockReader {
  /** Adds what is durable until the block is full. Throws what reading a frame throws. */
  extend(): Promise<void>;
  isEmpty(): boolean;
  isFull(): boolean;
  /** Returns the block and begins the next one behind it. */
  take(): Block;
  /** Behind what was taken. */
  position(): number;
}

/** A block exceeds them by one frame at most. */
export interface BlockLimits {
  rowsMax: number;
  bytesMax: number;
}

/** Read at once; what a full block does not take is read again for the next. */
const READ_BYTES_MAX = 4 * 1024 * 1024;

export function createBlockReader(
  { reader, partition }: { reader: EventLogReader; partition: number },
  from: number,
  { rowsMax, bytesMax }: BlockLimits,
): BlockReader {
  let block = emptyBlock(from);
  let bytes = 0;
  let extending: Promise<void> | undefined;

  // mutant: block-without-bound
  const isFull = () => block.eventCount >= rowsMax || bytes >= bytesMax;

  async function extend(): Promise<void> {
    while (!isFull() && (await reader.durableEnd(partition)) > block.hi) {
      const into = block;
      for (const frame of await reader.read(partition, into.hi, READ_BYTES_MAX)) {
        if (isFull()) return;
        addFrame(into, frame, reader.logId);
        bytes += frame.bytes.length;
      }
    }
  }

  return {
    isFull,
    isEmpty: () => block.hi === block.lo,
    position: () => block.lo,
    extend() {
      extending ??= extend().finally(() => {
        extending = undefined;
      });
      return extending;
    },
    take() {
      const taken = block;
      block = emptyBlock(taken.hi);
      bytes = 0;
      return taken;
    },
  };
}
