/*
 * Memory of bodies that are settled, for the next ones. Buffers of their size are mostly freed by collections
 * of the whole heap: with a new one for each body these take a fifth of the CPU of draining a spool.
 */
const spare: ArrayBuffer[] = [];
/** A meter has four requests by default. */
const SPARE_MAX = 8;
/** A larger one is that of a few large events. */
const SPARE_BYTES_MAX = 2 * 1024 * 1024;
const STEP_BYTES = 64 * 1024;

/** Of so many bytes, with whatever was in it. */
export function takeBuffer(bytes: number): Uint8Array<ArrayBuffer> {
  const at = spare.findIndex(({ byteLength }) => byteLength >= bytes);
  const [kept] = at < 0 ? [] : spare.splice(at, 1);
  const buffer = kept ?? new ArrayBuffer(Math.ceil(bytes / STEP_BYTES) * STEP_BYTES);
  return new Uint8Array(buffer, 0, bytes);
}

/** Once for each that was taken, when neither it nor a part of it is read any more. */
export function giveBack({ buffer }: Uint8Array<ArrayBuffer>): void {
  if (spare.length < SPARE_MAX && buffer.byteLength <= SPARE_BYTES_MAX) spare.push(buffer);
}

/** What gives it back, however often it is called. Keeps no other memory. */
export function returnOf(body: Uint8Array<ArrayBuffer>): () => void {
  let held: Uint8Array<ArrayBuffer> | undefined = body;
  return () => {
    if (held) giveBack(held);
    held = undefined;
  };
}
