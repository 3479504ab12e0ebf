/**
 * Large buffers that are reused. Code that allocates hundreds of kilobytes for each round makes the garbage
 * collector run, and the collector then walks over everything else: a fourth of all CPU, measured.
 */
export interface BufferPool {
  /** At least so many bytes, with arbitrary content. */
  take(bytes: number): Buffer;
  /**
   * A taken buffer, whole, once it is no longer read. A buffer that is never given back is garbage-collected.
   */
  give(buffer: Buffer): void;
  /** Takes for one purpose, and gives all of it back together, once, however often the function is called. */
  loan(): { take(bytes: number): Buffer; giveBack(): void };
}

/** Smaller pieces are cheap to make. */
const POOLED_FROM = 16 * 1024;

export function createBufferPool(heldBytesMax: number): BufferPool {
  /** By the power of two that they are long. */
  const idle = new Map<number, Buffer[]>();
  let heldBytes = 0;

  function take(bytes: number): Buffer {
    if (bytes < POOLED_FROM) return Buffer.allocUnsafe(bytes);
    const length = 2 ** Math.ceil(Math.log2(bytes));
    const found = idle.get(length)?.pop();
    if (found) heldBytes -= length;
    return found ?? Buffer.allocUnsafeSlow(length);
  }

  function give(buffer: Buffer): void {
    const { length } = buffer;
    if (length < POOLED_FROM || heldBytes + length > heldBytesMax) return;
    const alike = idle.get(length) ?? [];
    alike.push(buffer);
    idle.set(length, alike);
    heldBytes += length;
  }

  function loan() {
    const taken: Buffer[] = [];
    return {
      take(bytes: number): Buffer {
        const buffer = take(bytes);
        taken.push(buffer);
        return buffer;
      },
      giveBack: () => taken.splice(0).forEach(give),
    };
  }

  return { take, give, loan };
}
