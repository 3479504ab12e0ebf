/**
 * What reads and writes past the page cache ask of memory, offset and length: a page is enough everywhere.
 */
export const ALIGNMENT_BYTES = 4096;

const WASM_PAGE_BYTES = 65_536;
const aligned = new WeakSet<ArrayBufferLike>();

/**
 * At least so many bytes, all zero, that begin at a page and never move. Node.js tells no address of a
 * Buffer, and those of its own begin anywhere; a memory of WebAssembly begins at a page. It reserves
 * gigabytes of addresses and takes memory only where it is written: for a few long-lived buffers.
 */
export function alignedMemory(bytes: number): Buffer {
  const pages = Math.ceil(bytes / WASM_PAGE_BYTES);
  try {
    // Without a maximum of the same size it could grow, and would move.
    const { buffer } = new WebAssembly.Memory({ initial: pages, maximum: pages });
    aligned.add(buffer);
    return Buffer.from(buffer);
  } catch (error) {
    // Where addresses are few, as with `ulimit -v`. What is not aligned goes through the page cache.
    if (!(error instanceof RangeError)) throw error;
    return Buffer.alloc(pages * WASM_PAGE_BYTES);
  }
}

/** Whether the bytes begin at a page of such memory. */
export function isAligned({ buffer, byteOffset }: Uint8Array): boolean {
  return byteOffset % ALIGNMENT_BYTES === 0 && aligned.has(buffer);
}
