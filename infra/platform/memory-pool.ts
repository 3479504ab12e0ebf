import { ALIGNMENT_BYTES, alignedMemory } from './aligned-memory.ts';

/**
 * Memory outside of V8's heap that comes back. New memory for each read keeps the garbage collector busy with
 * the old, and the kernel with zeros: together they were a tenth of the load's CPU.
 */
export interface MemoryPool {
  lend(): Loan;
}

/** For one borrower. Without a return its memory goes to the garbage collector, and the pool gets new. */
export interface Loan {
  /**
   * So many bytes, with any content: they are the borrower's until the loan is given back. Aligned, unless
   * they take more than one piece.
   */
  take(bytes: number): Buffer;
  /** All that was taken: the next borrower overwrites it. */
  giveBack(): void;
}

export interface MemoryPoolOptions {
  /** Small parts share a piece of so many bytes; a larger one has as many whole pieces as it needs. */
  pieceBytes: number;
  /** What is given back beyond them goes to the garbage collector. */
  keptBytesMax: number;
}

export function createMemoryPool({ pieceBytes, keptBytesMax }: MemoryPoolOptions): MemoryPool {
  /** Smallest first. */
  const free: Buffer[] = [];
  let freeBytes = 0;

  /** Not one of more than twice the size: it may be all that is left for a large part. */
  function pieceFor(bytes: number): Buffer {
    const wanted = Math.ceil(bytes / pieceBytes) * pieceBytes;
    const at = free.findIndex(({ length }) => length >= wanted && length <= 2 * wanted);
    const [piece] = at < 0 ? [] : free.splice(at, 1);
    freeBytes -= piece?.length ?? 0;
    return (
      piece ??
      (wanted === pieceBytes ? alignedMemory(wanted).subarray(0, wanted) : Buffer.allocUnsafeSlow(wanted))
    );
  }

  function keep(piece: Buffer): void {
    if (freeBytes + piece.length > keptBytesMax) return;
    freeBytes += piece.length;
    const larger = free.findIndex(({ length }) => length >= piece.length);
    free.splice(larger < 0 ? free.length : larger, 0, piece);
  }

  function lend(): Loan {
    let pieces: Buffer[] = [];
    /** What is left of the last one that is shared. */
    let rest: Buffer = Buffer.alloc(0);

    return {
      take(bytes) {
        if (bytes > rest.length) {
          const piece = pieceFor(bytes);
          pieces.push(piece);
          if (bytes > pieceBytes) return piece.subarray(0, bytes);
          rest = piece;
        }
        const taken = rest.subarray(0, bytes);
        rest = rest.subarray(Math.ceil(bytes / ALIGNMENT_BYTES) * ALIGNMENT_BYTES);
        return taken;
      },
      giveBack() {
        for (const piece of pieces) keep(piece);
        pieces = [];
        rest = Buffer.alloc(0);
      },
    };
  }

  return { lend };
}
