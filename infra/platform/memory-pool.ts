import { ALIGNMENT_BYTES, alignedMemory } from './aligned-memory.ts';

/**
 * Memory outside of V8's heap that comes back. New memory for each read keeps the garbage collector busy with
 * the old: it was a tenth of the load's CPU.
 */
export interface MemoryPool {
  lend(): Loan;
}

/** For one borrower. Without a return its memory goes to the garbage collector, and the pool gets new. */
export interface Loan {
  /**
   * So many bytes, with any content: they are the borrower's until the loan is given back. Aligned, as a
   * rule.
   */
  take(bytes: number): Buffer;
  /** All that was taken: the next borrower overwrites it. */
  giveBack(): void;
}

export interface MemoryPoolOptions {
  /** Lent at once; parts of it are taken. What is larger is never kept. */
  pieceBytes: number;
  /** What is given back beyond them goes to the garbage collector. */
  keptMax: number;
}

export function createMemoryPool({ pieceBytes, keptMax }: MemoryPoolOptions): MemoryPool {
  const free: Buffer[] = [];

  function lend(): Loan {
    let pieces: Buffer[] = [];
    let used = pieceBytes;

    return {
      take(bytes) {
        if (bytes > pieceBytes) return Buffer.allocUnsafeSlow(bytes);
        if (used + bytes > pieceBytes) {
          pieces.push(free.pop() ?? alignedMemory(pieceBytes));
          used = 0;
        }
        const from = used;
        used = Math.ceil((from + bytes) / ALIGNMENT_BYTES) * ALIGNMENT_BYTES;
        return pieces.at(-1)?.subarray(from, from + bytes) ?? Buffer.alloc(0);
      },
      giveBack() {
        free.push(...pieces.slice(0, keptMax - free.length));
        pieces = [];
        used = pieceBytes;
      },
    };
  }

  return { lend };
}
