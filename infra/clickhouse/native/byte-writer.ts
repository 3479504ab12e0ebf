/** Bytes that are written one after the other, into memory that grows as it has to. */
export interface ByteWriter {
  /** Room for so many bytes, which the caller fills: `view` from `at` on. */
  take(bytes: number): { view: Buffer; at: number };
  /** In seven bits a byte, lowest first: as ClickHouse writes lengths and counts. */
  varUint(value: number): void;
  /** Its length, then its bytes. */
  text(value: string | Uint8Array): void;
  /** What was written: a view that the writer does not touch again. */
  end(): Buffer;
}

const FIRST_BYTES = 64 * 1024;

export function createByteWriter(): ByteWriter {
  let view = Buffer.allocUnsafeSlow(FIRST_BYTES);
  let used = 0;

  /** Of the bytes that are taken next; there is room for them then. */
  function placeFor(bytes: number): number {
    if (used + bytes > view.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(used + bytes, view.length * 2));
      view.copy(grown, 0, 0, used);
      view = grown;
    }
    return used;
  }

  function take(bytes: number) {
    const at = placeFor(bytes);
    used += bytes;
    return { view, at };
  }

  function varUint(value: number): void {
    let left = value;
    for (; left > 127; left = Math.floor(left / 128)) byte((left % 128) + 128);
    byte(left);
  }

  function byte(value: number): void {
    const at = placeFor(1);
    view[at] = value;
    used = at + 1;
  }

  return {
    take,
    varUint,
    text(value) {
      const bytes = typeof value === 'string' ? Buffer.byteLength(value) : value.length;
      varUint(bytes);
      const at = placeFor(bytes);
      if (typeof value === 'string') view.write(value, at, bytes, 'utf8');
      else view.set(value, at);
      used = at + bytes;
    },
    end: () => view.subarray(0, used),
  };
}
