import type { MemoryPool } from '../../infra/platform/memory-pool.ts';
import type { EventLogReader, LogFrame } from '../../infra/ports/event-log.ts';
import { ROW_MORE_BYTES } from '../../schemas/stored/row-lines.ts';
import { addFrame, type Block, emptyBlock } from './block.ts';

/** Reads the next block from a partition's log. Holds one block at most. */
export interface BlockReader {
  /** Adds what is durable until the block is full. Throws what reading a frame throws. */
  extend(): Promise<void>;
  isEmpty(): boolean;
  isFull(): boolean;
  /** Returns the block, whose memory the caller gives back, and begins the next one behind it. */
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
export const READ_BYTES_MAX = 4 * 1024 * 1024;

interface BlockReaderDeps {
  reader: EventLogReader;
  partition: number;
  memory: MemoryPool;
}

export function createBlockReader(
  { reader, partition, memory }: BlockReaderDeps,
  from: number,
  { rowsMax, bytesMax }: BlockLimits,
): BlockReader {
  let block = emptyBlock(from, memory.lend());
  let bytes = 0;
  let extending: Promise<void> | undefined;

  // mutant: block-without-bound
  const isFull = () => block.eventCount >= rowsMax || bytes >= bytesMax;

  async function extend(): Promise<void> {
    while (!isFull() && (await reader.durableEnd(partition)) > block.hi) {
      const into = block;
      for (const frame of await reader.read(
        partition,
        into.hi,
        Math.min(READ_BYTES_MAX, bytesMax - bytes),
        into.memory,
      )) {
        if (isFull()) return;
        const before = into.eventCount;
        addFrame(into, frame, reader.logId);
        bytes += bytesOf(frame, into.eventCount - before);
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
      block = emptyBlock(taken.hi, memory.lend());
      bytes = 0;
      return taken;
    },
  };
}

/** In memory as it lies on the log, padding included, and as rows where they are wanted. */
function bytesOf({ bytes, position, next }: LogFrame, eventCount: number): number {
  return Math.max(bytes.length, next - position, bytes.length + eventCount * ROW_MORE_BYTES);
}
